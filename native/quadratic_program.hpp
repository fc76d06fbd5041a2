// The weighted sum of the levels of a program as one quadratic program in the format of daqp.
//
//   minimise    x'Hx / 2 + f'x + sum_soft s_i^2 / (2 rho_i)
//   subject to  lower <= (x, A x) <= upper,   soft rows up to their violation s_i
//
// Level 0 is hard unless it is relaxed; all other levels are in the cost. With b_i the bounds of the unit rows a_i and
// w_i their weights relative to the largest in the cost, the equalities give H = sum w_i a_i a_i' + r I and f = -sum
// w_i b_i a_i, and the inequalities are soft rows with rho_i = 1 / w_i. x is relative to the center of the program.
#pragma once

#include <vector>

#include "rows.hpp"

namespace poise {

class QuadraticProgram {
 public:
  // relaxed: level 0 is in the cost, too. regularization: r, the cost of |x|^2 relative to the largest weight.
  QuadraticProgram(bool relaxed, double regularization) : relaxed_(relaxed), regularization_(regularization) {}

  // Reads a program; weights: one per level. Returns whether the arrays to write have the same shape as before.
  bool read(const ProgramView& view, const double* weights);

  Index variables() const { return view_ ? view_->variables : 0; }
  Index bounds() const { return bounds_; }  // number of leading entries of lower and upper that are bounds on x
  Index general() const { return static_cast<Index>(general_.size()); }  // rows of A
  bool soft() const { return soft_; }

  // A is row major, H symmetric.
  void write(double* H, double* f, double* A, double* lower, double* upper, int* sense, double* rho);

  // Writes x relative to zero instead of the center, and the side of every row. Returns the largest violation of a unit
  // row of level 0, relative to the size of x.
  double check_solution(const double* x, double* solution, signed char* sides) const;

 private:
  bool in_cost(Index i) const { return relaxed_ || i >= first_; }
  double relative(Index i) const { return max_weight_ > 0.0 ? weight_[i] / max_weight_ : weight_[i]; }

  bool relaxed_;
  double regularization_;
  const ProgramView* view_ = nullptr;
  Rows rows_;
  Vector weight_;            // of each unit row
  double max_weight_ = 0.0;  // largest in the cost
  Index first_ = 0;          // number of rows of level 0
  Index bounds_ = -1;
  bool soft_ = false;
  std::vector<Index> bound_;         // row that bounds each unknown, or -1
  std::vector<Index> general_;       // rows with a row of A, soft ones last
  std::vector<Index> fitted_;        // equalities in the cost
  std::vector<int> sense_, before_;  // codes of daqp per bound and row: current, previous
  Matrix J_;                         // fitted_ without rows of single unknowns, one per column
};

}  // namespace poise
