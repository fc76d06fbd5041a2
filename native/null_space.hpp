// Strict priorities among equalities, in closed form: the recursion of Siciliano and Slotine (1991).
//
//   x_k = x_{k-1} + Z (A_k Z)^+ (b_k - A_k x_{k-1}),   Z an orthonormal basis of the null space of the levels above
//
// Which directions a level determines is decided on unit rows, by the singular values of A_k Z. Pivoted Householder
// reflectors tell as much where all pivots are far from the threshold, and leave the basis of the next level behind;
// only else are the singular values computed.
#pragma once

#include "even.hpp"
#include "fit.hpp"

namespace poise {

class NullSpace {
 public:
  enum class Status { optimal, relaxed, iterations };

  // rank: the smallest singular value of unit rows that counts.
  explicit NullSpace(double rank) : rank_(rank) {}

  // Damping is that of the view; inequalities are left out, and the status says so.
  Status solve(const ProgramView& view);

  const Vector& x() const { return x_; }
  signed char side(Index row) const;
  Index levels_solved() const { return solved_; }
  Index factorizations() const { return factorizations_; }

 private:
  void prepare(const ProgramView& view);
  void solve_level(Index level);
  bool fit_posture(Index level, double damping);
  bool hold_by_pivots();
  void hold_by_singular_values();
  void project_rows();
  void touch();
  void orthogonalise();
  void fit(Index first, double damping);
  double missing(Index row) const { return rows_[row].lower - rows_.value(row, x_); }

  // Pivots above this are far enough from any threshold: the smallest singular value of triangles of this size has not
  // been seen below a hundredth of the smallest pivot, and this is ten thousand times the usual threshold.
  static constexpr double clear_ = 1e-5;
  // What is left of unit rows below this is rounding.
  static constexpr double rounding_ = 1e-12;
  // Sweeps of one-sided Jacobi rotations: it converges quadratically, in six to ten.
  static constexpr int most_sweeps_ = 30;

  double rank_;
  const ProgramView* view_ = nullptr;
  Index n_ = -1, m_ = -1;
  Index last_ = -1;  // level that has equalities
  Index solved_ = 0, factorizations_ = 0;
  bool complete_ = false;    // no freedom is left, or none that anybody asks for
  bool triangular_ = false;  // the rows of the level at hand are held themselves, in the order of own_
  Rows rows_;
  Basis basis_;
  Fit fit_;
  EvenFit even_;
  std::vector<Index> own_;       // equalities of the level at hand
  std::vector<bool> untouched_;  // unknowns of which no level above speaks
  Matrix block_;                 // the rows own_ as columns in the basis; padded
  Vector x_, before_, step_, tails_, projected_;
};

}  // namespace poise
