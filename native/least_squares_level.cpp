// A level whose rows conflict: weighted least squares with a dual active-set method.
#include <algorithm>

#include "lexicographic.hpp"

namespace poise {

// Solves a level with conflicts. The dual active-set method needs one iteration if the guessed active set is right and
// a few if it is nearly right. Otherwise it may take hundreds: its points are minimisers without the rows that are not
// active yet, far away if the level is nearly singular. Then the primal method, which never leaves the feasible points,
// finds an active set, and the dual one proves or corrects it.
Lexicographic::Outcome Lexicographic::solve_least_squares(Index level) {
  ++count_.factorizations;
  const Index problem_size = inequalities_up_to(level) + n_;
  Outcome outcome = solve_dual(level, damping_ > 0.0 ? first_damped_iterations_ : first_dual_iterations_);
  if (outcome != Outcome::conflict) return outcome;
  outcome = descend(level, 50 + problem_size);
  if (outcome == Outcome::budget) return outcome;
  outcome = solve_dual(level, 50 + 3 * problem_size);
  if (outcome != Outcome::conflict) return outcome;
  // Each method may cycle where multipliers are as small as rounding errors: start again without a guess.
  for (Index p = static_cast<Index>(held_.size()) - 1; p >= 0; --p)
    if (!held_[static_cast<size_t>(p)].frozen) release(p);
  x_ = start_;
  outcome = solve_dual(level, 50 + 3 * problem_size);
  if (outcome != Outcome::conflict) return outcome;
  return descend(level, 200 + 20 * problem_size);
}

// Dual active-set method, for a number of iterations: fast, but may cycle if multipliers are as small as rounding
// errors. Outcome::conflict: not finished.
Lexicographic::Outcome Lexicographic::solve_dual(Index level, Index limit) {
  dual_.setZero();
  for (RowState& p : state_)
    if (p == RowState::ignored) p = RowState::inactive;
  bool guessing = true;  // no row has entered yet
  for (Index iteration = 0; iteration < limit; ++iteration) {
    if (out_of_time()) return Outcome::budget;
    ++count_.iterations;
    const bool back = restart_if_far();
    move_to_targets();
    fit_level(level);
    if (back) {
      move_to_targets();
      fit_level(level);
    }
    for (int polish = 0; polish < 2 && off_target(); ++polish) {
      move_to_targets();
      fit_level(level);
    }
    multipliers(level);
    if (guessing && drop_wrong_guesses()) continue;
    guessing = false;
    const Removal removal = wrong_multiplier(false);
    if (removal.at >= 0) {
      drop(removal);
      continue;
    }
    for (size_t p = 0; p < held_.size(); ++p)
      if (held_[p].row >= 0) dual_[held_[p].row] = multiplier_[static_cast<Index>(p)];
    for (Index i : soft_) dual_[i] = conflict_ ? force_[i] : 0.0;
    const Index row = most_violated(level);
    if (row < 0) return Outcome::done;
    if (!enter(row, level)) break;
  }
  return Outcome::conflict;
}

void Lexicographic::fit_level(Index level) {
  const Index freedom = basis_.freedom();
  if (!least_norm(level) && (fit_damped() || fit_posture())) return;
  ++count_.fits;
  if (least_norm(level)) {
    if (freedom > 0) {
      const auto Z = basis_.null_space();
      step_.head(freedom).noalias() = Z.transpose() * x_;
      x_.noalias() -= Z * step_.head(freedom);
    }
  } else {
    factor_level(damping_, rank_);
    const double damping = damping_;
    const auto Z = basis_.null_space();
    x_.noalias() += Z * fit_.solve().head(freedom);
    double strongest = 0.0;
    for (Index r = 0; r < static_cast<Index>(soft_.size()); ++r)
      strongest = std::max(strongest, rows_[soft_[static_cast<size_t>(r)]].root_weight * std::abs(fit_.residual(r)));
    // If residuals or the weight of a row are small compared with the right-hand side, fit again from here: the
    // right-hand side and its rounding error are much smaller.
    if (strongest < 1e-5 * fit_.size() || fit_.weight_ratio() < 5e-3) {
      for (Index r = 0; r < static_cast<Index>(soft_.size()); ++r) {
        const Index i = soft_[static_cast<size_t>(r)];
        fit_.set_right_side(r, rows_[i].root_weight * (bound(i) - rows_.value(i, x_)));
      }
      if (damping > 0.0) fit_.update_damping(static_cast<Index>(soft_.size()), damping, Z, x_);
      x_.noalias() += Z * fit_.solve().head(freedom);
    }
    for (Index r = 0; r < static_cast<Index>(soft_.size()); ++r) {
      const Index i = soft_[static_cast<size_t>(r)];
      force_[i] = -rows_[i].root_weight * fit_.residual(r);
      slack_[i] = rows_.value(i, x_) - bound(i);
    }
  }
  x_norm_ = x_.norm();
}

// Fits a posture level by PostureFit. Returns false if the level is not one.
bool Lexicographic::fit_posture() {
  if (damping_ > 0.0 || !posture_fit_.factor(rows_, soft_, basis_)) return false;
  ++count_.fits;
  const double root_weight = rows_[soft_[0]].root_weight;
  double size = 0.0, left = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    projected_.setZero();
    for (Index i : soft_) projected_[rows_[i].column] = rows_[i].entry * (bound(i) - rows_.value(i, x_));
    size = std::max(size, projected_.norm());
    posture_fit_.step(basis_, projected_, x_);
    left = 0.0;
    for (Index i : soft_) left = std::max(left, std::abs(rows_.value(i, x_) - bound(i)));
    if (left > 1e-5 * size) break;  // otherwise fit again: the right-hand side is much smaller
  }
  for (Index i : soft_) {
    slack_[i] = rows_.value(i, x_) - bound(i);
    force_[i] = root_weight * root_weight * slack_[i];
  }
  fit_.set_other_fit(basis_.freedom(), root_weight, root_weight * size,
                       root_weight * left * std::sqrt(static_cast<double>(soft_.size())));
  x_norm_ = x_.norm();
  return true;
}

// Fits a damped level of few rows by DampedFit. Returns false if it is not one.
bool Lexicographic::fit_damped() {
  if (damping_ == 0.0 || static_cast<Index>(soft_.size()) > basis_.freedom()) return false;
  ++count_.fits;
  damped_fit_.solve(rows_, soft_, basis_, damping_, [&](Index i) { return bound(i); }, x_);
  for (Index r = 0; r < static_cast<Index>(soft_.size()); ++r) {
    const Index i = soft_[static_cast<size_t>(r)];
    force_[i] = -rows_[i].root_weight * damped_fit_.residual(r);
    slack_[i] = rows_.value(i, x_) - bound(i);
  }
  fit_.set_other_fit(basis_.freedom(), 1.0, damped_fit_.size(), damped_fit_.residual_size());
  x_norm_ = x_.norm();
  return true;
}

// Decides the damping of a level from the program alone and not from the rows that happen to be held: the level is
// solved with full damping, which has one solution. The rows that are held there have multipliers and belong to the
// program. If the rows of the level have only a small part that is independent of them, the level is nearly singular,
// or bounds block nearly all the freedom that it needs.
Lexicographic::Outcome Lexicographic::decide_singularity_damping(Index level) {
  const double damping = damping_, full = rows_.singularity_damping(level);
  damping_ = std::max(damping, full);
  const Outcome outcome = solve_least_squares(level);
  damping_ = damping;
  if (outcome != Outcome::done) return outcome;
  if (static_cast<Index>(soft_.size()) > basis_.freedom()) damped_fit_.project(rows_, soft_, basis_);
  const double smallest = damped_fit_.smallest_part(rows_, soft_, rank_);
  if (smallest < full) {
    if (count_.first_damped_level < 0) count_.first_damped_level = level;
    damping_ = std::max(damping, std::sqrt(full * full - smallest * smallest));
  }
  std::sort(soft_.begin(), soft_.end(), [&](Index a, Index b) {
    const bool first = side(a) == equality, second = side(b) == equality;
    return first != second ? first : a < b;
  });
  return Outcome::done;
}

void Lexicographic::factor_level(double damping, double tolerance) {
  // Householder reflections are accurate row by row only if rows of large weight come first.
  const auto heavier = [&](Index a, Index b) { return rows_[a].root_weight > rows_[b].root_weight; };
  if (!std::is_sorted(soft_.begin(), soft_.end(), heavier)) std::sort(soft_.begin(), soft_.end(), heavier);
  const auto Z = basis_.null_space();
  fit_.begin(basis_.freedom());
  for (Index i : soft_) fit_.add(rows_, i, Z, bound(i) - rows_.value(i, x_));
  if (damping > 0.0) fit_.damp(damping, Z, x_);
  fit_.factor(tolerance);
}

// Computes the multipliers of the held rows for the cost of the level.
void Lexicographic::multipliers(Index level) {
  conflict_ = false;
  scale_ = 0.0;
  strength_ = 1e-14;
  multiplier_.setZero();
  gradient_.setZero();
  if (least_norm(level)) {
    gradient_ = x_;
    scale_ = x_norm_;
    conflict_ = x_norm_ > 0.0;
  } else {
    const double damping = damping_;
    for (Index i : soft_) {
      if (std::abs(slack_[i]) > tolerance(i)) conflict_ = true;
      scale_ = std::max(scale_, std::abs(force_[i]));
      rows_.accumulate(i, force_[i], gradient_);
    }
    // Directions that are too weak to be fitted leave a gradient that gives no valid multipliers.
    if (scale_ > 0.0)
      strength_ = std::max(fit_.noise(), 10.0 * fit_.dropped() * fit_.residual_size()) / scale_;
    if (damping > 0.0) {
      gradient_ += damping * damping * x_;
      scale_ = std::max(scale_, damping * damping * x_norm_);
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
  // Smallest significant multiplier: rounding error of the gradient, amplified by the smallest diagonal of L.
  double smallest = 1.0;
  for (Index p = first; p < basis_.rank(); ++p) smallest = std::min(smallest, std::abs(basis_.factor(p, p)));
  strength_ = std::max(strength_, std::min(smallest_multiplier_, noise / smallest));
}

// The active row whose multiplier changes sign first on the way to the new multipliers.
Lexicographic::Removal Lexicographic::wrong_multiplier(bool smallest_index) const {
  Removal best;
  if (!conflict_) return best;
  Index best_row = -1;
  const auto consider = [&](Index at, bool soft, Index row, double target, double allowed) {
    const double s = side(row);
    const double wrong = -s * target;
    if (!(wrong > allowed)) return;
    const double now = std::max(0.0, s * dual_[row]);
    const double step = now / (now + wrong);
    const bool better = best.at < 0 || (smallest_index ? row < best_row
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
    consider(s, true, i, force_[i], allowed_force(i));
  }
  return best;
}

// Drops all guessed rows whose multipliers have the wrong sign. Returns whether there are any.
bool Lexicographic::drop_wrong_guesses() {
  if (!conflict_) return false;
  const size_t before = held_.size() + soft_.size();
  for (Index p = static_cast<Index>(held_.size()) - 1; p >= 0; --p) {
    const Held& h = held_[static_cast<size_t>(p)];
    if (h.frozen || !(-side(h.row) * multiplier_[p] > strength_ * scale_)) continue;
    basis_.make_explicit();
    release(p);
  }
  for (Index s = static_cast<Index>(soft_.size()) - 1; s >= 0; --s) {
    const Index i = soft_[static_cast<size_t>(s)];
    if (side(i) != equality && has_wrong_force(i)) drop({s, true, 0.0, 0.0});
  }
  return held_.size() + soft_.size() < before;
}

void Lexicographic::drop(const Removal& removal) {
  for (size_t p = 0; p < held_.size(); ++p) {
    if (held_[p].row < 0) continue;
    double& d = dual_[held_[p].row];
    d += removal.step * (multiplier_[static_cast<Index>(p)] - d);
  }
  for (Index i : soft_) {
    double& d = dual_[i];
    d += removal.step * (force_[i] - d);
  }
  if (!removal.soft) {
    basis_.make_explicit();
    release(removal.at);
    return;
  }
  const Index row = soft_[static_cast<size_t>(removal.at)];
  soft_.erase(soft_.begin() + removal.at);
  state(row) = RowState::inactive;
  side(row) = inside;
  dual_[row] = 0.0;
  ++count_.updates;
}

// The most violated inactive row of this level or the levels above; sets its side. -1: none.
Index Lexicographic::most_violated(Index level) {
  const Index candidates = inequalities_up_to(level);
  moved_ += (x_ - checked_).norm();
  checked_ = x_;
  if (moved_ > 1e4) {  // rounding errors of the length must stay below the tolerance of rows
    moved_ = 0.0;
    safe_.setZero();
  }
  Index worst = -1;
  double most = 0.0;
  signed char which = inside;
  for (Index k = 0; k < candidates; ++k) {
    const Index i = inequalities_[static_cast<size_t>(k)];
    if (state(i) != RowState::inactive || moved_ < safe_[k]) continue;
    const double v = rows_.value(i, x_);
    const double above = v - rows_[i].upper, below = rows_[i].lower - v;
    const double violation = std::max(above, below);
    safe_[k] = moved_ - violation;  // the value of a unit row changes by no more than x moves
    if (violation <= most || violation <= tolerance(i)) continue;
    most = violation;
    worst = i;
    which = above > below ? upper_side : lower_side;
  }
  if (worst >= 0) side(worst) = which;
  return worst;
}

bool Lexicographic::enter(Index row, Index level) {
  if (!least_norm(level) && rows_[row].level == level) {
    soft_.push_back(row);
    state(row) = RowState::soft;
    entered_[static_cast<size_t>(row)] = level;
    dual_[row] = 0.0;
    ++count_.updates;
    return true;
  }
  basis_.make_explicit();
  if (project_row(row) <= rank_ && !exchange(row)) {
    state(row) = RowState::ignored;
    side(row) = inside;
    ++count_.ignored;
    return false;
  }
  hold_projected_row(row);
  return true;
}

// The row is a combination of held rows: the held row whose multiplier vanishes first is replaced.
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
