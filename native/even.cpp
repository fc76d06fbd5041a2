// The usual last level, a posture, fitted by EvenFit.
#include <algorithm>

#include "lexicographic.hpp"

namespace poise {

bool Lexicographic::fit_evenly() {
  if (damping_ > 0.0 || !careful_ || !even_.factor(rows_, soft_, basis_)) return false;
  ++count_.fits;
  const double pull = rows_[soft_[0]].pull;
  double size = 0.0, left = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    projected_.setZero();
    for (Index i : soft_) projected_[rows_[i].column] = rows_[i].entry * (bound(i) - rows_.value(i, x_));
    size = std::max(size, projected_.norm());
    even_.step(basis_, projected_, x_);
    left = 0.0;
    for (Index i : soft_) left = std::max(left, std::abs(rows_.value(i, x_) - bound(i)));
    if (left > 1e-5 * size) break;  // else once more from here, with a far smaller right-hand side and rounding
  }
  for (Index i : soft_) {
    slack_[i] = rows_.value(i, x_) - bound(i);
    force_[i] = pull * pull * slack_[i];
  }
  fit_.set_even(basis_.freedom(), pull, pull * size, pull * left * std::sqrt(static_cast<double>(soft_.size())));
  size_ = x_.norm();
  return true;
}

}  // namespace poise
