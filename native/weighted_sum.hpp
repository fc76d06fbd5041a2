// Python's view of the weighted sum of a program: arrays that daqp reads, written in place.
#pragma once

#include "layout.hpp"
#include "quadratic.hpp"

namespace poise {

class WeightedSum {
 public:
  WeightedSum(bool relaxed, double regularization) : quadratic_(relaxed, regularization) {}

  void layout(std::vector<Index> level_begin, Index variables, std::vector<int> columns) {
    layout_.set(std::move(level_begin), variables, std::move(columns));
    memory_ = VectorIn();
  }

  // Takes over a program, with one weight per level; whether it has the shape of the one before.
  bool read(VectorIn memory, const VectorIn& weights) {
    layout_.look_at(memory);
    expect(weights.shape(0) == layout_.levels(), "weights do not fit the levels");
    memory_ = std::move(memory);
    return quadratic_.read(layout_.view, weights.data());
  }

  // How many bounds on x and rows there are, and whether any are soft.
  nb::tuple shape() const { return nb::make_tuple(quadratic_.bounds(), quadratic_.general(), quadratic_.soft()); }

  void write(const MatrixOut& H, const VectorOut& f, const MatrixOut& A, const VectorOut& lower, const VectorOut& upper,
             const SenseOut& sense, const VectorOut& rho) {
    const auto n = static_cast<size_t>(quadratic_.variables()), rows = static_cast<size_t>(quadratic_.general());
    const size_t all = static_cast<size_t>(quadratic_.bounds()) + rows;
    expect(memory_.data() && H.shape(0) == n && H.shape(1) == n && f.shape(0) == n, "H and f do not fit");
    expect(A.shape(0) == rows && A.shape(1) == n && lower.shape(0) == all && upper.shape(0) == all &&
               sense.shape(0) == all && rho.shape(0) == all, "the rows do not fit");
    quadratic_.write(H.data(), f.data(), A.data(), lower.data(), upper.data(), sense.data(), rho.data());
  }

  double judge(const VectorIn& x, const VectorOut& moved, const SideOut& sides) const {
    const auto n = static_cast<size_t>(quadratic_.variables()), rows = static_cast<size_t>(layout_.view.rows);
    expect(memory_.data() && x.shape(0) == n && moved.shape(0) == n && sides.shape(0) == rows,
           "the answer does not fit");
    return quadratic_.judge(x.data(), moved.data(), sides.data());
  }

 private:
  Layout layout_;
  VectorIn memory_;  // lives as long as its rows are looked at
  Quadratic quadratic_;
};

}  // namespace poise
