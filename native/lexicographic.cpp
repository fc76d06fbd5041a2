#include "lexicographic.hpp"

#include <algorithm>
#include <mutex>

namespace poise {

namespace {

#ifdef EIGEN_RUNTIME_NO_MALLOC
// In builds with this macro, an allocation by Eigen during the lifetime of this object fails an assertion. Eigen's flag
// is shared by all threads, so such builds solve one program at a time.
struct MallocForbidden {
  MallocForbidden() { Eigen::internal::set_is_malloc_allowed(false); }
  ~MallocForbidden() { Eigen::internal::set_is_malloc_allowed(true); }
};
std::mutex one_at_a_time;
#endif

}  // namespace

Status Lexicographic::solve(const ProgramView& view, double budget_seconds, Index required_levels, bool warm) {
#ifdef EIGEN_RUNTIME_NO_MALLOC
  const std::lock_guard<std::mutex> lock(one_at_a_time);
#endif
  deadline_.start(budget_seconds);
  required_levels_ = required_levels;
  count_ = Counters{};
  second_pass_ = false;
  first_pass_damping_.assign(static_cast<size_t>(view.levels()) + 1, 0.0);
  prepare(view, warm);
#ifdef EIGEN_RUNTIME_NO_MALLOC
  const MallocForbidden forbidden;
#endif
  const Status status = solve_levels();
  // Nearly singular rows of one level may move x far away, and a later level move it back; the rows held in between
  // carry the rounding errors of large numbers. Solve once more, from here.
  if (status == Status::optimal && largest_norm_ > 1e3 && largest_norm_ > 2.0 * x_.norm()) {
    first_ = x_;
    first_side_ = side_;
    prepare(view, true);
    second_pass_ = true;
    if (solve_levels() != Status::optimal) {  // the first solution is complete, but less accurate
      x_ = first_;
      side_ = next_side_ = first_side_;
      count_.levels_solved = view.levels() + 1;
    }
  }
  if (!x_.allFinite()) x_ = start_;
  if (!x_.allFinite()) x_.setZero();
  return status;
}

Status Lexicographic::solve_levels() {
  largest_norm_ = 0.0;
  for (Index level = 0; level <= view_->levels() && !complete_; ++level) {
    const Outcome outcome = solve_level(level);
    if (outcome != Outcome::done) {
      stop_early(level);
      return outcome == Outcome::budget ? Status::budget : Status::iterations;
    }
    largest_norm_ = std::max(largest_norm_, x_norm_);
    first_pass_damping_[static_cast<size_t>(level)] = damping_;
    store_guess(level);
    finish(level);
    ++count_.levels_solved;
  }
  next_side_ = side_;
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
    damped_fit_.resize(m_, n_);
    const auto rows = static_cast<size_t>(m_);
    side_.assign(rows, inside);
    last_side_.assign(rows, inside);
    next_side_.assign(rows, inside);
    entered_.assign(rows, 0);
    last_entered_.assign(rows, 0);
    first_side_.assign(rows, inside);
    guesses_.resize(static_cast<size_t>(view.levels()) + 1);
    for (Guess& guess : guesses_) {
      guess.sides.assign(rows, inside);
      guess.life.assign(rows, 0);
    }
    state_.assign(rows, RowState::inactive);
    held_.reserve(static_cast<size_t>(n_) + 1);
    soft_.reserve(rows);
    batch_.reserve(rows);
    inequalities_.reserve(rows);
    for (Vector* v : {&x_, &checked_, &first_, &start_, &before_, &direction_, &step_, &gradient_, &multiplier_})
      v->setZero(n_);
    projected_.setZero(n_ + padding);
    dual_.setZero(m_);
    safe_.setZero(m_);
    tails_.setZero(m_);
    slack_.setZero(m_);
    force_.setZero(m_);
    values_.setZero(m_);
    rates_.setZero(m_);
    above_.setZero(m_);
    change_.setZero(m_);
    block_.setZero(n_ + padding, m_);
    combinations_.setZero(n_, n_);
    directions_.setZero(m_ + padding, n_);
    posture_fit_.resize(n_);
  } else if (!warm) {
    x_.setZero();
  }
  if (!same || !warm)
    for (Guess& guess : guesses_) guess.known = false;
  if (!x_.allFinite()) x_.setZero();
  checked_ = x_;
  safe_.setZero();
  moved_ = 0.0;
  view_ = &view;
  last_side_ = next_side_;
  last_entered_ = entered_;
  std::fill(side_.begin(), side_.end(), static_cast<signed char>(inside));
  std::fill(state_.begin(), state_.end(), RowState::inactive);
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
  level_ = level;
  start_ = x_;
  x_norm_ = start_norm_ = x_.norm();
  soft_.clear();
  conflict_ = false;
  damping_ = least_norm(level) ? 0.0 : rows_.damping(level);
  if (second_pass_) damping_ = first_pass_damping_[static_cast<size_t>(level)];
  const Guess& guess = guesses_[static_cast<size_t>(level)];
  const bool had_slack = guess.known && guess.conflict;
  const Index equalities = use_guess(level);
  if (least_norm(level)) {
    if (basis_.freedom() == 0 && first_free() == basis_.rank()) return Outcome::done;
    return solve_least_squares(level);
  }
  if (out_of_time()) return Outcome::budget;
  if (rows_.singularity_damping(level) > 0.0 && !second_pass_) {
    if (equalities >= n_ - frozen_count() && damping_ == 0.0) {
      // The rows determine all freedom: bounds do not make such a level singular.
      const Outcome outcome = solve_least_squares(level);
      if (outcome != Outcome::done || fit_.smallest_pivot() >= rows_.singularity_damping(level)) return outcome;
    }
    const Outcome outcome = decide_singularity_damping(level);
    if (outcome != Outcome::done) return outcome;
  }
  if (equalities <= basis_.freedom() && damping_ == 0.0 && !had_slack) {
    const Outcome outcome = solve_exactly(level);
    if (outcome != Outcome::conflict) return outcome;
  }
  return solve_least_squares(level);
}

// Starts a level with the rows that had a multiplier at this level in the last solution, and those that became active
// at this level and were active to the end. Returns the number of equalities.
Index Lexicographic::use_guess(Index level) {
  Guess& guess = guesses_[static_cast<size_t>(level)];
  const bool had_slack = guess.known && guess.conflict;
  const auto guessed = [&](Index i) -> signed char {
    const auto at = static_cast<size_t>(i);
    const bool here = rows_[i].level == level ? last_entered_[at] <= level : last_entered_[at] == level;
    if (!guess.known) return inside;
    const bool with_multiplier = had_slack && guess.sides[at] != inside;
    if (!with_multiplier && !here) return inside;
    const signed char g = with_multiplier ? guess.sides[at] : last_side_[at];
    const bool bounded = std::isfinite(g == lower_side ? rows_[i].lower : rows_[i].upper);
    return bounded && g != equality ? g : static_cast<signed char>(inside);
  };
  for (Index p = had_slack ? static_cast<Index>(held_.size()) - 1 : -1; p >= 0; --p) {
    const Held& h = held_[static_cast<size_t>(p)];
    if (!h.frozen && side(h.row) != equality && guessed(h.row) != side(h.row)) release(p);
  }
  for (Index k = 0; k < inequalities_begin_[static_cast<size_t>(level)] && basis_.freedom() > 0; ++k) {
    const Index i = inequalities_[static_cast<size_t>(k)];
    if (state(i) != RowState::inactive) continue;
    const signed char g = guessed(i);
    if (g == inside || project_row(i) <= guess_rank_) continue;
    side(i) = g;
    const int life = guess.life[static_cast<size_t>(i)];
    hold_projected_row(i);
    guess.life[static_cast<size_t>(i)] = life - 1;
  }
  soft_.clear();
  if (least_norm(level)) return 0;
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
    if (rows_[i].kind != Kind::equality) continue;
    side(i) = equality;
    soft_.push_back(i);
  }
  const auto equalities = static_cast<Index>(soft_.size());
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
    if (rows_[i].kind != Kind::inequality) continue;
    side(i) = guessed(i);
    if (side(i) == inside) continue;
    entered_[static_cast<size_t>(i)] = level;
    soft_.push_back(i);
  }
  for (Index i : soft_) state(i) = RowState::soft;
  return equalities;
}

// Stores the rows that have a multiplier at a level, for the next solve. Nothing tells whether the others are needed:
// after some solves they are left out and enter again if they are.
void Lexicographic::store_guess(Index level) {
  Guess& guess = guesses_[static_cast<size_t>(level)];
  guess.known = true;
  guess.conflict = conflict_;
  if (!conflict_) return;
  guess.sides = side_;
  for (size_t p = 0; p < held_.size(); ++p) {
    const bool has_multiplier = std::abs(multiplier_[static_cast<Index>(p)]) > strength_ * scale_;
    const Index row = held_[p].row;
    if (row >= 0 && !has_multiplier && guess.life[static_cast<size_t>(row)] <= 0)
      guess.sides[static_cast<size_t>(row)] = inside;
  }
}

// Number of held rows that are fixed.
Index Lexicographic::frozen_count() const {
  return std::count_if(held_.begin(), held_.end(), [](const Held& held) { return held.frozen; });
}

// Holds every soft row exactly; reports a conflict if the rows are dependent and cannot all be satisfied.
Lexicographic::Outcome Lexicographic::solve_exactly(Index level) {
  Index split = 0;
  while (split < static_cast<Index>(soft_.size()) && side(soft_[static_cast<size_t>(split)]) == equality)
    ++split;
  conflict_ = false;
  if (!soft_.empty()) ++count_.factorizations;
  const bool separable = hold_rows(0, split);
  hold_rows(split, static_cast<Index>(soft_.size()));
  Outcome outcome = Outcome::conflict;
  while (separable) {
    if (out_of_time()) return Outcome::budget;
    ++count_.iterations;
    restart_if_far();
    move_to_targets();
    bool consistent = true;
    for (Index i : soft_) {
      if (state(i) != RowState::soft) continue;
      if (side(i) != equality) {  // a guessed row that depends on others: it enters again if it is violated
        state(i) = RowState::inactive;
        side(i) = inside;
      } else if (std::abs(rows_.value(i, x_) - rows_[i].lower) > tolerance(i)) {
        consistent = false;
      }
    }
    if (!consistent) break;
    const Index row = most_violated(level);
    if (row < 0) {
      for (Index i : soft_)
        if (state(i) == RowState::soft) state(i) = RowState::fixed;
      outcome = Outcome::done;
      break;
    }
    if (project_row(row) <= rank_) {
      side(row) = inside;
      break;
    }
    hold_projected_row(row);
  }
  if (outcome == Outcome::done) return outcome;
  // Conflict: the rows of this level leave the decomposition and become soft.
  for (Index p = static_cast<Index>(held_.size()) - 1; p >= 0; --p) {
    const Index row = held_[static_cast<size_t>(p)].row;
    if (row < 0 || rows_[row].level != level) continue;
    basis_.remove(p);
    held_.erase(held_.begin() + p);
    state(row) = RowState::soft;
  }
  soft_.clear();
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i)
    if (state(i) == RowState::soft) soft_.push_back(i);
  return outcome;
}

// After a level: rows with multipliers are frozen, the others stay held.
void Lexicographic::finish(Index level) {
  if (count_.ignored > 0)
    for (RowState& p : state_)
      if (p == RowState::ignored) p = RowState::inactive;
  if (soft_.empty() || least_norm(level)) {
    complete_ = basis_.freedom() == 0 && first_free() == basis_.rank();
    return;
  }
  const bool settled = std::none_of(soft_.begin(), soft_.end(), [&](Index i) { return state(i) == RowState::soft; });
  if (settled) {
    // The remaining rows are satisfied because others are.
    soft_.erase(std::remove_if(soft_.begin(), soft_.end(), [&](Index i) { return state(i) != RowState::fixed; }),
                soft_.end());
    if (!soft_.empty() && first_free() < basis_.rank()) {
      factor_level(0.0, rank_);
      if (depends_on_releasable_rows()) freeze_soft_rows_first();
    }
  } else {
    freeze_fit();
  }
  complete_ = complete_ || (basis_.freedom() == 0 && first_free() == basis_.rank());
}

// After a least-squares level: rows with multipliers keep their values for all later levels, through the directions in
// which the fit moved x (computing the rank again could leave one of them unprotected); rows without multipliers are
// only held.
void Lexicographic::freeze_fit() {
  if (conflict_ && damping_ > 0.0) {
    // Damping moves x towards zero, also against held rows; this is not passed on to lower levels. They must not change
    // the values of the rows of this level: the directions below fix these values, together with all held rows if the
    // rows are dependent.
    factor_level(0.0, 0.1 * rank_);
  } else if (conflict_) {
    for (size_t p = 0; p < held_.size(); ++p)
      if (std::abs(multiplier_[static_cast<Index>(p)]) > strength_ * scale_) held_[p].frozen = true;
  }
  const auto middle =
      std::partition(soft_.begin(), soft_.end(), [&](Index i) { return side(i) == equality || has_multiplier(i); });
  const bool refit = middle != soft_.end() || damping_ > 0.0;
  for (auto weak = middle; weak != soft_.end(); ++weak) {
    if (project_row(*weak) > rank_) {
      hold_projected_row(*weak);
    } else {
      state(*weak) = RowState::inactive;
      side(*weak) = inside;
    }
  }
  soft_.erase(middle, soft_.end());
  for (Index i : soft_) state(i) = RowState::fixed;
  // With fewer rows, a direction of the fit may seem weaker than before; it is kept with a smaller threshold.
  if (refit) factor_level(0.0, 0.1 * rank_);
  if (fit_.rank() == basis_.freedom() && first_free() == basis_.rank()) {
    complete_ = true;
    return;
  }
  if (fit_.is_other_fit()) factor_level(0.0, rank_);
  if (fit_.rank() < static_cast<Index>(soft_.size()) && depends_on_releasable_rows()) {
    freeze_soft_rows_first();
  } else {
    hold_directions();
  }
}

double Lexicographic::level_cost(Index level, const Vector& x) const {
  if (least_norm(level)) return x.squaredNorm();
  double cost = 0.0;
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
    if (rows_[i].kind == Kind::free) continue;
    const double v = rows_.value(i, x);
    const double s = rows_[i].root_weight * std::max({0.0, v - rows_[i].upper, rows_[i].lower - v});
    cost += s * s;
  }
  return cost;
}

}  // namespace poise
