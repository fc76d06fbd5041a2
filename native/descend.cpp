// The primal active set that takes over where the dual one may cycle.
#include <algorithm>

#include "lexicographic.hpp"

namespace poise {

// Primal active set from the optimum of the level above: every step keeps the levels above and lowers the cost of
// this one (an exact line search over the pieces of the squared violation), which leaves no room for a
// cycle but where steps have length zero; there the smallest index decides.
Lexicographic::Outcome Lexicographic::descend(Index level) {
  x_ = start_;
  size_ = x_.norm();
  dual_.setZero();
  for (Place& p : place_)
    if (p == Place::ignored) p = Place::out;
  for (Index p = static_cast<Index>(held_.size()) - 1; p >= 0; --p) {
    const Held& h = held_[static_cast<size_t>(p)];
    if (!h.frozen && std::abs(value(h) - h.target) > tolerance(h.row)) release(p);
  }
  Index stalled = 0;
  const Index limit = 200 + 20 * (usable(level) + n_);
  for (Index iteration = 0; iteration < limit; ++iteration) {
    if (out_of_time()) return Outcome::budget;
    ++count_.iterations;
    ++count_.descents;
    const bool changed = collect_violated(level);
    before_ = x_;
    fit_level(level);
    direction_ = x_ - before_;
    Index blocking = -1;
    const double room = room_above(level, blocking);
    const double step = line_search(level, room);
    x_ = before_ + step * direction_;
    size_ = x_.norm();
    stalled = step * direction_.norm() > 1e-13 * (1.0 + size_) ? 0 : stalled + 1;
    if (blocking >= 0 && step >= room) {
      if (project_row(blocking) > 1e-3 * rank_) {  // it did move, however little of it is independent
        hold_last(blocking);
      } else {
        place(blocking) = Place::ignored;
        side(blocking) = inside;
        ++count_.ignored;
      }
      continue;
    }
    if (blocking >= 0) side(blocking) = inside;
    if ((changed || step < 1.0) && stalled == 0) continue;
    fit_level(level);
    multipliers(level);
    const Choice choice = wrong_dual(stalled > 5);
    if (choice.at < 0) return Outcome::done;
    drop(choice);
  }
  return Outcome::iterations;
}

// The soft rows of a descent: equalities and what is violated now. True if the set has changed.
bool Lexicographic::collect_violated(Index level) {
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
    place(i) = now == inside ? Place::out : Place::soft;
    if (now != inside) soft_.push_back(i);
  }
  return changed;
}

// How much of direction_ the inequalities of the levels above admit, and which of them blocks.
double Lexicographic::room_above(Index level, Index& blocking) {
  double room = 1.0;
  for (Index k = 0; k < inequalities_begin_[static_cast<size_t>(level)]; ++k) {
    const Index i = inequalities_[static_cast<size_t>(k)];
    if (place(i) != Place::out) continue;
    const double from = rows_.value(i, before_), slope = rows_.value(i, x_) - from;
    const bool up = slope > 0.0;
    const double beyond = up ? from + slope - rows_[i].upper : rows_[i].lower - from - slope;
    if (!(beyond > tolerance(i))) continue;
    const double here = std::max(0.0, (up ? rows_[i].upper - from : from - rows_[i].lower) / std::abs(slope));
    if (here < room || (here == room && blocking < 0)) {
      if (blocking >= 0) side(blocking) = inside;
      room = here;
      blocking = i;
      side(i) = up ? upper_side : lower_side;
    }
  }
  return room;
}

// The step in [0, room] along direction_ that minimises the squared violation of the level.
double Lexicographic::line_search(Index level, double room) {
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
      slope += rows_[i].pull * rows_[i].pull * excess * rate;
    }
    return slope;
  };
  if (room <= 0.0 || slope_at(room) <= 0.0) return room;
  double low = 0.0, high = room;
  // The slope grows piecewise linearly: secant steps with a bisection safeguard end on its root.
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
