// Which pairs of capsules have a row: the nearest ones, each in the same row for as long as it is among them, so that a
// solver can start from what was active before.
#pragma once

#include <limits>
#include <utility>

#include "capsules.hpp"

namespace poise {

using IndicesOut = nb::ndarray<int, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class NearestPairs {
 public:
  // Writes to `pair` which pair stands in each row; nothing to choose if there is a row for all.
  NearestPairs(CapsulePairs pairs, IndicesOut pair)
      : pairs_(std::move(pairs)), pair_(std::move(pair)), row_of_(pairs_.size(), -1), seen_(pairs_.size(), 0) {
    expect(0 < rows() && rows() <= pairs_.size(), "there is a row for one pair at least and for all at most");
    near_.reserve(pairs_.size());
    newcomers_.reserve(rows());
    for (size_t k = 0; k < rows(); ++k) pair_.data()[k] = static_cast<int>(k);
  }

  size_t rows() const { return pair_.shape(0); }
  const CapsulePairs& pairs() const { return pairs_; }
  int pair(size_t row) const { return pair_.data()[row]; }
  const CapsulePairs::Pair& operator[](size_t row) const { return pairs_[pair_.data()[row]]; }

  // As balls around them tell, most pairs are further apart than those that had rows at the last tick and than bodies
  // come nearer within one. If too few are found below that bar, all are looked at.
  void choose(const CapsulePairs::Placed* placed) {
    if (rows() == pairs_.size()) return;
    if (look(placed, bar_) < rows()) look(placed, endless);
    std::nth_element(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(rows() - 1), near_.end());
    bar_ = near_[rows() - 1].first + nearer;
    seat();
  }

 private:
  static constexpr double endless = std::numeric_limits<double>::infinity();
  static constexpr double nearer = 0.02;  // m: within 5 ms at 4 m/s, which hands that meet hardly reach

  // Measures the pairs that can be nearer than the bar; how many are.
  size_t look(const CapsulePairs::Placed* placed, double bar) {
    size_t below = 0;
    near_.clear();
    for (size_t k = 0; k < pairs_.size(); ++k) {
      const CapsulePairs::Pair& pair = pairs_[k];
      const double far = std::max(bar + pair.reach, 0.0);
      if ((placed[pair.i].c - placed[pair.j].c).squaredNorm() > far * far) continue;
      const double d = pairs_.meet(pair, placed).w.norm() - pair.radii;
      near_.emplace_back(d < endless ? d : endless, static_cast<int>(k));  // NaN cannot be put in order
      if (d <= bar) ++below;
    }
    return below;
  }

  // Pairs that are no longer among the nearest leave their rows to those that came, which take them in rising order.
  void seat() {
    ++tick_;
    newcomers_.clear();
    for (size_t n = 0; n < rows(); ++n) {
      const int pair = near_[n].second;
      seen_[pair] = tick_;
      if (row_of_[pair] < 0) newcomers_.push_back(pair);
    }
    std::sort(newcomers_.begin(), newcomers_.end());
    auto next = newcomers_.begin();
    for (int k = 0; next != newcomers_.end(); ++k) {
      int& pair = pair_.data()[k];
      const bool seated = row_of_[pair] == k;  // none is at the first tick
      if (seated && seen_[pair] == tick_) continue;
      if (seated) row_of_[pair] = -1;
      pair = *next++;
      row_of_[pair] = k;
    }
  }

  CapsulePairs pairs_;
  IndicesOut pair_;
  std::vector<std::pair<double, int>> near_;  // gap and pair
  std::vector<int> newcomers_, row_of_;
  std::vector<unsigned> seen_;  // per pair the tick at which it last was among the nearest
  unsigned tick_ = 0;
  double bar_ = endless;
};

}  // namespace poise
