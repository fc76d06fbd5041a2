// The fit of the usual last level, a posture: rows that are single unknowns of equal weight, for nearly all unknowns.
//
// With Z the freedom left (orthonormal columns), the lines of Z that belong to the level's unknowns as Z_a and those of
// the few others (usually the base) as Z_b, the fit  min |Z_a y - d|  has the normal matrix
//   Z_a^T Z_a = I - Z_b^T Z_b,   with inverse   I + Z_b^T C^-1 Z_b,   C = I - Z_b Z_b^T
// so a factorisation of the size of the few others does instead of one of the size of Z, and Z itself is not needed.
// The smallest eigenvalue of C is the square of the smallest singular value of Z_a: if it is not well away from zero,
// another fit has to take over. Unknowns of which no row speaks, above or in the level, are in the freedom as they are
// (a base, where all is seen from a foot): they have no part in the fit and are left out of Z_b.
#pragma once

#include <vector>

#include "basis.hpp"

namespace poise {

class EvenFit {
 public:
  void resize(Index n) {
    Zb_.setZero(n + padding, most_others);
    C_.setZero(most_others, most_others);
    w_.setZero(most_others);
    covered_.reserve(static_cast<size_t>(n));
  }

  // Whether the level made of these rows is such a posture, and determines all the freedom that the basis leaves, but
  // for that of the given unknowns that no held row touches (empty: all are touched).
  bool factor(const Rows& rows, const std::vector<Index>& chosen, Basis& basis,
              const std::vector<bool>& untouched = {}) {
    const Index n = basis.size(), count = static_cast<Index>(chosen.size());
    if (count == 0 || count > n) return false;
    const double pull = rows[chosen[0]].pull;
    covered_.assign(static_cast<size_t>(n), false);
    for (Index i : chosen) {
      const Row& row = rows[i];
      if (row.column < 0 || row.pull != pull || covered_[static_cast<size_t>(row.column)]) return false;
      covered_[static_cast<size_t>(row.column)] = true;
    }
    others_ = n - count;
    for (size_t c = 0; c < untouched.size(); ++c) {
      if (!untouched[c] || covered_[c]) continue;
      covered_[c] = true;
      --others_;
    }
    if (others_ > most_others || others_ >= basis.freedom()) return false;
    // Lines of Z_b, as columns.
    Zb_.leftCols(others_).setZero();
    Index at = 0;
    for (Index c = 0; c < n; ++c)
      if (!covered_[static_cast<size_t>(c)]) Zb_(c, at++) = 1.0;
    basis.project_all(Zb_, others_);
    const auto Zb = Zb_.block(basis.rank(), 0, basis.freedom(), others_);
    auto C = C_.topLeftCorner(others_, others_);
    for (Index j = 0; j < others_; ++j) {
      for (Index i = j; i < others_; ++i) C(i, j) = -Zb.col(i).dot(Zb.col(j));
      C(j, j) += 1.0;
    }
    for (Index j = 0; j < others_; ++j) {  // Cholesky, in place
      for (Index k = 0; k < j; ++k) C.col(j).tail(others_ - j) -= C(j, k) * C.col(k).tail(others_ - j);
      if (!(C(j, j) > 1e-4)) return false;
      C.col(j).tail(others_ - j) /= std::sqrt(C(j, j));
    }
    return true;
  }

  // x <- x + Z y, with d what each unknown of the level still misses and zero for the others: padded, overwritten.
  void step(Basis& basis, Vector& d, Eigen::Ref<Vector> x) {
    const auto Zb = Zb_.block(basis.rank(), 0, basis.freedom(), others_);
    const auto C = C_.topLeftCorner(others_, others_);
    basis.project(d);
    auto y = d.segment(basis.rank(), basis.freedom());
    auto w = w_.head(others_);
    w.noalias() = Zb.transpose() * y;
    C.triangularView<Eigen::Lower>().solveInPlace(w);
    C.transpose().triangularView<Eigen::Upper>().solveInPlace(w);
    y.noalias() += Zb * w;
    basis.move_free(x, d);
  }

 private:
  static constexpr Index most_others = 8;  // six of a base and two to spare: C stays small beside Z

  Index others_ = 0;
  Matrix Zb_, C_;
  Vector w_;
  std::vector<bool> covered_;
};

}  // namespace poise
