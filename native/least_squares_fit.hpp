// Weighted least squares of one level in the null space of the held rows above it:
//
//   minimise |P y - d|^2,   P = diag(root_weight) C Z,   d = diag(root_weight) (b - C x),   x <- x + Z y
//
// by Householder QR with column pivoting; the shortest y if P does not determine it.
//
// The forces  root_weight (P y - d)  are computed from the part of d outside the range of P, not from the slack at x: a
// row of large weight balances rows of small weight with a slack far below rounding, and its multiplier must still be
// accurate.
#pragma once

#include <algorithm>

#include "basis.hpp"

namespace poise {

class LeastSquaresFit {
 public:
  void resize(Index rows, Index n) {
    P_.setZero(rows + n + padding, n);
    column_reflectors_.setZero(n, n);
    for (Vector* v : {&d_, &root_weights_, &tails_}) v->setZero(rows + n);
    for (Vector* v : {&column_tau_, &y_, &column_, &norms_, &head_, &tau_, &right_head_, &right_tau_}) v->setZero(n);
    order_.assign(static_cast<size_t>(n), 0);
  }

  // Sets the results of a fit by PostureFit or DampedFit; it has no directions.
  void set_other_fit(Index freedom, double root_weight, double size, double residual_size) {
    freedom_ = columns_ = rank_ = freedom;
    count_ = 0;
    min_root_weight_ = max_root_weight_ = root_weight;
    size_ = size;
    residual_size_ = residual_size;
    dropped_ = 0.0;
    is_other_fit_ = true;
  }
  bool is_other_fit() const { return is_other_fit_; }

  void begin(Index freedom) {
    is_other_fit_ = false;
    freedom_ = freedom;
    count_ = 0;
    min_root_weight_ = infinity;
    max_root_weight_ = 0.0;
  }

  void add(const Rows& rows, Index i, const Eigen::Ref<const Matrix>& Z, double residual) {
    const Row& row = rows[i];
    root_weights_[count_] = row.root_weight;
    if (row.column >= 0) {
      P_.row(count_).head(freedom_) = (row.root_weight * row.entry) * Z.row(row.column);
    } else {
      column_.head(freedom_).noalias() = Z.transpose() * rows.raw(i);
      P_.row(count_).head(freedom_) = (row.root_weight * row.inverse_norm) * column_.head(freedom_).transpose();
    }
    d_[count_++] = row.root_weight * residual;
    min_root_weight_ = std::min(min_root_weight_, row.root_weight);
    max_root_weight_ = std::max(max_root_weight_, row.root_weight);
  }

  // A unit row given by its entries in y.
  template <class Entries>
  void add(const Entries& entries, double root_weight, double residual) {
    root_weights_[count_] = root_weight;
    P_.row(count_).head(freedom_) = root_weight * entries.transpose();
    d_[count_++] = root_weight * residual;
    min_root_weight_ = std::min(min_root_weight_, root_weight);
    max_root_weight_ = std::max(max_root_weight_, root_weight);
  }

  // Adds  damping * (Z^T x + y) = 0.
  void damp(double damping, const Eigen::Ref<const Matrix>& Z, const Vector& x) {
    column_.head(freedom_).noalias() = Z.transpose() * x;
    for (Index j = 0; j < freedom_; ++j) {
      P_.row(count_).head(freedom_).setZero();
      P_(count_, j) = damping;
      root_weights_[count_] = damping;
      d_[count_++] = -damping * column_[j];
    }
    min_root_weight_ = std::min(min_root_weight_, damping);
    max_root_weight_ = std::max(max_root_weight_, damping);
  }

  // Updates the right-hand side of the damping rows, which start at `first`, for another x.
  void update_damping(Index first, double damping, const Eigen::Ref<const Matrix>& Z, const Vector& x) {
    d_.segment(first, freedom_).noalias() = Z.transpose() * x;
    d_.segment(first, freedom_) *= -damping;
  }

  // Decomposes P; `tolerance` is the smallest independent part of a unit row.
  void factor(double tolerance) {
    columns_ = freedom_;
    restricted_ = weight_ratio() < 5e-3;
    if (restricted_) restrict_to_rows(tolerance);
    rank_ = reduce(restricted_ ? 0.0 : tolerance);
    if (rank_ < columns_) eliminate_free_columns();
  }

  // Returns the step y for the right-hand side d of add() or set_right_side().
  const Vector& solve() {
    auto d = d_.head(count_);
    size_ = d.norm();
    for (Index k = 0; k < rank_; ++k) reflect(k, d);
    auto c = column_.head(rank_);
    c = d.head(rank_);
    P_.topLeftCorner(rank_, rank_).template triangularView<Eigen::Upper>().solveInPlace(c);
    column_.segment(rank_, columns_ - rank_).setZero();
    if (rank_ < columns_) apply_right_reflectors();
    y_.head(freedom_).setZero();
    for (Index j = 0; j < columns_; ++j) y_[order_[static_cast<size_t>(j)]] = column_[j];
    for (Index k = restricted_ ? columns_ - 1 : -1; k >= 0; --k) {
      const auto v = column_reflectors_.col(k).segment(k, freedom_ - k);
      auto tail = y_.segment(k, freedom_ - k);
      tail -= (column_tau_[k] * v.dot(tail)) * v;
    }
    d.head(rank_).setZero();
    for (Index k = rank_ - 1; k >= 0; --k) reflect(k, d);
    residual_size_ = d.norm();
    return y_;
  }

  // Residual of row r (in the order of add), times its root weight: d - P y.
  double residual(Index r) const { return d_[r]; }
  void set_right_side(Index r, double value) { d_[r] = value; }
  // Norm of the right-hand side of the last solve; its rounding error is the noise of residual().
  double size() const { return size_; }
  Index rank() const { return rank_; }
  // Last pivot of the fit: an estimate of the smallest nonzero singular value.
  double smallest_pivot() const {
    return rank_ > 0 && !is_other_fit_ ? std::abs(P_(rank_ - 1, rank_ - 1)) : infinity;
  }
  // Norm of the largest column that was treated as zero.
  double dropped() const { return dropped_; }
  double residual_size() const { return residual_size_; }
  // Rounding error of the forces.
  double noise() const { return 1e-14 * max_root_weight_ * residual_size(); }
  // Smallest root weight divided by the largest.
  double weight_ratio() const { return max_root_weight_ > 0.0 ? min_root_weight_ / max_root_weight_ : 1.0; }

  // Whether P y = d has no solution, with a tolerance for unit rows; d is overwritten.
  template <class D>
  bool cannot_reproduce(D&& d, double tolerance) const {
    for (Index k = 0; k < rank_; ++k) reflect(k, d);
    return d.tail(count_ - rank_).norm() > tolerance * std::max(min_root_weight_, 1e-5 * max_root_weight_);
  }

  // Coefficients q, one column per direction that the fit determines: sum_r q_r root_weight_r a_r spans it. Q is
  // padded.
  void directions(Matrix& Q) {
    Q.topLeftCorner(count_ + padding, rank_).setZero();
    for (Index i = 0; i < rank_; ++i) Q(i, i) = 1.0;
    for (Index k = rank_ - 1; k >= 0; --k) {
      // First entry of the reflector, stored apart since the diagonal of R takes its place.
      std::swap(P_(k, k), head_[k]);
      poise::reflect(&P_(k, k), count_ - k, tau_[k], &Q(k, k), Q.outerStride(), rank_ - k);
      std::swap(P_(k, k), head_[k]);
    }
  }

 private:
  // For rows of very different weights: the directions that they determine must not depend on the weights. Rotates the
  // columns such that the first `columns_` contain all rows; the rest is below the tolerance for unit rows.
  void restrict_to_rows(double tolerance) {
    auto P = P_.topLeftCorner(count_, freedom_);
    for (Index r = 0; r < count_; ++r) P.row(r) /= root_weights_[r];
    columns_ = std::min(count_, freedom_);
    dropped_ = 0.0;
    for (Index k = 0; k < columns_; ++k) {
      tails_.head(count_) = P.rightCols(freedom_ - k).rowwise().squaredNorm();
      Index best = 0;
      const double largest = std::sqrt(tails_.head(count_).maxCoeff(&best));
      if (largest <= tolerance) {
        columns_ = k;
        dropped_ = largest;
        break;
      }
      auto v = column_reflectors_.col(k).segment(k, freedom_ - k);
      v = P.row(best).segment(k, freedom_ - k).transpose();
      make_reflector(v, column_tau_[k]);
      tails_.head(count_).noalias() = P.rightCols(freedom_ - k) * v;
      tails_.head(count_) *= column_tau_[k];
      P.rightCols(freedom_ - k).noalias() -= tails_.head(count_) * v.transpose();
    }
    for (Index r = 0; r < count_; ++r) P.row(r).head(columns_) *= root_weights_[r];
  }

  Index reduce(double tolerance) {
    auto P = P_.topLeftCorner(count_, columns_);
    P_.block(count_, 0, padding, columns_).setZero();  // padding below every column that becomes a reflector
    for (Index j = 0; j < columns_; ++j) {
      order_[static_cast<size_t>(j)] = j;
      norms_[j] = P.col(j).squaredNorm();
    }
    const double smallest = restricted_ ? 1e-300 : 1e-14 * max_root_weight_;
    const double threshold = count_ ? std::max(tolerance * min_root_weight_, smallest) : 0.0;
    const Index steps = std::min(count_, columns_);
    if (!restricted_) dropped_ = 0.0;
    for (Index k = 0; k < steps; ++k) {
      Index best = k;
      for (Index j = k; j < columns_; ++j)
        if (norms_[j] > norms_[best]) best = j;
      if (best != k) {
        P.col(k).swap(P.col(best));
        std::swap(norms_[k], norms_[best]);
        std::swap(order_[static_cast<size_t>(k)], order_[static_cast<size_t>(best)]);
      }
      auto v = P.col(k).tail(count_ - k);
      if (v.norm() <= threshold) {
        if (!refresh(k)) {
          dropped_ = v.norm();
          return k;
        }
        --k;
        continue;
      }
      const double image = make_reflector(v, tau_[k]);
      if (k + 1 < columns_)
        poise::reflect(v.data(), count_ - k, tau_[k], &P_(k, k + 1), P_.outerStride(), columns_ - k - 1);
      for (Index j = k + 1; j < columns_; ++j) {
        const double before = norms_[j], gone = P(k, j) * P(k, j);
        norms_[j] -= gone;
        if (norms_[j] < 1e-8 * before) norms_[j] = P.col(j).tail(count_ - k - 1).squaredNorm();
      }
      head_[k] = v[0];
      v[0] = image;
    }
    return steps;
  }

  template <class D>
  void reflect(Index k, D&& d) const {
    if (tau_[k] == 0.0) return;
    const auto v = P_.col(k).segment(k + 1, count_ - k - 1);
    auto tail = d.segment(k + 1, count_ - k - 1);
    const double scale = tau_[k] * (head_[k] * d[k] + v.dot(tail));
    d[k] -= scale * head_[k];
    tail -= scale * v;
  }

  // Recomputes the downdated norms; true if a column is larger than the pivot that seemed negligible.
  bool refresh(Index k) {
    const double pivot = P_.col(k).segment(k, count_ - k).squaredNorm();
    bool larger = false;
    for (Index j = k; j < columns_; ++j) {
      norms_[j] = P_.col(j).segment(k, count_ - k).squaredNorm();
      larger = larger || norms_[j] > 4.0 * pivot + 1e-300;
    }
    return larger;
  }

  // [R1 R2] -> [R 0] by reflectors from the right, which gives the shortest solution.
  void eliminate_free_columns() {
    const Index extra = columns_ - rank_;
    for (Index i = rank_ - 1; i >= 0; --i) {
      auto w = P_.row(i).segment(rank_, extra);
      const double head = P_(i, i), tail = w.squaredNorm();
      right_tau_[i] = 0.0;
      if (tail == 0.0) continue;
      const double norm = std::sqrt(head * head + tail);
      const double image = head > 0.0 ? -norm : norm;
      const double first = head - image;
      right_tau_[i] = 2.0 / (first * first + tail);
      right_head_[i] = first;
      for (Index j = 0; j < i; ++j) {
        auto other = P_.row(j).segment(rank_, extra);
        const double scale = right_tau_[i] * (P_(j, i) * first + other.dot(w));
        P_(j, i) -= scale * first;
        other -= scale * w;
      }
      P_(i, i) = image;
    }
  }

  void apply_right_reflectors() {
    const Index extra = columns_ - rank_;
    auto tail = column_.segment(rank_, extra);
    for (Index i = 0; i < rank_; ++i) {
      if (right_tau_[i] == 0.0) continue;
      const auto w = P_.row(i).segment(rank_, extra).transpose();
      const double scale = right_tau_[i] * (column_[i] * right_head_[i] + tail.dot(w));
      column_[i] -= scale * right_head_[i];
      tail -= scale * w;
    }
  }

  Matrix P_, column_reflectors_;
  Vector d_, root_weights_, tails_, column_tau_, y_, column_, norms_, head_, tau_, right_head_, right_tau_;
  std::vector<Index> order_;
  bool restricted_ = false, is_other_fit_ = false;
  Index freedom_ = 0, columns_ = 0, count_ = 0, rank_ = 0;
  double min_root_weight_ = 1.0, max_root_weight_ = 1.0, size_ = 0.0, dropped_ = 0.0, residual_size_ = 0.0;
};

}  // namespace poise
