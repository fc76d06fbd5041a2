// The rows that are held exactly, and steps of x onto them.
#include <algorithm>

#include "lexicographic.hpp"

namespace poise {

// Appends the soft rows [begin, end) to the decomposition, largest independent part first. Returns false if a row is
// nearly, but not exactly, a combination of the others: holding the rest exactly would be numerically unstable.
bool Lexicographic::hold_rows(Index begin, Index end) {
  const Index rows = end - begin;
  if (rows <= 0) return true;
  batch_.assign(soft_.begin() + begin, soft_.begin() + end);
  for (Index j = 0; j < rows; ++j) {
    const Index i = batch_[static_cast<size_t>(j)];
    rows_.copy_to(i, block_.col(j).head(n_));
  }
  basis_.project_all(block_, rows);
  const auto tail = [&](Index c) { return block_.col(c).segment(basis_.rank(), basis_.freedom()).squaredNorm(); };
  for (Index c = 0; c < rows; ++c) tails_[c] = tail(c);
  for (Index j = 0; j < rows && basis_.freedom() > 0; ++j) {
    Index best = j;
    for (Index c = j + 1; c < rows; ++c)
      if (tails_[c] > tails_[best]) best = c;
    const double largest = tail(best);
    if (!(largest > rank_ * rank_)) return !(largest > rounding_ * rounding_);
    if (best != j) {
      block_.col(j).swap(block_.col(best));
      std::swap(tails_[j], tails_[best]);
      std::swap(batch_[static_cast<size_t>(j)], batch_[static_cast<size_t>(best)]);
    }
    const Index row = batch_[static_cast<size_t>(j)];
    basis_.append(block_.col(j));
    basis_.apply_last(block_, j + 1, rows);
    // Part of the others that the new row contains; recomputed if little is left.
    for (Index c = j + 1; c < rows; ++c) {
      const double before = tails_[c], taken = block_(basis_.rank() - 1, c);
      tails_[c] -= taken * taken;
      if (tails_[c] < 1e-3 * before) tails_[c] = tail(c);
    }
    held_.push_back({row, bound(row), side(row) == equality});
    state(row) = RowState::held;
  }
  return true;
}

// Freezes the combinations of soft rows that span the directions of the fit.
void Lexicographic::hold_directions() {
  const Index rows = static_cast<Index>(soft_.size()), rank = fit_.rank(), begin = combined_;
  fit_.directions(directions_);
  for (Index d = 0; d < rank; ++d) {
    gradient_.setZero();
    for (Index r = 0; r < rows; ++r) {
      const Index i = soft_[static_cast<size_t>(r)];
      rows_.accumulate(i, rows_[i].root_weight * directions_(r, d), gradient_);
    }
    const double norm = gradient_.norm();
    if (!(norm > 0.0)) continue;
    combinations_.col(combined_) = gradient_ / norm;
    block_.col(combined_ - begin).head(n_) = combinations_.col(combined_);
    ++combined_;
  }
  const Index columns = combined_ - begin;
  basis_.project_all(block_, columns);
  for (Index c = 0; c < columns; ++c) {
    basis_.append(block_.col(c));
    basis_.apply_last(block_, c + 1, columns);
    held_.push_back({-1, combinations_.col(begin + c).dot(x_), true, begin + c});
  }
}

// Whether the values of the soft rows depend on held rows that are not frozen. A later level may release such a row; x
// can then move along a direction u that changes this row by one and no other held row. The soft rows change by C u,
// which nothing prevents unless the directions of the fit contain it.
bool Lexicographic::depends_on_releasable_rows() {
  const Index first = first_free(), rank = basis_.rank(), rows = static_cast<Index>(soft_.size());
  if (std::all_of(held_.begin() + first, held_.end(), [](const Held& h) { return h.frozen; })) return false;
  // C u for all such u at once: u = Y L^-1 e_p, so it is entry p of L^-T Y^T c for a row c.
  for (Index r = 0; r < rows; ++r) rows_.copy_to(soft_[static_cast<size_t>(r)], block_.col(r).head(n_));
  basis_.project_all(block_, rows);
  for (Index r = 0; r < rows; ++r) {
    projected_.head(rank) = rows_[soft_[static_cast<size_t>(r)]].root_weight * block_.col(r).head(rank);
    basis_.backward(projected_, first);
    block_.col(r).head(rank) = projected_.head(rank);
  }
  auto change = tails_.head(rows);
  for (Index p = first; p < rank; ++p) {
    if (held_[static_cast<size_t>(p)].frozen) continue;
    change = block_.row(p).head(rows).transpose();
    step_.head(rank).setZero();
    step_[p] = 1.0;
    basis_.forward(step_, p);
    if (fit_.cannot_reproduce(change, rank_ * step_.segment(p, rank - p).norm())) return true;
  }
  return false;
}

// Freezes the soft rows before the rows that are only held: held rows that are not frozen leave the decomposition and
// return if they are independent of the soft rows. The others are at their bounds and enter again when they block.
void Lexicographic::freeze_soft_rows_first() {
  batch_.clear();
  for (Index p = static_cast<Index>(held_.size()) - 1; p >= 0; --p) {
    const auto held = held_.begin() + p;
    if (held->frozen) continue;
    batch_.push_back(held->row);
    basis_.remove(p);
    held_.erase(held);
  }
  factor_level(0.0, 0.1 * rank_);
  hold_directions();
  for (auto row = batch_.rbegin(); row != batch_.rend(); ++row) {
    if (project_row(*row) > rank_) {
      hold_projected_row(*row);
    } else {
      state(*row) = RowState::inactive;
      side(*row) = inside;
    }
  }
}

// Appends the row that was last projected.
void Lexicographic::hold_projected_row(Index row) {
  basis_.append(projected_);
  held_.push_back({row, bound(row), false});
  state(row) = RowState::held;
  entered_[static_cast<size_t>(row)] = level_;
  guesses_[static_cast<size_t>(level_)].life[static_cast<size_t>(row)] = guess_life_;
  ++count_.updates;
}

void Lexicographic::release(Index position) {
  const Index row = held_[static_cast<size_t>(position)].row;
  basis_.remove(position);
  held_.erase(held_.begin() + position);
  state(row) = RowState::inactive;
  side(row) = inside;
  dual_[row] = 0.0;
  ++count_.updates;
}

Index Lexicographic::first_free() const {
  Index p = 0;
  while (p < static_cast<Index>(held_.size()) && held_[static_cast<size_t>(p)].frozen) ++p;
  return p;
}

// Moves x so that every held row has its target value. A step much longer than its end point leaves a rounding error,
// so it is repeated.
void Lexicographic::move_to_targets() {
  const Index rank = basis_.rank();
  for (int pass = 0; pass < 2; ++pass) {
    x_norm_ = x_.norm();
    bool still = true;
    for (Index p = 0; p < rank; ++p) {
      const Held& h = held_[static_cast<size_t>(p)];
      step_[p] = h.target - value(h);
      // A small diagonal of L must not amplify rounding errors, in particular not in frozen rows.
      if (std::abs(step_[p]) < (h.frozen ? 4e-15 : 1e-15) * (std::abs(h.target) + x_norm_)) step_[p] = 0.0;
      still = still && step_[p] == 0.0;
    }
    if (still) return;
    basis_.forward(step_, 0);
    basis_.move(x_, step_, 0);
    const double length = step_.head(rank).norm();
    x_norm_ = x_.norm();
    if (length <= 1e3 * (1.0 + x_norm_)) return;
  }
}

// Whether held rows miss their targets by more than the rounding error at x; a step from far away has a larger one.
bool Lexicographic::off_target() const {
  return std::any_of(held_.begin(), held_.end(), [&](const Held& h) {
    return std::abs(h.target - value(h)) > 1e-13 * (1.0 + std::abs(h.target) + x_norm_);
  });
}

// A discarded active set may have moved x far away along directions that are now free: restart from the optimum of the
// level above.
bool Lexicographic::restart_if_far() {
  const bool far = x_norm_ > 1e3 * (1.0 + start_norm_);
  if (far) x_ = start_;
  return far;
}

double Lexicographic::project_row(Index row) {
  rows_.copy_to(row, projected_.head(n_));
  basis_.project(projected_);
  return projected_.segment(basis_.rank(), basis_.freedom()).norm();
}

}  // namespace poise
