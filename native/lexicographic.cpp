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
                std::chrono::nanoseconds(static_cast<long long>(std::clamp(budget_seconds, 0.0, 1e9) * 1e9));
  count_ = Counters{};
  again_ = false;
  decided_.assign(static_cast<size_t>(view.levels()) + 1, 0.0);
  prepare(view, warm);
#ifdef EIGEN_RUNTIME_NO_MALLOC
  const MallocForbidden forbidden;
#endif
  const Status status = solve_levels();
  // Near-singular rows of one level may send x far away and a later one call it back; what was settled out there
  // carries the rounding of large numbers. Once more, from here.
  if (status == Status::optimal && farthest_ > 1e3 && farthest_ > 2.0 * x_.norm()) {
    first_ = x_;
    prepare(view, true);
    again_ = true;
    if (solve_levels() != Status::optimal) {  // the first answer is complete, if less accurate
      x_ = first_;
      side_ = guess_;
      count_.levels_solved = view.levels() + 1;
    }
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
    decided_[static_cast<size_t>(level)] = damping_;
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
    for (Vector* v : {&x_, &first_, &start_, &before_, &direction_, &step_, &gradient_, &multiplier_}) v->setZero(n_);
    projected_.setZero(n_ + padding);
    dual_.setZero(m_);
    tails_.setZero(m_);
    slack_.setZero(m_);
    force_.setZero(m_);
    values_.setZero(m_);
    rates_.setZero(m_);
    block_.setZero(n_ + padding, m_);
    combinations_.setZero(n_, n_);
    directions_.setZero(m_ + padding, n_);
    even_.resize(n_);
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
  careful_ = least_norm(level) || rows_.caution(level) == 0.0;
  damping_ = least_norm(level) ? 0.0 : rows_.damping(level);
  if (again_) {  // the second time it is damped as the first
    careful_ = true;
    damping_ = decided_[static_cast<size_t>(level)];
  }
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
  if (equalities <= basis_.freedom() && damping_ == 0.0) {
    const Outcome outcome = settle(level);
    if (outcome != Outcome::conflict) return outcome;
  }
  return compromise(level);
}

// Whether a row of the level that was just held is closer to the rows before it than the level's caution allows; the
// level is then damped by what is missing.
bool Lexicographic::nearly_singular(Index level) {
  if (careful_) return false;
  double weakest = infinity;
  for (size_t p = held_.size(); p-- > 0;) {
    const Index row = held_[p].row;
    if (row < 0 || rows_[row].level != level) break;
    const auto at = static_cast<Index>(p);
    weakest = std::min(weakest, std::abs(basis_.factor(at, at)) * rows_[row].pull);
  }
  return be_careful(level, weakest);
}

// Holds every soft row exactly; conflict as soon as the rows are dependent and cannot all hold.
Lexicographic::Outcome Lexicographic::settle(Index level) {
  Index split = 0;
  while (split < static_cast<Index>(soft_.size()) && side(soft_[static_cast<size_t>(split)]) == equality)
    ++split;
  if (!soft_.empty()) ++count_.factorizations;
  const bool separable = hold(0, split) && !nearly_singular(level);
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
    const double apart = project_row(row);
    if (apart <= rank_) {
      side(row) = inside;
      break;
    }
    hold_last(row);
    if (be_careful(level, apart)) break;  // the bound all but takes the freedom that the level needs
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
  if (settled) {
    // What is left are the rows that hold because others do.
    soft_.erase(std::remove_if(soft_.begin(), soft_.end(), [&](Index i) { return place(i) != Place::fixed; }),
                soft_.end());
    if (!soft_.empty() && first_free() < basis_.rank()) {
      factor_level(0.0, rank_);
      if (leans_on_weak()) rebase();
    }
  } else {
    freeze_fit();
  }
  complete_ = complete_ || (basis_.freedom() == 0 && first_free() == basis_.rank());
}

// After a compromise: rows with a multiplier keep their values for good, through the very directions that the fit
// moved in (deciding the rank anew could leave one of them unprotected); rows without one are only held.
void Lexicographic::freeze_fit() {
  if (conflict_ && damping_ > 0.0) {
    // Damping pulls x towards zero, against held rows as well; that is not passed on to lower levels. What they must
    // not change are the values of this level's rows: the directions below fix them, together with all held rows where
    // those stand in the way of some.
    factor_level(0.0, 0.1 * rank_);
    if (fit_.rank() < static_cast<Index>(soft_.size()))
      for (Held& held : held_) held.frozen = true;
  } else if (conflict_) {
    for (size_t p = 0; p < held_.size(); ++p)
      if (std::abs(multiplier_[static_cast<Index>(p)]) > strength_ * scale_) held_[p].frozen = true;
  }
  const auto middle =
      std::partition(soft_.begin(), soft_.end(), [&](Index i) { return side(i) == equality || strong(i); });
  const bool refit = middle != soft_.end() || damping_ > 0.0;
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
  if (fit_.even()) factor_level(0.0, rank_);
  if (fit_.rank() < static_cast<Index>(soft_.size()) && leans_on_weak()) {
    rebase();
  } else {
    hold_directions();
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

}  // namespace poise
