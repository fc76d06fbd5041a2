#include "null_space.hpp"

#include <algorithm>

#include "bound_side.hpp"

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
    level_rows_.clear();
    for (Index i = rows_.begin(level); i < rows_.end(level); ++i)
      if (rows_[i].kind == Kind::equality) level_rows_.push_back(i);
    if (level_rows_.empty()) continue;
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
  const bool zero_row = !(rows_[row].inverse_norm > 0.0 && std::isfinite(rows_[row].inverse_norm));
  return side_of(*view_, rows_[row], row, zero_row ? 0.0 : rows_.value(row, x_));
}

void NullSpace::prepare(const ProgramView& view) {
  view_ = &view;
  if (view.variables != n_ || view.rows != m_) {
    n_ = view.variables;
    m_ = view.rows;
    basis_.resize(n_);
    fit_.resize(m_, n_);
    posture_fit_.resize(n_);
    level_rows_.reserve(static_cast<size_t>(m_));
    block_.setZero(n_ + padding, m_);
    for (Vector* v : {&x_, &before_, &step_}) v->setZero(n_);
    tails_.setZero(m_);
    projected_.setZero(n_ + padding);
  }
  rows_.read(view);
  basis_.reset();
  x_.setZero();
  unused_.assign(static_cast<size_t>(n_), true);
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
  if (level < last_) mark_used_unknowns();
}

// Fits a posture level by PostureFit, if the last level is one.
bool NullSpace::fit_posture(Index level, double damping) {
  if (damping > 0.0 || level < last_ || !posture_fit_.factor(rows_, level_rows_, basis_, unused_)) return false;
  ++factorizations_;
  projected_.setZero();
  for (Index i : level_rows_) projected_[rows_[i].column] = rows_[i].entry * residual(i);
  posture_fit_.step(basis_, projected_, x_);
  complete_ = true;
  return true;
}

// Writes the rows of the level in the current basis, as columns of block_.
void NullSpace::project_rows() {
  const auto count = static_cast<Index>(level_rows_.size());
  for (Index j = 0; j < count; ++j) rows_.copy_to(level_rows_[static_cast<size_t>(j)], block_.col(j).head(n_));
  basis_.project_all(block_, count);
}

// Marks the unknowns that occur in the rows of the level.
void NullSpace::mark_used_unknowns() {
  for (Index i : level_rows_) {
    const Row& row = rows_[i];
    if (row.column >= 0) {
      unused_[static_cast<size_t>(row.column)] = false;
      continue;
    }
    const RowView a = rows_.raw(i);
    for (Index c = row.begin; c < n_; ++c)
      if (a[c] != 0.0) unused_[static_cast<size_t>(c)] = false;
  }
}

// Holds independent rows, the largest first. Returns false if the pivots do not determine the rank reliably.
bool NullSpace::hold_by_pivots() {
  ++factorizations_;
  const auto count = static_cast<Index>(level_rows_.size());
  for (Index j = 0; j < count && basis_.freedom() > 0; ++j) {
    const Index at = basis_.rank();
    for (Index c = j; c < count; ++c) tails_[c] = block_.col(c).segment(at, basis_.freedom()).squaredNorm();
    Index best = 0;
    const double largest = tails_.segment(j, count - j).maxCoeff(&best);
    if (!(largest > clear_pivot_ * clear_pivot_)) return tails_.segment(j, count - j).sum() < rounding_ * rounding_;
    best += j;
    if (best != j) {
      block_.col(j).swap(block_.col(best));
      std::swap(level_rows_[static_cast<size_t>(j)], level_rows_[static_cast<size_t>(best)]);
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
  const auto count = static_cast<Index>(level_rows_.size());
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
  const auto count = static_cast<Index>(level_rows_.size());
  const Index first = basis_.rank(), size = basis_.freedom();
  const double negligible = 1e-5 * rank_;  // columns this small are below any threshold
  bool turned = true;
  for (int sweep = 0; turned && sweep < max_sweeps_; ++sweep) {
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

// Moves x along the directions held for the level, from `first` on. If all rows are held, all are satisfied whatever
// their weights; otherwise they are fitted.
void NullSpace::fit(Index first, double damping) {
  const Index rank = basis_.rank() - first;
  const auto count = static_cast<Index>(level_rows_.size());
  if (triangular_ && rank == count && damping == 0.0) {
    for (Index j = 0; j < count; ++j) step_[first + j] = residual(level_rows_[static_cast<size_t>(j)]);
    basis_.forward(step_, first);
  } else {
    ++factorizations_;
    fit_.begin(rank);
    for (Index j = 0; j < count; ++j) {
      const Index i = level_rows_[static_cast<size_t>(j)];
      fit_.add(block_.col(j).segment(first, rank), rows_[i].root_weight, residual(i));
    }
    for (Index j = 0; damping > 0.0 && j < rank; ++j) fit_.add(Vector::Unit(rank, j), damping, 0.0);
    fit_.factor(0.0);
    step_.segment(first, rank) = fit_.solve().head(rank);
  }
  basis_.move(x_, step_, first);
}

}  // namespace poise
