// A level in conflict: weighted least squares under a dual active set.
#include <algorithm>

#include "lexicographic.hpp"

namespace poise {

// Dual active set: fast, but free to cycle where multipliers drown in rounding; then the descent takes over.
Lexicographic::Outcome Lexicographic::compromise(Index level) {
  dual_.setZero();
  ++count_.factorizations;
  if (!careful_) weigh_up(level);
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
    const Choice choice = wrong_dual(false);
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

void Lexicographic::fit_level(Index level) {
  const Index freedom = basis_.freedom();
  if (!least_norm(level) && fit_evenly()) return;
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

// Whether the level is nearly singular, from the rows that it cannot help: equalities, and inequalities that are violated
// where the level begins. The guess of its active set has no say, so that the answer does not depend on history.
void Lexicographic::weigh_up(Index level) {
  batch_.assign(soft_.begin(), soft_.end());
  soft_.clear();
  for (Index i = rows_.begin(level); i < rows_.end(level); ++i) {
    const double value = rows_[i].kind == Kind::inequality ? rows_.value(i, start_) : 0.0;
    const bool violated = rows_[i].kind == Kind::inequality &&
                          (value > rows_[i].upper + tolerance(i) || value < rows_[i].lower - tolerance(i));
    if (rows_[i].kind == Kind::equality || violated) soft_.push_back(i);
  }
  if (!soft_.empty()) {
    factor_level(0.0, rank_);
    be_careful(level, fit_.weakest_direction());
  }
  careful_ = true;
  soft_.assign(batch_.begin(), batch_.end());
}

// A level whose weakest direction is weaker than its caution is damped by what is missing; decided once per level, so
// that what it minimises does not change while its active set is sought.
bool Lexicographic::be_careful(Index level, double weakest) {
  const double caution = rows_.caution(level);
  if (careful_ || !(caution > weakest)) return false;
  careful_ = true;
  if (count_.careful < 0) count_.careful = level;
  damping_ = std::max(damping_, std::sqrt(caution * caution - weakest * weakest));
  return true;
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
    const double damping = damping_;
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
Lexicographic::Choice Lexicographic::wrong_dual(bool smallest_index) const {
  Choice best;
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
