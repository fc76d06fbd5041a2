// The weighted sum of a program as one quadratic program, in the form in which daqp takes it.
//
//   minimise    x'Hx / 2 + f'x + sum_soft s_i^2 / (2 rho_i)
//   subject to  lower <= (x, A x) <= upper,   soft rows up to their violation s_i
//
// Level 0 is hard, unless it is relaxed; all other levels share the cost. With b_i the bounds of the unit rows a_i and
// w_i their weights relative to the heaviest in the cost, its equalities make H = sum w_i a_i a_i' + r I and
// f = -sum w_i b_i a_i, its inequalities are soft rows with rho_i = 1 / w_i. All is about the program's center.
#pragma once

#include <vector>

#include "rows.hpp"

namespace poise {

class Quadratic {
 public:
  // relaxed: level 0 joins the cost. regularization: r, the cost of |x|^2 relative to the heaviest row.
  Quadratic(bool relaxed, double regularization) : relaxed_(relaxed), regularization_(regularization) {}

  // Reads a program; weights: one per level. Whether what is to be written has the shape of the time before.
  bool read(const ProgramView& view, const double* weights);

  Index variables() const { return view_ ? view_->variables : 0; }
  Index bounds() const { return bounds_; }  // how many of the first entries of lower and upper are bounds on x
  Index general() const { return static_cast<Index>(general_.size()); }  // lines of A
  bool soft() const { return soft_; }

  // A is row major, H symmetric.
  void write(double* H, double* f, double* A, double* lower, double* upper, int* sense, double* rho);

  // The answer x to what was written, moved back from the center, and the side of every row. Returns the worst
  // violation of a unit row of level 0, relative to the size of x.
  double judge(const double* x, double* moved, signed char* sides) const;

 private:
  bool in_cost(Index i) const { return relaxed_ || i >= first_; }
  double relative(Index i) const { return heaviest_ > 0.0 ? weight_[i] / heaviest_ : weight_[i]; }

  bool relaxed_;
  double regularization_;
  const ProgramView* view_ = nullptr;
  Rows rows_;
  Vector weight_;               // of each unit row
  double heaviest_ = 0.0;       // of those in the cost
  Index first_ = 0;             // rows of level 0
  Index bounds_ = -1;
  bool soft_ = false;
  std::vector<Index> bound_;    // per unknown the row that bounds it, or -1
  std::vector<Index> general_;  // rows that get a line of A, soft ones last
  std::vector<Index> fitted_;   // equalities of the cost
  std::vector<int> sense_, before_;  // in the language of daqp: per bound and line, now and the time before
  Matrix J_;                    // the fitted rows that are no single unknowns, one per column
};

}  // namespace poise
