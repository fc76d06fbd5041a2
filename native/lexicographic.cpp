#include "lexicographic.hpp"

#include <algorithm>
#include <mutex>

namespace poise {

namespace {

#ifdef EIGEN_RUNTIME_NO_MALLOC
// In builds that define it, an allocation by Eigen while this lives is a failed assertion. The flag behind it is
// one for all threads, so such builds solve one program at a time.
struct MallocForbidden {
  MallocForbidden() { Eigen::internal::set_is_malloc_allowed(false); }
  ~MallocForbidden() { Eigen::internal::set_is_malloc_allowed(true); }
};
std::mutex one_at_a_time;
#endif

}  // namespace

Status Lexicographic::solve(const ProgramView& view, double budget_seconds, bool warm) {
#ifdef EIGEN_RUNTIME_NO_MALLOC
  const std::lock_guard<std::mutex> lock(one_at_a_time);
#endif
  has_deadline_ = std::isfinite(budget_seconds);
  if (has_deadline_)
    deadline_ = std::chrono::steady_clock::now() +
                std::chrono::nanoseconds(static_cast<long long>(std::max(0.0, budget_seconds) * 1e9));
  count_ = Counters{};
  prepare(view, warm);
#ifdef EIGEN_RUNTIME_NO_MALLOC
  const MallocForbidden forbidden;
#endif
  Status status = solve_levels();
  // Near-singular rows of one level may send x far away and a later one call it back; what was settled out there
  // carries the rounding of large numbers. Once more, from here.
  if (status == Status::optimal && farthest_ > 1e3 && farthest_ > 2.0 * x_.norm()) {
    prepare(view, true);
    status = solve_levels();
  }
  if (!x_.allFinite()) x_ = start_;
  if (!x_.allFinite()) x_.setZero();
  return status;
}

Status Lexicographic::solve_levels() {
  farthest_ = 0.0;
  for (Index level = 0; level <= view_->levels() && !complete_; ++level) {
    const Outcome outcome = solve_level(level);
    if (outcome != Outcome::done) {
      retreat(level);
      return outcome == Outcome::budget ? Status::budget : Status::iterations;
    }
    farthest_ = std::max(farthest_, size_);
    finish(level);
    ++count_.levels_solved;
  }
  return Status::optimal;
}

void Lexicographic::prepare(const ProgramView& view, bool warm) {
  const bool same = view.variables == n_ && view.rows == m_ && view.level_begin == levels_before_;
  if (!same) {
    n_ = view.variables;
    m_ = view.rows;
    levels_before_ = view.level_begin;
    basis_.resize(n_);
    fit_.resize(m_, n_);
    const auto rows = static_cast<size_t>(m_);
    side_.assign(rows, inside);
    guess_.assign(rows, inside);
    place_.assign(rows, Place::out);
    held_.reserve(static_cast<size_t>(n_) + 1);
    soft_.reserve(rows);
    batch_.reserve(rows);
    inequalities_.reserve(rows);
    for (Vector* v : {&x_, &start_, &before_, &direction_, &step_, &gradient_, &multiplier_}) v->setZero(n_);
    projected_.setZero(n_ + padding);
    dual_.setZero(m_);
    slack_.setZero(m_);
    force_.setZero(m_);
    block_.setZero(n_ + padding, m_);
    combinations_.setZero(n_, n_);
  } else if (!warm) {
    std::fill(side_.begin(), side_.end(), static_cast<signed char>(inside));
    x_.setZero();
  }
  if (!x_.allFinite()) x_.setZero();
  view_ = &view;
  guess_ = side_;
  std::fill(side_.begin(), side_.end(), static_cast<signed char>(inside));
  std::fill(place_.begin(), place_.end(), Place::out);
  rows_.read(view);
  basis_.reset();
  held_.clear();
  soft_.clear();
  combined_ = 0;
  count_.levels_solved = 0;
  complete_ = n_ == 0;
  inequalities_.clear();
  inequalities_begin_.assign(static_cast<size_t>(view.levels()) + 2, 0);
  for (Index level = 0; level < view.levels(); ++level) {
    for (Index i = rows_.begin(level); i < rows_.end(level); ++i)
      if (rows_[i].kind == Kind::inequality) inequalities_.push_back(i);
    inequalities_begin_[static_cast<size_t>(level) + 1] = static_cast<Index>(inequalities_.size());
  }
  inequalities_begin_.back() = static_cast<Index>(inequalities_.size());
}

Lexicographic::Outcome Lexicographic::solve_level(Index level) {
  start_ = x_;
  size_ = start_size_ = x_.norm();
  soft_.clear();
  conflict_ = false;
  if (least_norm(level)) {
    if (basis_.freedom() == 0 && first_free() == basis_.rank()) return Outcome::done;
    return compromise(level);
  }
  Index equalities = 0;
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
    if (rows_[i].kind == Kind::equality) {
      side(i) = equality;
      soft_.push_back(i);
      ++equalities;
    }
  }
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
    const signed char g = guess_[static_cast<size_t>(i)];
    if (rows_[i].kind != Kind::inequality || (g != lower_side && g != upper_side)) continue;
    if (!std::isfinite(g == lower_side ? rows_[i].lower : rows_[i].upper)) continue;
    side(i) = g;
    soft_.push_back(i);
  }
  for (Index i : soft_) place(i) = Place::soft;
  if (equalities <= basis_.freedom() && rows_.damping(level) == 0.0) {
    const Outcome outcome = settle(level);
    if (outcome != Outcome::conflict) return outcome;
  }
  return compromise(level);
}

// Holds every soft row exactly; conflict as soon as the rows are dependent and cannot all hold.
Lexicographic::Outcome Lexicographic::settle(Index level) {
  Index split = 0;
  while (split < static_cast<Index>(soft_.size()) && side(soft_[static_cast<size_t>(split)]) == equality)
    ++split;
  if (!soft_.empty()) ++count_.factorizations;
  const bool separable = hold(0, split);
  hold(split, static_cast<Index>(soft_.size()));
  Outcome outcome = Outcome::conflict;
  while (separable) {
    if (out_of_time()) return Outcome::budget;
    ++count_.iterations;
    come_back();
    step_to_held();
    bool consistent = true;
    for (Index i : soft_) {
      if (place(i) != Place::soft) continue;
      if (side(i) != equality) {  // a guessed row that depends on the others: let it prove itself
        place(i) = Place::out;
        side(i) = inside;
      } else if (std::abs(rows_.value(i, x_) - rows_[i].lower) > tolerance(i)) {
        consistent = false;
      }
    }
    if (!consistent) break;
    const Index row = most_violated(level);
    if (row < 0) {
      for (Index i : soft_)
        if (place(i) == Place::soft) place(i) = Place::fixed;
      outcome = Outcome::done;
      break;
    }
    if (project_row(row) <= rank_) {
      side(row) = inside;
      break;
    }
    hold_last(row);
  }
  if (outcome == Outcome::done) return outcome;
  // In conflict: the rows of this level leave the decomposition and become soft.
  for (Index p = static_cast<Index>(held_.size()) - 1; p >= 0; --p) {
    const Index row = held_[static_cast<size_t>(p)].row;
    if (row < 0 || rows_[row].level != level) continue;
    basis_.remove(p);
    held_.erase(held_.begin() + p);
    place(row) = Place::soft;
  }
  soft_.clear();
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i)
    if (place(i) == Place::soft) soft_.push_back(i);
  return outcome;
}

// Dual active set: fast, but free to cycle where multipliers drown in rounding; then the descent takes over.
Lexicographic::Outcome Lexicographic::compromise(Index level) {
  dual_.setZero();
  ++count_.factorizations;
  const Index patience = 50 + 3 * (usable(level) + n_);
  for (Index iteration = 0; iteration < patience; ++iteration) {
    if (out_of_time()) return Outcome::budget;
    ++count_.iterations;
    const bool back = come_back();
    step_to_held();
    fit_level(level);
    if (back) {
      step_to_held();
      fit_level(level);
    }
    for (int polish = 0; polish < 2 && drifted(); ++polish) {
      step_to_held();
      fit_level(level);
    }
    multipliers(level);
    const Choice choice = wrong_dual();
    if (choice.at >= 0) {
      drop(choice);
      continue;
    }
    for (size_t p = 0; p < held_.size(); ++p)
      if (held_[p].row >= 0) dual_[held_[p].row] = multiplier_[static_cast<Index>(p)];
    for (Index i : soft_) dual_[i] = conflict_ ? force_[i] : 0.0;
    const Index row = most_violated(level);
    if (row < 0) return Outcome::done;
    if (!enter(row, level)) break;
  }
  return descend(level);
}

// Primal active set from the optimum of the level above: every step keeps the levels above and lowers the cost of
// this one (an exact line search over the pieces of the squared violation), so that it cannot cycle; the
// smallest-index rule decides where a step has length zero.
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
    careful_ = stalled > 5;
    const Choice choice = wrong_dual();
    careful_ = false;
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
  const auto slope_at = [&](double t) {
    if (least_norm(level)) return (before_ + t * direction_).dot(direction_);
    const double damping = rows_.damping(level);
    double slope = damping * damping * (before_ + t * direction_).dot(direction_);
    for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
      if (rows_[i].kind == Kind::free) continue;
      const double rate = slack_[i], v = force_[i] + t * rate;  // filled below
      const double excess = v > rows_[i].upper ? v - rows_[i].upper : v < rows_[i].lower ? v - rows_[i].lower : 0.0;
      slope += rows_[i].pull * rows_[i].pull * excess * rate;
    }
    return slope;
  };
  if (!least_norm(level))
    for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
      force_[i] = rows_.value(i, before_);
      slack_[i] = rows_.value(i, direction_);
    }
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

// What a solved level leaves for the next: rows with a multiplier are frozen, the rest only held.
void Lexicographic::finish(Index level) {
  if (count_.ignored > 0)
    for (Place& p : place_)
      if (p == Place::ignored) p = Place::out;
  if (soft_.empty() || least_norm(level)) {
    complete_ = basis_.freedom() == 0 && first_free() == basis_.rank();
    return;
  }
  const bool settled = std::none_of(soft_.begin(), soft_.end(), [&](Index i) { return place(i) == Place::soft; });
  if (!settled) freeze_fit(level);
  complete_ = complete_ || (basis_.freedom() == 0 && first_free() == basis_.rank());
}

// After a compromise: rows with a multiplier keep their values for good, through the very directions that the fit
// moved in (deciding the rank anew could leave one of them unprotected); rows without one are only held.
void Lexicographic::freeze_fit(Index level) {
  if (conflict_)
    for (size_t p = 0; p < held_.size(); ++p)
      if (std::abs(multiplier_[static_cast<Index>(p)]) > strength_ * scale_) held_[p].frozen = true;
  const auto middle =
      std::partition(soft_.begin(), soft_.end(), [&](Index i) { return side(i) == equality || strong(i); });
  const bool refit = middle != soft_.end() || rows_.damping(level) > 0.0;
  for (auto weak = middle; weak != soft_.end(); ++weak) {
    if (project_row(*weak) > rank_) {
      hold_last(*weak);
    } else {
      place(*weak) = Place::out;
      side(*weak) = inside;
    }
  }
  soft_.erase(middle, soft_.end());
  for (Index i : soft_) place(i) = Place::fixed;
  // With fewer rows, a direction that the fit used may look weaker than it did: count it all the same.
  if (refit) factor_level(0.0, 0.1 * rank_);
  if (fit_.rank() == basis_.freedom() && first_free() == basis_.rank()) {
    complete_ = true;
    return;
  }
  for (Index d = 0; d < fit_.rank(); ++d) {
    auto q = dual_.head(static_cast<Index>(soft_.size()));
    fit_.direction(d, q);
    gradient_.setZero();
    for (size_t r = 0; r < soft_.size(); ++r)
      rows_.accumulate(soft_[r], rows_[soft_[r]].pull * q[static_cast<Index>(r)], gradient_);
    const double norm = gradient_.norm();
    if (!(norm > 0.0)) continue;
    auto combination = combinations_.col(combined_);
    combination = gradient_ / norm;
    projected_.head(n_) = combination;
    basis_.project(projected_);
    basis_.append(projected_);
    held_.push_back({-1, combination.dot(x_), true, combined_++});
  }
}

// Out of time or iterations: the farthest point towards x that keeps the levels already solved.
void Lexicographic::retreat(Index level) {
  if (!x_.allFinite()) {
    x_ = start_;
    return;
  }
  double reach = 1.0;
  size_ = x_.norm();
  for (Index k = 0; k < inequalities_begin_[static_cast<size_t>(level)]; ++k) {
    const Index i = inequalities_[static_cast<size_t>(k)];
    if (place(i) == Place::fixed) continue;
    if (place(i) == Place::held) {
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
  if (level_cost(level, x_) > level_cost(level, start_)) x_ = start_;
  for (Index i : soft_)
    if (place(i) == Place::soft && side(i) != equality) side(i) = inside;
}

double Lexicographic::level_cost(Index level, const Vector& x) const {
  if (least_norm(level)) return x.squaredNorm();
  double cost = 0.0;
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
    if (rows_[i].kind == Kind::free) continue;
    const double v = rows_.value(i, x);
    const double s = rows_[i].pull * std::max({0.0, v - rows_[i].upper, rows_[i].lower - v});
    cost += s * s;
  }
  return cost;
}

// Appends the soft rows [begin, end) to the decomposition, largest independent part first. False if a row is
// nearly, but not quite, a combination of the others: holding the rest exactly would then be unstable.
bool Lexicographic::hold(Index begin, Index end) {
  const Index rows = end - begin;
  if (rows <= 0) return true;
  batch_.assign(soft_.begin() + begin, soft_.begin() + end);
  for (Index j = 0; j < rows; ++j) {
    const Index i = batch_[static_cast<size_t>(j)];
    block_.col(j).head(n_) = rows_[i].inverse_norm * rows_.raw(i);
  }
  basis_.project_all(block_, rows);
  for (Index j = 0; j < rows && basis_.freedom() > 0; ++j) {
    Index best = j;
    double largest = -1.0;
    for (Index c = j; c < rows; ++c) {
      const double tail = block_.col(c).segment(basis_.rank(), basis_.freedom()).squaredNorm();
      if (tail > largest) {
        largest = tail;
        best = c;
      }
    }
    if (!(largest > rank_ * rank_)) return !(largest > rounding_ * rounding_);
    if (best != j) {
      block_.col(j).swap(block_.col(best));
      std::swap(batch_[static_cast<size_t>(j)], batch_[static_cast<size_t>(best)]);
    }
    const Index row = batch_[static_cast<size_t>(j)];
    basis_.append(block_.col(j));
    basis_.apply_last(block_, j + 1, rows);
    held_.push_back({row, bound(row), side(row) == equality});
    place(row) = Place::held;
  }
  return true;
}

// Appends the row whose projection was just made.
void Lexicographic::hold_last(Index row) {
  basis_.append(projected_);
  held_.push_back({row, bound(row), false});
  place(row) = Place::held;
  ++count_.updates;
}

void Lexicographic::release(Index position) {
  const Index row = held_[static_cast<size_t>(position)].row;
  basis_.remove(position);
  held_.erase(held_.begin() + position);
  place(row) = Place::out;
  side(row) = inside;
  dual_[row] = 0.0;
  ++count_.updates;
}

Index Lexicographic::first_free() const {
  Index p = 0;
  while (p < static_cast<Index>(held_.size()) && held_[static_cast<size_t>(p)].frozen) ++p;
  return p;
}

// Moves x so that every held row takes its target. A step much longer than where it ends leaves its rounding behind,
// so it is taken once more.
void Lexicographic::step_to_held() {
  const Index rank = basis_.rank();
  for (int pass = 0; pass < 2; ++pass) {
    size_ = x_.norm();
    bool still = true;
    for (Index p = 0; p < rank; ++p) {
      const Held& h = held_[static_cast<size_t>(p)];
      step_[p] = h.target - value(h);
      // Rounding must not be blown up by a small diagonal of L, least of all in settled rows.
      if (std::abs(step_[p]) < (h.frozen ? 1e-14 : 1e-15) * (std::abs(h.target) + size_)) step_[p] = 0.0;
      still = still && step_[p] == 0.0;
    }
    if (still) return;
    basis_.forward(step_, 0);
    basis_.move(x_, step_, 0);
    const double length = step_.head(rank).norm();
    size_ = x_.norm();
    if (length <= 1e3 * (1.0 + size_)) return;
  }
}

// An active set that was tried and dropped may have sent x far away along directions that nothing holds now: start
// again from the optimum of the level above.
bool Lexicographic::come_back() {
  const bool far = size_ > 1e3 * (1.0 + start_size_);
  if (far) x_ = start_;
  return far;
}

// Whether held rows are off their targets by more than rounding at x: a step from far away carries its own.
bool Lexicographic::drifted() const {
  return std::any_of(held_.begin(), held_.end(), [&](const Held& h) {
    return std::abs(h.target - value(h)) > 1e-13 * (1.0 + std::abs(h.target) + size_);
  });
}

void Lexicographic::fit_level(Index level) {
  const Index freedom = basis_.freedom();
  ++count_.fits;
  if (least_norm(level)) {
    if (freedom > 0) {
      const auto Z = basis_.null_space();
      step_.head(freedom).noalias() = Z.transpose() * x_;
      x_.noalias() -= Z * step_.head(freedom);
    }
  } else {
    const double damping = rows_.damping(level);
    factor_level(damping, rank_);
    const auto Z = basis_.null_space();
    x_.noalias() += Z * fit_.solve().head(freedom);
    double strongest = 0.0;
    for (Index r = 0; r < static_cast<Index>(soft_.size()); ++r)
      strongest = std::max(strongest, rows_[soft_[static_cast<size_t>(r)]].pull * std::abs(fit_.left(r)));
    // What is left, or the weight of a row, is small beside what was fitted: once more from here, with a far smaller
    // right-hand side and rounding.
    if (strongest < 1e-5 * fit_.size() || fit_.contrast() < 5e-3) {
      for (Index r = 0; r < static_cast<Index>(soft_.size()); ++r) {
        const Index i = soft_[static_cast<size_t>(r)];
        fit_.residual(r, rows_[i].pull * (bound(i) - rows_.value(i, x_)));
      }
      if (damping > 0.0) fit_.damp_again(static_cast<Index>(soft_.size()), damping, Z, x_);
      x_.noalias() += Z * fit_.solve().head(freedom);
    }
    for (Index r = 0; r < static_cast<Index>(soft_.size()); ++r) {
      const Index i = soft_[static_cast<size_t>(r)];
      force_[i] = -rows_[i].pull * fit_.left(r);
      slack_[i] = rows_.value(i, x_) - bound(i);
    }
  }
  size_ = x_.norm();
}

void Lexicographic::factor_level(double damping, double tolerance) {
  // Householder reflections are accurate row by row only if heavy rows come first.
  const auto heavier = [&](Index a, Index b) { return rows_[a].pull > rows_[b].pull; };
  if (!std::is_sorted(soft_.begin(), soft_.end(), heavier)) std::sort(soft_.begin(), soft_.end(), heavier);
  const auto Z = basis_.null_space();
  fit_.begin(basis_.freedom());
  for (Index i : soft_) fit_.add(rows_, i, Z, bound(i) - rows_.value(i, x_));
  if (damping > 0.0) fit_.damp(damping, Z, x_);
  fit_.factor(tolerance);
}

// Slack of the soft rows and multipliers of the held ones for the level's cost.
void Lexicographic::multipliers(Index level) {
  conflict_ = false;
  scale_ = 0.0;
  strength_ = 1e-14;
  multiplier_.setZero();
  gradient_.setZero();
  if (least_norm(level)) {
    gradient_ = x_;
    scale_ = size_;
    conflict_ = size_ > 0.0;
  } else {
    const double damping = rows_.damping(level);
    for (Index i : soft_) {
      if (std::abs(slack_[i]) > tolerance(i)) conflict_ = true;
      scale_ = std::max(scale_, std::abs(force_[i]));
      rows_.accumulate(i, force_[i], gradient_);
    }
    // Directions too weak to be fitted leave a gradient that no multiplier should be read from.
    if (scale_ > 0.0)
      strength_ = std::max(fit_.noise(), 10.0 * fit_.dropped() * fit_.left_size()) / scale_;
    if (damping > 0.0) {
      gradient_ += damping * damping * x_;
      scale_ = std::max(scale_, damping * damping * size_);
      conflict_ = true;
    }
  }
  const Index first = first_free();
  if (!conflict_ || first >= basis_.rank()) return;
  projected_.head(n_) = gradient_;
  basis_.project(projected_);
  multiplier_.head(basis_.rank()) = -projected_.head(basis_.rank());
  basis_.backward(multiplier_, first);
  const double noise = std::max(1e-14, least_norm(level) ? 0.0 : fit_.noise() / scale_);
  // Rounding of the gradient, blown up by the smallest diagonal of L, is what multipliers cannot tell from zero.
  double smallest = 1.0;
  for (Index p = first; p < basis_.rank(); ++p) smallest = std::min(smallest, std::abs(basis_.factor(p, p)));
  strength_ = std::max(strength_, std::min(weakest_multiplier_, noise / smallest));
}

// The active row whose multiplier first changes sign on the way to the new ones.
Lexicographic::Choice Lexicographic::wrong_dual() const {
  Choice best;
  if (!conflict_) return best;
  Index best_row = -1;
  const auto consider = [&](Index at, bool soft, Index row, double target, double allowed) {
    const double s = side(row);
    const double wrong = -s * target;
    if (!(wrong > allowed)) return;
    const double now = std::max(0.0, s * dual_[row]);
    const double step = now / (now + wrong);
    const bool better = best.at < 0 || (careful_ ? row < best_row
                                                 : step < best.step || (step == best.step && wrong > best.wrong));
    if (better) {
      best = {at, soft, step, wrong};
      best_row = row;
    }
  };
  for (Index p = 0; p < static_cast<Index>(held_.size()); ++p) {
    const Held& h = held_[static_cast<size_t>(p)];
    if (!h.frozen) consider(p, false, h.row, multiplier_[p], strength_ * scale_);
  }
  for (Index s = 0; s < static_cast<Index>(soft_.size()); ++s) {
    const Index i = soft_[static_cast<size_t>(s)];
    if (side(i) == equality) continue;
    // A heavy row shows a wrong sign in its force, a light one in its slack.
    const double inwards = -side(i) * slack_[i];
    consider(s, true, i, force_[i], inwards > tolerance(i) ? 0.0 : strength_ * scale_);
  }
  return best;
}

void Lexicographic::drop(const Choice& choice) {
  for (size_t p = 0; p < held_.size(); ++p) {
    if (held_[p].row < 0) continue;
    double& d = dual_[held_[p].row];
    d += choice.step * (multiplier_[static_cast<Index>(p)] - d);
  }
  for (Index i : soft_) {
    double& d = dual_[i];
    d += choice.step * (force_[i] - d);
  }
  if (!choice.soft) {
    basis_.make_explicit();
    release(choice.at);
    return;
  }
  const Index row = soft_[static_cast<size_t>(choice.at)];
  soft_.erase(soft_.begin() + choice.at);
  place(row) = Place::out;
  side(row) = inside;
  dual_[row] = 0.0;
  ++count_.updates;
}

// The inactive row of this or a higher level that is violated most; sets its side. -1 if there is none.
Index Lexicographic::most_violated(Index level) {
  const Index candidates = usable(level);
  Index worst = -1;
  double most = 0.0;
  signed char which = inside;
  for (Index k = 0; k < candidates; ++k) {
    const Index i = inequalities_[static_cast<size_t>(k)];
    if (place(i) != Place::out) continue;
    const double v = rows_.value(i, x_);
    const double above = v - rows_[i].upper, below = rows_[i].lower - v;
    const double violation = std::max(above, below);
    if (violation <= most || violation <= tolerance(i)) continue;
    most = violation;
    worst = i;
    which = above > below ? upper_side : lower_side;
  }
  if (worst >= 0) side(worst) = which;
  return worst;
}

double Lexicographic::project_row(Index row) {
  projected_.head(n_) = rows_[row].inverse_norm * rows_.raw(row);
  basis_.project(projected_);
  return projected_.segment(basis_.rank(), basis_.freedom()).norm();
}

bool Lexicographic::enter(Index row, Index level) {
  if (!least_norm(level) && rows_[row].level == level) {
    soft_.push_back(row);
    place(row) = Place::soft;
    dual_[row] = 0.0;
    ++count_.updates;
    return true;
  }
  basis_.make_explicit();
  if (project_row(row) <= rank_ && !exchange(row)) {
    place(row) = Place::ignored;
    side(row) = inside;
    ++count_.ignored;
    return false;
  }
  hold_last(row);
  return true;
}

// The row is a combination of held rows: one of them, whose multiplier vanishes first, makes room.
bool Lexicographic::exchange(Index row) {
  const Index rank = basis_.rank(), first = first_free();
  multiplier_.head(rank) = projected_.head(rank);
  basis_.backward(multiplier_, first);
  const double s = side(row);
  Index best = -1;
  double least = infinity, strongest = 0.0;
  for (Index p = first; p < rank; ++p) {
    const Held& h = held_[static_cast<size_t>(p)];
    if (h.frozen) continue;
    const double share = s * multiplier_[p] * side(h.row);
    if (!(share > rank_)) continue;
    const double ratio = std::max(0.0, side(h.row) * dual_[h.row]) / share;
    const bool better = ratio < least || (ratio == least && share > strongest);
    if (better) {
      best = p;
      least = ratio;
      strongest = share;
    }
  }
  if (best < 0) return false;
  for (Index p = first; p < rank; ++p)
    if (held_[static_cast<size_t>(p)].row >= 0) dual_[held_[static_cast<size_t>(p)].row] -= s * least * multiplier_[p];
  dual_[row] = s * least;
  release(best);
  return project_row(row) > rank_;
}

}  // namespace poise
