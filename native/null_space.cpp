#include "null_space.hpp"

#include <algorithm>

#include "sides.hpp"

namespace poise {

NullSpace::Status NullSpace::solve(const ProgramView& view) {
  prepare(view);
  bool relaxed = false;
  last_ = -1;
  for (Index i = 0; i < view.rows; ++i) {
    relaxed = relaxed || rows_[i].kind == Kind::inequality;
    if (rows_[i].kind == Kind::equality) last_ = rows_[i].level;
  }
  for (Index level = 0; level < view.levels() && !complete_; ++level) {
    own_.clear();
    for (Index i = rows_.begin(level); i < rows_.end(level); ++i)
      if (rows_[i].kind == Kind::equality) own_.push_back(i);
    if (own_.empty()) continue;
    before_ = x_;
    solve_level(level);
    if (!x_.allFinite()) {
      x_ = before_;
      return Status::iterations;
    }
    ++solved_;
  }
  return relaxed ? Status::relaxed : Status::optimal;
}

signed char NullSpace::side(Index row) const {
  const bool stands = !(rows_[row].inverse_norm > 0.0 && std::isfinite(rows_[row].inverse_norm));
  return side_of(*view_, rows_[row], row, stands ? 0.0 : rows_.value(row, x_));
}

void NullSpace::prepare(const ProgramView& view) {
  view_ = &view;
  if (view.variables != n_ || view.rows != m_) {
    n_ = view.variables;
    m_ = view.rows;
    basis_.resize(n_);
    fit_.resize(m_, n_);
    even_.resize(n_);
    own_.reserve(static_cast<size_t>(m_));
    block_.setZero(n_ + padding, m_);
    for (Vector* v : {&x_, &before_, &step_}) v->setZero(n_);
    tails_.setZero(m_);
    projected_.setZero(n_ + padding);
  }
  rows_.read(view);
  basis_.reset();
  x_.setZero();
  untouched_.assign(static_cast<size_t>(n_), true);
  solved_ = factorizations_ = 0;
  complete_ = n_ == 0;
}

void NullSpace::solve_level(Index level) {
  const double damping = rows_.damping(level);
  const Index first = basis_.rank();
  if (fit_posture(level, damping)) return;
  project_rows();
  triangular_ = true;
  if (!hold_by_pivots()) {
    while (basis_.rank() > first) basis_.remove(basis_.rank() - 1);
    project_rows();
    hold_by_singular_values();
    triangular_ = false;
  }
  complete_ = basis_.freedom() == 0;
  if (basis_.rank() > first) fit(first, damping);
  if (level < last_) touch();
}

// The usual last level in its own way; what freedom it leaves is asked for by nobody.
bool NullSpace::fit_posture(Index level, double damping) {
  if (damping > 0.0 || level < last_ || !even_.factor(rows_, own_, basis_, untouched_)) return false;
  ++factorizations_;
  projected_.setZero();
  for (Index i : own_) projected_[rows_[i].column] = rows_[i].entry * missing(i);
  even_.step(basis_, projected_, x_);
  complete_ = true;
  return true;
}

// The rows of the level, as columns of block_ in the basis as it is.
void NullSpace::project_rows() {
  const auto count = static_cast<Index>(own_.size());
  for (Index j = 0; j < count; ++j) rows_.copy_to(own_[static_cast<size_t>(j)], block_.col(j).head(n_));
  basis_.project_all(block_, count);
}

// Notes which unknowns the rows of the level speak of.
void NullSpace::touch() {
  for (Index i : own_) {
    const Row& row = rows_[i];
    if (row.column >= 0) {
      untouched_[static_cast<size_t>(row.column)] = false;
      continue;
    }
    const RowView a = rows_.raw(i);
    for (Index c = row.begin; c < n_; ++c)
      if (a[c] != 0.0) untouched_[static_cast<size_t>(c)] = false;
  }
}

// Holds independent rows, the largest first. False where the pivots leave in doubt how many there are.
bool NullSpace::hold_by_pivots() {
  ++factorizations_;
  const auto count = static_cast<Index>(own_.size());
  for (Index j = 0; j < count && basis_.freedom() > 0; ++j) {
    const Index at = basis_.rank();
    for (Index c = j; c < count; ++c) tails_[c] = block_.col(c).segment(at, basis_.freedom()).squaredNorm();
    Index best = 0;
    const double largest = tails_.segment(j, count - j).maxCoeff(&best);
    if (!(largest > clear_ * clear_)) return tails_.segment(j, count - j).sum() < rounding_ * rounding_;
    best += j;
    if (best != j) {
      block_.col(j).swap(block_.col(best));
      std::swap(own_[static_cast<size_t>(j)], own_[static_cast<size_t>(best)]);
    }
    basis_.append(block_.col(j));
    basis_.apply_last(block_, j + 1, count);
    block_(at, j) = basis_.factor(at, at);
    block_.col(j).segment(at + 1, n_ - at - 1).setZero();
  }
  return true;
}

// Holds the directions whose singular value is above the threshold, and projects the rows on them.
void NullSpace::hold_by_singular_values() {
  ++factorizations_;
  const auto count = static_cast<Index>(own_.size());
  const Index first = basis_.rank();
  orthogonalise();
  Index kept = 0;
  for (Index c = 0; c < count; ++c) {
    const double size = block_.col(c).segment(first, n_ - first).norm();
    if (!(size > rank_)) continue;
    block_.col(kept) = block_.col(c) / size;
    block_.col(kept++).head(first).setZero();
  }
  for (Index c = 0; c < kept && basis_.freedom() > 0; ++c) {
    basis_.append(block_.col(c));
    basis_.apply_last(block_, c + 1, kept);
  }
  project_rows();
}

// One-sided Jacobi rotations: the columns become left singular vectors times singular values.
void NullSpace::orthogonalise() {
  const auto count = static_cast<Index>(own_.size());
  const Index first = basis_.rank(), size = basis_.freedom();
  const double negligible = 1e-5 * rank_;  // for the side of any threshold that a column is on
  bool turned = true;
  for (int sweep = 0; turned && sweep < most_sweeps_; ++sweep) {
    turned = false;
    for (Index i = 0; i < count; ++i) {
      for (Index j = i + 1; j < count; ++j) {
        auto a = block_.col(i).segment(first, size), b = block_.col(j).segment(first, size);
        const double aa = a.squaredNorm(), bb = b.squaredNorm(), ab = a.dot(b);
        if (std::min(aa, bb) < negligible * negligible || std::abs(ab) <= 1e-15 * std::sqrt(aa * bb)) continue;
        const double ratio = (bb - aa) / (2.0 * ab);
        const double tangent = std::copysign(1.0, ratio) / (std::abs(ratio) + std::hypot(1.0, ratio));
        const double cosine = 1.0 / std::hypot(1.0, tangent), sine = cosine * tangent;
        for (Index k = 0; k < size; ++k) {
          const double p = a[k], q = b[k];
          a[k] = cosine * p - sine * q;
          b[k] = sine * p + cosine * q;
        }
        turned = true;
      }
    }
  }
}

// Moves x along the directions held for the level, from `first` on. Rows that are all held can all be met, whatever
// their weights; others are fitted.
void NullSpace::fit(Index first, double damping) {
  const Index rank = basis_.rank() - first;
  const auto count = static_cast<Index>(own_.size());
  if (triangular_ && rank == count && damping == 0.0) {
    for (Index j = 0; j < count; ++j) step_[first + j] = missing(own_[static_cast<size_t>(j)]);
    basis_.forward(step_, first);
  } else {
    ++factorizations_;
    fit_.begin(rank);
    for (Index j = 0; j < count; ++j) {
      const Index i = own_[static_cast<size_t>(j)];
      fit_.add(block_.col(j).segment(first, rank), rows_[i].pull, missing(i));
    }
    for (Index j = 0; damping > 0.0 && j < rank; ++j) fit_.add(Vector::Unit(rank, j), damping, 0.0);
    fit_.factor(0.0);
    step_.segment(first, rank) = fit_.solve().head(rank);
  }
  basis_.move(x_, step_, first);
}

}  // namespace poise
