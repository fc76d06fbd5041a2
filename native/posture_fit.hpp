// Fit of a posture level, usually the last: rows that are single unknowns of equal weight, for nearly all unknowns.
//
// Z is a basis of the remaining freedom (orthonormal columns), Z_a its rows that belong to the unknowns of the level,
// Z_b those of the few others (usually the base). The fit  min |Z_a y - d|  has the normal matrix
//
//   Z_a^T Z_a = I - Z_b^T Z_b,   with inverse   I + Z_b^T C^-1 Z_b,   C = I - Z_b Z_b^T
//
// so it needs a factorisation of the size of the few others only, and Z is never formed. The smallest eigenvalue of C
// is the square of the smallest singular value of Z_a; if it is near zero, the general fit is used. Unknowns that occur
// in no row of this level and the levels above (the base, if all tasks are relative to a foot) have no part in the fit
// and are left out of Z_b.
#pragma once

#include <vector>

#include "basis.hpp"

namespace poise {

class PostureFit {
 public:
  void resize(Index n) {
    Zb_.setZero(n + padding, max_others);
    C_.setZero(max_others, max_others);
    w_.setZero(max_others);
    covered_.reserve(static_cast<size_t>(n));
  }

  // Factors C. Returns false if the rows are not such a posture, or do not determine all the freedom that the basis
  // leaves. `unused`: unknowns that occur in no held row, which are left out (empty: none).
  bool factor(const Rows& rows, const std::vector<Index>& chosen, Basis& basis,
              const std::vector<bool>& unused = {}) {
    const Index n = basis.size(), count = static_cast<Index>(chosen.size());
    if (count == 0 || count > n) return false;
    const double root_weight = rows[chosen[0]].root_weight;
    covered_.assign(static_cast<size_t>(n), false);
    for (Index i : chosen) {
      const Row& row = rows[i];
      if (row.column < 0 || row.root_weight != root_weight || covered_[static_cast<size_t>(row.column)]) return false;
      covered_[static_cast<size_t>(row.column)] = true;
    }
    others_ = n - count;
    for (size_t c = 0; c < unused.size(); ++c) {
      if (!unused[c] || covered_[c]) continue;
      covered_[c] = true;
      --others_;
    }
    if (others_ > max_others || others_ >= basis.freedom()) return false;
    // Rows of Z_b, as columns.
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
    for (Index j = 0; j < others_; ++j) {  // Cholesky factorisation in place
      for (Index k = 0; k < j; ++k) C.col(j).tail(others_ - j) -= C(j, k) * C.col(k).tail(others_ - j);
      if (!(C(j, j) > 1e-4)) return false;
      C.col(j).tail(others_ - j) /= std::sqrt(C(j, j));
    }
    return true;
  }

  // x <- x + Z y. d: residual of each unknown of the level, zero for the others; padded, overwritten.
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
  static constexpr Index max_others = 8;  // six of a base and two more; C stays small compared with Z

  Index others_ = 0;
  Matrix Zb_, C_;
  Vector w_;
  std::vector<bool> covered_;
};

}  // namespace poise
