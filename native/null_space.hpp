// Strict priorities among equalities in closed form: the recursion of Siciliano and Slotine (1991).
//
//   x_k = x_{k-1} + Z (A_k Z)^+ (b_k - A_k x_{k-1}),   Z an orthonormal basis of the null space of the levels above
//
// The directions that a level determines are those of the large singular values of A_k Z, for unit rows. Pivoted
// Householder reflectors are sufficient if all pivots are far from the threshold, and give the basis of the next level;
// otherwise the singular values are computed.
#pragma once

#include "posture_fit.hpp"
#include "least_squares_fit.hpp"

namespace poise {

class NullSpace {
 public:
  enum class Status { optimal, relaxed, iterations };

  // rank: smallest singular value of unit rows that is not treated as zero.
  explicit NullSpace(double rank) : rank_(rank) {}

  // Uses the damping of the view; inequalities are ignored, which the status reports.
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
  void mark_used_unknowns();
  void orthogonalise();
  void fit(Index first, double damping);
  double residual(Index row) const { return rows_[row].lower - rows_.value(row, x_); }

  // Pivots above this are clearly larger than the threshold: the smallest singular value of triangles of this size has
  // not been observed below a hundredth of the smallest pivot, and this is ten thousand times the usual threshold.
  static constexpr double clear_pivot_ = 1e-5;
  // A smaller remainder of unit rows is rounding.
  static constexpr double rounding_ = 1e-12;
  // Largest number of sweeps of one-sided Jacobi rotations; convergence is quadratic and takes six to ten.
  static constexpr int max_sweeps_ = 30;

  double rank_;
  const ProgramView* view_ = nullptr;
  Index n_ = -1, m_ = -1;
  Index last_ = -1;  // last level with equalities
  Index solved_ = 0, factorizations_ = 0;
  bool complete_ = false;    // no freedom is left, or none that later levels use
  bool triangular_ = false;  // all rows of the current level are held, in the order of level_rows_
  Rows rows_;
  Basis basis_;
  LeastSquaresFit fit_;
  PostureFit posture_fit_;
  std::vector<Index> level_rows_;  // equalities of the current level
  std::vector<bool> unused_;       // unknowns that occur in no row of the levels above
  Matrix block_;                   // level_rows_ as columns in the basis; padded
  Vector x_, before_, step_, tails_, projected_;
};

}  // namespace poise
