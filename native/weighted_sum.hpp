// Python bindings of QuadraticProgram: the arrays that daqp reads, written in place.
#pragma once

#include "program_layout.hpp"
#include "quadratic_program.hpp"

namespace poise {

class WeightedSum {
 public:
  WeightedSum(bool relaxed, double regularization) : program_(relaxed, regularization) {}

  void layout(std::vector<Index> level_begin, Index variables, std::vector<int> columns) {
    layout_.set(std::move(level_begin), variables, std::move(columns));
    memory_ = VectorIn();
  }

  // Reads a program, with one weight per level; returns whether it has the shape of the previous one.
  bool read(VectorIn memory, const VectorIn& weights) {
    layout_.map_memory(memory);
    expect(weights.shape(0) == layout_.levels(), "weights do not fit the levels");
    memory_ = std::move(memory);
    return program_.read(layout_.view, weights.data());
  }

  // Number of bounds on x, number of rows, and whether any row is soft.
  nb::tuple shape() const { return nb::make_tuple(program_.bounds(), program_.general(), program_.soft()); }

  void write(const MatrixOut& H, const VectorOut& f, const MatrixOut& A, const VectorOut& lower, const VectorOut& upper,
             const SenseOut& sense, const VectorOut& rho) {
    const auto n = static_cast<size_t>(program_.variables()), rows = static_cast<size_t>(program_.general());
    const size_t all = static_cast<size_t>(program_.bounds()) + rows;
    expect(memory_.data() && H.shape(0) == n && H.shape(1) == n && f.shape(0) == n, "H and f do not fit");
    expect(A.shape(0) == rows && A.shape(1) == n && lower.shape(0) == all && upper.shape(0) == all &&
               sense.shape(0) == all && rho.shape(0) == all, "the rows do not fit");
    program_.write(H.data(), f.data(), A.data(), lower.data(), upper.data(), sense.data(), rho.data());
  }

  double check_solution(const VectorIn& x, const VectorOut& solution, const SideOut& sides) const {
    const auto n = static_cast<size_t>(program_.variables()), rows = static_cast<size_t>(layout_.view.rows);
    expect(memory_.data() && x.shape(0) == n && solution.shape(0) == n && sides.shape(0) == rows,
           "the answer does not fit");
    return program_.check_solution(x.data(), solution.data(), sides.data());
  }

 private:
  ProgramLayout layout_;
  VectorIn memory_;  // kept alive while its rows are used
  QuadraticProgram program_;
};

}  // namespace poise
