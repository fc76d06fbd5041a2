// The rows held exactly, and x on them.
#include <algorithm>

#include "lexicographic.hpp"

namespace poise {

// Appends the soft rows [begin, end) to the decomposition, largest independent part first. False if a row is
// nearly, but not quite, a combination of the others: holding the rest exactly would then be unstable.
bool Lexicographic::hold(Index begin, Index end) {
  const Index rows = end - begin;
  if (rows <= 0) return true;
  batch_.assign(soft_.begin() + begin, soft_.begin() + end);
  for (Index j = 0; j < rows; ++j) {
    const Index i = batch_[static_cast<size_t>(j)];
    rows_.copy_to(i, block_.col(j).head(n_));
  }
  basis_.project_all(block_, rows);
  const auto tail = [&](Index c) { return block_.col(c).segment(basis_.rank(), basis_.freedom()).squaredNorm(); };
  for (Index c = 0; c < rows; ++c) tails_[c] = tail(c);
  for (Index j = 0; j < rows && basis_.freedom() > 0; ++j) {
    Index best = j;
    for (Index c = j + 1; c < rows; ++c)
      if (tails_[c] > tails_[best]) best = c;
    const double largest = tail(best);
    if (!(largest > rank_ * rank_)) return !(largest > rounding_ * rounding_);
    if (best != j) {
      block_.col(j).swap(block_.col(best));
      std::swap(tails_[j], tails_[best]);
      std::swap(batch_[static_cast<size_t>(j)], batch_[static_cast<size_t>(best)]);
    }
    const Index row = batch_[static_cast<size_t>(j)];
    basis_.append(block_.col(j));
    basis_.apply_last(block_, j + 1, rows);
    for (Index c = j + 1; c < rows; ++c) {  // what the new row took from the others; anew where little is left
      const double before = tails_[c], taken = block_(basis_.rank() - 1, c);
      tails_[c] -= taken * taken;
      if (tails_[c] < 1e-3 * before) tails_[c] = tail(c);
    }
    held_.push_back({row, bound(row), side(row) == equality});
    place(row) = Place::held;
  }
  return true;
}

// Freezes the combinations of soft rows that span the directions of the fit, one after the other.
void Lexicographic::hold_directions() {
  const Index rows = static_cast<Index>(soft_.size()), rank = fit_.rank(), begin = combined_;
  fit_.directions(directions_);
  for (Index d = 0; d < rank; ++d) {
    gradient_.setZero();
    for (Index r = 0; r < rows; ++r) {
      const Index i = soft_[static_cast<size_t>(r)];
      rows_.accumulate(i, rows_[i].pull * directions_(r, d), gradient_);
    }
    const double norm = gradient_.norm();
    if (!(norm > 0.0)) continue;
    combinations_.col(combined_) = gradient_ / norm;
    block_.col(combined_ - begin).head(n_) = combinations_.col(combined_);
    ++combined_;
  }
  const Index columns = combined_ - begin;
  basis_.project_all(block_, columns);
  for (Index c = 0; c < columns; ++c) {
    basis_.append(block_.col(c));
    basis_.apply_last(block_, c + 1, columns);
    held_.push_back({-1, combinations_.col(begin + c).dot(x_), true, begin + c});
  }
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
      if (std::abs(step_[p]) < (h.frozen ? 4e-15 : 1e-15) * (std::abs(h.target) + size_)) step_[p] = 0.0;
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

// Whether held rows are off their targets by more than rounding at x: a step from far away carries its own.
bool Lexicographic::drifted() const {
  return std::any_of(held_.begin(), held_.end(), [&](const Held& h) {
    return std::abs(h.target - value(h)) > 1e-13 * (1.0 + std::abs(h.target) + size_);
  });
}

// An active set that was tried and dropped may have sent x far away along directions that nothing holds now: start
// again from the optimum of the level above.
bool Lexicographic::come_back() {
  const bool far = size_ > 1e3 * (1.0 + start_size_);
  if (far) x_ = start_;
  return far;
}

double Lexicographic::project_row(Index row) {
  rows_.copy_to(row, projected_.head(n_));
  basis_.project(projected_);
  return projected_.segment(basis_.rank(), basis_.freedom()).norm();
}

// Sees to it that a settled row keeps its value. One that is a combination of held rows does so only as long as these are
// held: where some of them are free to leave, the one with the largest part in it makes room, and is out, at its bound,
// like any other row that is not violated.
void Lexicographic::protect(Index row) {
  const Index first = first_free();
  if (first == basis_.rank()) return;
  project_row(row);
  multiplier_.head(basis_.rank()) = projected_.head(basis_.rank());
  basis_.backward(multiplier_, first);
  Index leaving = -1;
  double largest = rank_;
  for (Index p = first; p < basis_.rank(); ++p) {
    if (held_[static_cast<size_t>(p)].frozen || std::abs(multiplier_[p]) <= largest) continue;
    largest = std::abs(multiplier_[p]);
    leaving = p;
  }
  if (leaving < 0) return;
  const Index other = held_[static_cast<size_t>(leaving)].row;
  const signed char its_side = side(other);
  basis_.make_explicit();
  release(leaving);
  if (project_row(row) > rank_) {
    basis_.append(projected_);
    held_.push_back({row, rows_.value(row, x_), true});
  } else {  // too little of it is independent: better hold the other
    side(other) = its_side;
    project_row(other);
    hold_last(other);
    held_.back().frozen = true;
  }
}


}  // namespace poise
