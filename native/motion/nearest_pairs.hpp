// Selection of the nearest pairs of capsules. A pair keeps its row for as long as it is selected, so that a solver can
// start from the previous active set.
#pragma once

#include <limits>
#include <utility>

#include "capsules.hpp"

namespace poise {

using IndicesOut = nb::ndarray<int, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class NearestPairs {
 public:
  // pair: output, index of the pair in each row. With one row per pair, all pairs are selected.
  NearestPairs(CapsulePairs pairs, IndicesOut pair)
      : pairs_(std::move(pairs)), pair_(std::move(pair)), row_of_(pairs_.size(), -1), last_tick_(pairs_.size(), 0) {
    expect(0 < rows() && rows() <= pairs_.size(), "the number of rows must be between one and the number of pairs");
    candidates_.reserve(pairs_.size());
    entering_.reserve(rows());
    for (size_t k = 0; k < rows(); ++k) pair_.data()[k] = static_cast<int>(k);
  }

  size_t rows() const { return pair_.shape(0); }
  const CapsulePairs& pairs() const { return pairs_; }
  int pair(size_t row) const { return pair_.data()[row]; }
  const CapsulePairs::Pair& operator[](size_t row) const { return pairs_[pair_.data()[row]]; }

  // Bounding spheres exclude most pairs: those further apart than the selected pairs of the last control step plus the
  // distance that bodies can approach within one step. If too few pairs remain, all are measured.
  void select(const CapsulePairs::WorldCapsule* world) {
    if (rows() == pairs_.size()) return;
    if (measure_below(world, threshold_) < rows()) measure_below(world, infinite);
    const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(rows() - 1);
    std::nth_element(candidates_.begin(), last, candidates_.end());
    threshold_ = candidates_[rows() - 1].first + approach;
    assign_rows();
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  static constexpr double approach = 0.02;  // m: 4 m/s for 5 ms, faster than hands that approach each other

  // Measures the pairs that can be nearer than the threshold, and returns how many are.
  size_t measure_below(const CapsulePairs::WorldCapsule* world, double threshold) {
    size_t below = 0;
    candidates_.clear();
    for (size_t k = 0; k < pairs_.size(); ++k) {
      const CapsulePairs::Pair& pair = pairs_[k];
      const double reach = std::max(threshold + pair.max_extent, 0.0);
      if ((world[pair.i].c - world[pair.j].c).squaredNorm() > reach * reach) continue;
      const double d = pairs_.closest_points(pair, world).w.norm() - pair.radii;
      candidates_.emplace_back(d < infinite ? d : infinite, static_cast<int>(k));  // NaN has no order
      if (d <= threshold) ++below;
    }
    return below;
  }

  // Pairs that are no longer among the nearest leave their rows to new pairs, in increasing order.
  void assign_rows() {
    ++tick_;
    entering_.clear();
    for (size_t n = 0; n < rows(); ++n) {
      const int pair = candidates_[n].second;
      last_tick_[pair] = tick_;
      if (row_of_[pair] < 0) entering_.push_back(pair);
    }
    std::sort(entering_.begin(), entering_.end());
    auto next = entering_.begin();
    for (int k = 0; next != entering_.end(); ++k) {
      int& pair = pair_.data()[k];
      const bool assigned = row_of_[pair] == k;  // false for all at the first step
      if (assigned && last_tick_[pair] == tick_) continue;
      if (assigned) row_of_[pair] = -1;
      pair = *next++;
      row_of_[pair] = k;
    }
  }

  CapsulePairs pairs_;
  IndicesOut pair_;
  std::vector<std::pair<double, int>> candidates_;  // gap and pair
  std::vector<int> entering_, row_of_;
  std::vector<unsigned> last_tick_;  // last step at which the pair was selected
  unsigned tick_ = 0;
  double threshold_ = infinite;
};

}  // namespace poise
