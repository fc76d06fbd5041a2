// The primal active-set method that takes over if the dual one takes long or cycles.
#include <algorithm>

#include "lexicographic.hpp"

namespace poise {

// Primal active-set method from the optimum of the level above: every step keeps the levels above and lowers the cost
// of this level, by an exact line search over the piecewise quadratic violation. It can cycle only if steps have length
// zero; there the row with the smallest index is chosen.
Lexicographic::Outcome Lexicographic::descend(Index level, Index limit) {
  x_ = start_;
  x_norm_ = x_.norm();
  dual_.setZero();
  for (RowState& p : state_)
    if (p == RowState::ignored) p = RowState::inactive;
  for (Index p = static_cast<Index>(held_.size()) - 1; p >= 0; --p) {
    const Held& h = held_[static_cast<size_t>(p)];
    if (!h.frozen && std::abs(value(h) - h.target) > tolerance(h.row)) release(p);
  }
  Index stalled = 0;
  for (Index iteration = 0; iteration < limit; ++iteration) {
    if (out_of_time()) return Outcome::budget;
    ++count_.iterations;
    ++count_.descents;
    const bool changed = select_violated(level);
    before_ = x_;
    fit_level(level);
    direction_ = x_ - before_;
    Index blocking = -1;
    const double longest = longest_step(level, blocking);
    const double step = line_search(level, longest);
    x_ = before_ + step * direction_;
    x_norm_ = x_.norm();
    stalled = step * direction_.norm() > 1e-13 * (1.0 + x_norm_) ? 0 : stalled + 1;
    if (blocking >= 0 && step >= longest) {
      // It moved along the direction, so it is independent, if only slightly.
      if (project_row(blocking) > 1e-3 * rank_) {
        hold_projected_row(blocking);
      } else {
        state(blocking) = RowState::ignored;
        side(blocking) = inside;
        ++count_.ignored;
      }
      continue;
    }
    if (blocking >= 0) side(blocking) = inside;
    if ((changed || step < 1.0) && stalled == 0) continue;
    fit_level(level);
    multipliers(level);
    const Removal removal = wrong_multiplier(stalled > 5);
    if (removal.at < 0) return Outcome::done;
    drop(removal);
  }
  return Outcome::iterations;
}

// Selects the soft rows of a descent step: equalities and violated inequalities. Returns whether the set has changed.
bool Lexicographic::select_violated(Index level) {
  if (least_norm(level)) return false;
  bool changed = false;
  soft_.clear();
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
    signed char now = inside;
    if (rows_[i].kind == Kind::equality) now = equality;
    if (rows_[i].kind == Kind::inequality) {
      const double v = rows_.value(i, x_);
      now = v > rows_[i].upper + tolerance(i) ? upper_side : v < rows_[i].lower - tolerance(i) ? lower_side : inside;
    }
    changed = changed || now != side(i);
    side(i) = now;
    state(i) = now == inside ? RowState::inactive : RowState::soft;
    if (now != inside) soft_.push_back(i);
  }
  return changed;
}

// Largest step along direction_ that the inequalities of the levels above allow, at most 1, and the row that blocks it.
double Lexicographic::longest_step(Index level, Index& blocking) {
  double longest = 1.0;
  for (Index k = 0; k < inequalities_begin_[static_cast<size_t>(level)]; ++k) {
    const Index i = inequalities_[static_cast<size_t>(k)];
    if (state(i) != RowState::inactive) continue;
    const double from = rows_.value(i, before_), slope = rows_.value(i, x_) - from;
    const bool up = slope > 0.0;
    const double beyond = up ? from + slope - rows_[i].upper : rows_[i].lower - from - slope;
    if (!(beyond > tolerance(i))) continue;
    const double here = std::max(0.0, (up ? rows_[i].upper - from : from - rows_[i].lower) / std::abs(slope));
    if (here < longest || (here == longest && blocking < 0)) {
      if (blocking >= 0) side(blocking) = inside;
      longest = here;
      blocking = i;
      side(i) = up ? upper_side : lower_side;
    }
  }
  return longest;
}

// The step in [0, longest] along direction_ that minimises the squared violation of the level.
double Lexicographic::line_search(Index level, double longest) {
  if (!least_norm(level))
    for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
      values_[i] = rows_.value(i, before_);
      rates_[i] = rows_.value(i, direction_);
    }
  const auto slope_at = [&](double t) {
    if (least_norm(level)) return (before_ + t * direction_).dot(direction_);
    const double damping = damping_;
    double slope = damping * damping * (before_ + t * direction_).dot(direction_);
    for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
      if (rows_[i].kind == Kind::free) continue;
      const double rate = rates_[i], v = values_[i] + t * rate;
      const double excess = v > rows_[i].upper ? v - rows_[i].upper : v < rows_[i].lower ? v - rows_[i].lower : 0.0;
      slope += rows_[i].root_weight * rows_[i].root_weight * excess * rate;
    }
    return slope;
  };
  if (longest <= 0.0 || slope_at(longest) <= 0.0) return longest;
  double low = 0.0, high = longest;
  // The slope is piecewise linear and increasing: secant steps with bisection as a safeguard find its root.
  for (int i = 0; i < 200 && high - low > 1e-16 * high; ++i) {
    const double at_low = slope_at(low), at_high = slope_at(high);
    double middle = low + (high - low) * (at_low < 0.0 ? -at_low / (at_high - at_low) : 0.5);
    if (i % 2 || !(middle > low && middle < high)) middle = 0.5 * (low + high);
    if (slope_at(middle) <= 0.0)
      low = middle;
    else
      high = middle;
  }
  return low;
}

}  // namespace poise
