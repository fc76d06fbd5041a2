// The point that is returned when time or iterations run out.
#include <algorithm>

#include "lexicographic.hpp"

namespace poise {

// The remaining freedom follows the posture: the levels that are not reached would otherwise keep the accelerations of the
// last complete solution, and joints become faster and faster while time is short.
void Lexicographic::stop_early(Index level) {
  keep_guesses(level);
  shorten_step(level);
  if (level > 0) follow_posture(level);
}

// The next solve continues with the active rows of this level, and with those of the solve before for the levels that
// were not reached.
void Lexicographic::keep_guesses(Index level) {
  store_guess(level);
  next_side_ = side_;
  for (size_t i = 0; i < next_side_.size(); ++i) {
    if (side_[i] != inside || last_entered_[i] <= level) continue;
    next_side_[i] = last_side_[i];
    entered_[i] = last_entered_[i];
  }
}

// Moves x back to the farthest point towards it that keeps the levels already solved.
void Lexicographic::shorten_step(Index level) {
  if (!x_.allFinite()) {
    x_ = start_;
    return;
  }
  double reach = 1.0;
  x_norm_ = x_.norm();
  for (Index k = 0; k < inequalities_begin_[static_cast<size_t>(level)]; ++k) {
    const Index i = inequalities_[static_cast<size_t>(k)];
    if (state(i) == RowState::fixed) continue;
    if (state(i) == RowState::held) {
      const auto h = std::find_if(held_.begin(), held_.end(), [&](const Held& o) { return o.row == i; });
      if (h != held_.end() && h->frozen) continue;
    }
    const double from = rows_.value(i, start_), to = rows_.value(i, x_);
    const double slope = to - from;
    if (to > rows_[i].upper && slope > 0.0) reach = std::min(reach, std::max(0.0, (rows_[i].upper - from) / slope));
    if (to < rows_[i].lower && slope < 0.0) reach = std::min(reach, std::max(0.0, (rows_[i].lower - from) / slope));
  }
  step_ = x_ - start_;
  x_ = start_ + reach * step_;
  // Steps in ill-conditioned directions leave rounding errors in held rows.
  const bool off = std::any_of(held_.begin(), held_.end(), [&](const Held& h) {
    return std::abs(h.target - value(h)) > 1e-10 * (1.0 + std::abs(h.target) + x_norm_);
  });
  if (off || level_cost(level, x_) > level_cost(level, start_)) x_ = start_;
  for (Index i : soft_)
    if (state(i) == RowState::soft && side(i) != equality) side(i) = inside;
}

// Moves x towards the targets of the later levels that are single unknowns, and the other unknowns towards zero, as far
// as the levels above and the values of this one allow.
void Lexicographic::follow_posture(Index level) {
  // A level that asks for as much as is free is a posture itself; to hold all its rows would take too long.
  Index equalities = 0;
  for (Index i = least_norm(level) ? view_->rows : rows_.begin(level); i < view_->rows && rows_[i].level == level; ++i)
    equalities += rows_[i].kind == Kind::equality;
  if (equalities >= basis_.freedom()) return;
  start_.setZero();
  const Index begin = least_norm(level) ? view_->rows : rows_.begin(level);
  const Index end = least_norm(level) ? view_->rows : rows_.end(level);
  for (Index i = begin; i < end; ++i) {
    if (rows_[i].kind == Kind::free || state(i) == RowState::held) continue;
    const double v = rows_.value(i, x_);
    const bool keeps = rows_[i].kind == Kind::equality || v > rows_[i].upper - tolerance(i) ||
                       v < rows_[i].lower + tolerance(i);
    if (!keeps) continue;
    state(i) = RowState::held;
    if (basis_.freedom() > 0 && project_row(i) > 10.0 * rounding_) basis_.append(projected_);
  }
  for (Index i = end; i < view_->rows; ++i)
    if (rows_[i].kind == Kind::equality && rows_[i].column >= 0)
      start_[rows_[i].column] = rows_[i].entry * rows_[i].lower;
  for (int pass = 0; pass < posture_passes_ && basis_.freedom() > 0; ++pass) {
    projected_.head(n_) = start_ - x_;
    basis_.project(projected_);
    direction_.setZero();
    basis_.move_free(direction_, projected_);
    double longest = 1.0;
    bool blocked = false;
    for (Index k = 0; k < inequalities_up_to(level); ++k) {
      const Index i = inequalities_[static_cast<size_t>(k)];
      if (state(i) == RowState::fixed || state(i) == RowState::held) continue;
      const double slope = rows_.value(i, direction_), bound = slope > 0.0 ? rows_[i].upper : rows_[i].lower;
      if (!std::isfinite(bound) || std::abs(slope) < rounding_) continue;
      const double distance = (bound - rows_.value(i, x_)) / slope;
      if (distance >= longest) continue;
      longest = std::max(distance, 0.0);
      if (distance * std::abs(slope) > tolerance(i)) continue;
      state(i) = RowState::held;  // it is at its bound, and the next step keeps it
      if (basis_.freedom() > 0 && project_row(i) > 10.0 * rounding_) basis_.append(projected_);
      blocked = true;
    }
    if (blocked) continue;
    x_ += longest * direction_;
    break;
  }
}

}  // namespace poise
