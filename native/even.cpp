// The usual last level, a posture: rows that are single unknowns of equal weight, for nearly all unknowns.
#include <algorithm>

#include "lexicographic.hpp"

namespace poise {

// With Z the freedom left (orthonormal columns), the lines of Z that belong to the level's unknowns as Z_a and those of
// the few others (usually the base) as Z_b, the fit  min |Z_a y - d|  has the normal matrix
//   Z_a^T Z_a = I - Z_b^T Z_b,   with inverse   I + Z_b^T C^-1 Z_b,   C = I - Z_b Z_b^T
// so a factorisation of the size of the few others does instead of one of the size of Z, and Z itself is not needed.
// The smallest eigenvalue of C is the square of the smallest singular value of Z_a: if it is not well away from zero,
// the general fit takes over.
bool Lexicographic::fit_evenly() {
  const Index count = static_cast<Index>(soft_.size()), others = n_ - count, freedom = basis_.freedom();
  if (damping_ > 0.0 || !careful_ || others > most_others || others >= freedom || count == 0) return false;
  const double pull = rows_[soft_[0]].pull;
  covered_.assign(static_cast<size_t>(n_), false);
  for (Index i : soft_) {
    const Row& row = rows_[i];
    if (row.column < 0 || row.pull != pull || covered_[static_cast<size_t>(row.column)]) return false;
    covered_[static_cast<size_t>(row.column)] = true;
  }
  // Lines of Z_b, as columns.
  even_.leftCols(others).setZero();
  Index at = 0;
  for (Index c = 0; c < n_; ++c)
    if (!covered_[static_cast<size_t>(c)]) even_(c, at++) = 1.0;
  basis_.project_all(even_, others);
  const auto Zb = even_.block(basis_.rank(), 0, freedom, others);
  auto C = corner_.topLeftCorner(others, others);
  for (Index j = 0; j < others; ++j) {
    for (Index i = j; i < others; ++i) C(i, j) = -Zb.col(i).dot(Zb.col(j));
    C(j, j) += 1.0;
  }
  for (Index j = 0; j < others; ++j) {  // Cholesky, in place
    for (Index k = 0; k < j; ++k) C.col(j).tail(others - j) -= C(j, k) * C.col(k).tail(others - j);
    if (!(C(j, j) > 1e-4)) return false;
    C.col(j).tail(others - j) /= std::sqrt(C(j, j));
  }
  ++count_.fits;
  double size = 0.0, left = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    projected_.setZero();
    for (Index i : soft_) projected_[rows_[i].column] = rows_[i].entry * (bound(i) - rows_.value(i, x_));
    size = std::max(size, projected_.norm());
    basis_.project(projected_);
    auto y = projected_.segment(basis_.rank(), freedom);
    auto w = step_.head(others);
    w.noalias() = Zb.transpose() * y;
    C.triangularView<Eigen::Lower>().solveInPlace(w);
    C.transpose().triangularView<Eigen::Upper>().solveInPlace(w);
    y.noalias() += Zb * w;
    basis_.move_free(x_, projected_);
    left = 0.0;
    for (Index i : soft_) left = std::max(left, std::abs(rows_.value(i, x_) - bound(i)));
    if (left > 1e-5 * size) break;  // else once more from here, with a far smaller right-hand side and rounding
  }
  for (Index i : soft_) {
    slack_[i] = rows_.value(i, x_) - bound(i);
    force_[i] = pull * pull * slack_[i];
  }
  fit_.set_even(freedom, pull, pull * size, pull * left * std::sqrt(static_cast<double>(count)));
  size_ = x_.norm();
  return true;
}

}  // namespace poise
