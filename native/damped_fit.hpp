// Damped fit of rows that are no more than the freedom that is left:
//
//   minimise |P u - b|^2 + d^2 |u|^2,   P = diag(root_weight) C Z,   x = (part of x in the held rows) + Z u
//
// With the residual b - P u = d v it is the shortest solution of  [P  d I] [u; v] = b. One QR decomposition of the
// transpose, (freedom + rows) x rows, gives u and v without cancellation; the general fit would append a row for each
// column of Z. The solution is unique: it does not depend on the point from which it is computed.
#pragma once

#include <algorithm>
#include <vector>

#include "basis.hpp"

namespace poise {

class DampedFit {
 public:
  void resize(Index rows, Index n) {
    P_.setZero(n + padding, rows);
    step_.setZero(n + padding);
    tails_.setZero(rows);
    order_.reserve(static_cast<size_t>(rows));
    M_.setZero(2 * n + padding, n);
    solution_.setZero(2 * n + padding);
    for (Vector* v : {&tau_, &diagonal_, &b_}) v->setZero(n);
  }

  // Moves x to the solution for the rows `chosen`; bound(i) is the wanted value of row i.
  template <class Bound>
  void solve(const Rows& rows, const std::vector<Index>& chosen, Basis& basis, double damping, Bound&& bound,
             Vector& x) {
    project(rows, chosen, basis);
    damping_ = damping;
    // Take the part in the free directions out of x.
    step_.head(x.size()) = -x;
    basis.project(step_);
    basis.move_free(x, step_);
    for (Index r = 0; r < count_; ++r) {
      const Index i = chosen[static_cast<size_t>(r)];
      M_.col(r).head(freedom_) = rows[i].root_weight * P_.col(r).segment(first_, freedom_);
      M_.col(r).segment(freedom_, count_ + padding).setZero();
      M_(freedom_ + r, r) = damping;
      b_[r] = rows[i].root_weight * (bound(i) - rows.value(i, x));
    }
    // Column k has no entries below row freedom_ + k.
    for (Index k = 0; k < count_; ++k) {
      diagonal_[k] = make_reflector(M_.col(k).segment(k, freedom_ + 1), tau_[k]);
      if (k + 1 < count_)
        reflect(&M_(k, k), freedom_ + 1, tau_[k], &M_(k, k + 1), M_.outerStride(), count_ - k - 1);
    }
    solution_.segment(count_, freedom_ + padding).setZero();
    for (Index k = 0; k < count_; ++k)
      solution_[k] = (b_[k] - M_.col(k).head(k).dot(solution_.head(k))) / diagonal_[k];
    for (Index k = count_ - 1; k >= 0; --k) reflect(&M_(k, k), freedom_ + 1, tau_[k], &solution_[k], 0, 1);
    step_.segment(first_, freedom_) = solution_.head(freedom_);
    basis.move_free(x, step_);
  }

  // Residual of row r times its root weight: b - P u.
  double residual(Index r) const { return damping_ * solution_[freedom_ + r]; }
  double size() const { return b_.head(count_).norm(); }
  double residual_size() const { return damping_ * solution_.segment(freedom_, count_).norm(); }

  // The smallest part of a row of P that is independent of the rows with larger parts, which are taken first. Rows that
  // depend on others, with a unit row whose part is below the tolerance, are left out. For the rows of project().
  double smallest_part(const Rows& rows, const std::vector<Index>& chosen, double tolerance) {
    order_.assign(chosen.begin(), chosen.end());
    for (Index r = 0; r < count_; ++r) {
      P_.col(r).segment(first_, freedom_) *= rows[order_[static_cast<size_t>(r)]].root_weight;
      tails_[r] = P_.col(r).segment(first_, freedom_).squaredNorm();
    }
    double smallest = infinity;
    for (Index k = 0, rank = 0; k < count_ && rank < freedom_; ++k) {
      Index best = k;
      for (Index r = k + 1; r < count_; ++r)
        if (tails_[r] > tails_[best]) best = r;
      P_.col(k).swap(P_.col(best));
      std::swap(tails_[k], tails_[best]);
      std::swap(order_[static_cast<size_t>(k)], order_[static_cast<size_t>(best)]);
      auto pivot = P_.col(k).segment(first_, freedom_);
      const double part = pivot.norm();
      if (part <= tolerance * rows[order_[static_cast<size_t>(k)]].root_weight) continue;
      smallest = std::min(smallest, part);
      pivot /= part;
      ++rank;
      for (Index r = k + 1; r < count_; ++r) {
        auto column = P_.col(r).segment(first_, freedom_);
        column -= pivot.dot(column) * pivot;
        tails_[r] = column.squaredNorm();
      }
    }
    return smallest;
  }

  // Columns of P_: the unit rows in the coordinates of the basis, of which the last `freedom_` are free.
  void project(const Rows& rows, const std::vector<Index>& chosen, Basis& basis) {
    first_ = basis.rank();
    freedom_ = basis.freedom();
    count_ = static_cast<Index>(chosen.size());
    for (Index r = 0; r < count_; ++r) rows.copy_to(chosen[static_cast<size_t>(r)], P_.col(r).head(basis.size()));
    basis.project_free(P_, count_);
  }

 private:
  Index first_ = 0, freedom_ = 0, count_ = 0;
  double damping_ = 0.0;
  Matrix P_, M_;  // a column for each row of the level
  Vector solution_, step_, tau_, diagonal_, b_, tails_;
  std::vector<Index> order_;
};

}  // namespace poise
