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
    // Values of the rows above, which the steps below update; computed anew before rounding errors add up.
    if (iteration % 16 == 0)
      for (Index k = 0; k < inequalities_begin_[static_cast<size_t>(level)]; ++k)
        above_[k] = rows_.value(inequalities_[static_cast<size_t>(k)], before_);
    fit_level(level);
    direction_ = x_ - before_;
    Index blocking = -1;
    const double longest = longest_step(level, blocking);
    const double step = line_search(level, longest);
    const bool full = step == 1.0;
    if (!full) {
      x_ = before_ + step * direction_;
      x_norm_ = x_.norm();
    }
    above_.head(inequalities_begin_[static_cast<size_t>(level)]) +=
        step * change_.head(inequalities_begin_[static_cast<size_t>(level)]);
    stalled = step * direction_.norm() > 1e-13 * (1.0 + x_norm_) ? 0 : stalled + 1;
    if (blocking >= 0 && step >= longest) {
      // It moved along the direction, so it is independent, if only slightly.
      if (project_row(blocking) > 1e-3 * rank_) {
        hold_projected_row(blocking);
        if (at_minimum(level)) {  // a vertex: no step before another row is dropped
          multipliers(level);
          const Removal removal = wrong_multiplier(stalled > 5);
          if (removal.at >= 0) drop(removal);
        }
      } else {
        state(blocking) = RowState::ignored;
        side(blocking) = inside;
        ++count_.ignored;
      }
      continue;
    }
    if (blocking >= 0) side(blocking) = inside;
    if ((changed || !full) && stalled == 0) continue;
    if (!full) fit_level(level);  // otherwise x is where the last fit ended
    multipliers(level);
    const Removal removal = wrong_multiplier(stalled > 5);
    if (removal.at < 0) return Outcome::done;
    drop(removal);
  }
  return Outcome::iterations;
}

// Whether no step within the held rows lowers the cost at x; computes the forces of the soft rows there.
bool Lexicographic::at_minimum(Index level) {
  const double damping = least_norm(level) ? 1.0 : damping_;
  gradient_ = damping * damping * x_;
  if (!least_norm(level)) {
    for (Index i : soft_) {
      slack_[i] = rows_.value(i, x_) - bound(i);
      force_[i] = rows_[i].root_weight * rows_[i].root_weight * slack_[i];
      rows_.accumulate(i, force_[i], gradient_);
    }
  }
  projected_.head(n_) = gradient_;
  basis_.project(projected_);
  return projected_.segment(basis_.rank(), basis_.freedom()).norm() <= 1e-12 * gradient_.norm();
}

// Selects the soft rows of a descent step: equalities and violated inequalities. Returns whether the set has changed.
bool Lexicographic::select_violated(Index level) {
  if (least_norm(level)) return false;
  bool changed = false;
  soft_.clear();
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
    signed char now = inside;
    if (rows_[i].kind == Kind::equality) {
      now = equality;
      values_[i] = rows_.value(i, x_);
    }
    if (rows_[i].kind == Kind::inequality) {
      const double v = values_[i] = rows_.value(i, x_);
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
    change_[k] = 0.0;
    if (state(i) != RowState::inactive) continue;
    const double from = above_[k], slope = change_[k] = rows_.value(i, direction_);
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

// The step in [0, longest] along direction_ that minimises the squared violation of the level. select_violated has
// computed the values of its rows.
double Lexicographic::line_search(Index level, double longest) {
  if (longest <= 0.0) return longest;
  if (!least_norm(level))
    for (Index i = rows_.begin(level); i < rows_.end(level); ++i)
      if (rows_[i].kind != Kind::free) rates_[i] = rows_.value(i, direction_);
  const double damping = least_norm(level) ? 1.0 : damping_;
  const double along = damping * damping * before_.dot(direction_);
  const double squared = damping * damping * direction_.squaredNorm();
  double curvature = 0.0;
  const auto slope_at = [&](double t) {
    double slope = along + t * squared;
    curvature = squared;
    if (least_norm(level)) return slope;
    for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
      const Row& row = rows_[i];
      if (row.kind == Kind::free) continue;
      const double rate = rates_[i], v = values_[i] + t * rate, weight = row.root_weight * row.root_weight;
      if (!(v > row.upper || v < row.lower) && row.kind != Kind::equality) continue;
      slope += weight * rate * (v - (v > row.upper ? row.upper : row.lower));
      curvature += weight * rate * rate;
    }
    return slope;
  };
  // At the end of a full step to the minimiser of the same rows the slope is zero but for rounding errors.
  double t = longest, slope = slope_at(t);
  if (slope <= 0.0 || slope <= -1e-12 * slope_at(0.0)) return longest;
  slope = slope_at(t);
  // The slope is piecewise linear and increasing: Newton steps, with bisection as a safeguard, end in its root.
  double low = 0.0, high = longest;
  for (int i = 0; i < 100; ++i) {
    (slope <= 0.0 ? low : high) = t;
    double next = curvature > 0.0 ? t - slope / curvature : low;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const bool found = std::abs(next - t) <= 1e-15 * high;
    t = next;
    if (found) break;
    slope = slope_at(t);
  }
  return t;
}

}  // namespace poise
