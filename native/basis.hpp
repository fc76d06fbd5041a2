// An orthonormal basis Y of R^n in which the held rows G (unit norm, linearly independent) are lower
// triangular:  G Y = [L 0].  The first `rank` columns span the rows, the others span their null space.
//
// Y is first kept as a product of Householder reflectors, which is all that a solve without changes needs
// (a third of the work of an explicit Y). The first removal of a row from the middle makes Y explicit;
// from then on rows leave by Givens rotations and enter by one reflector, O(n^2) each.
#pragma once

#include "rows.hpp"

namespace poise {

// A reflector  H = I - tau v v^T  that maps `tail` on its first axis; returns the resulting coefficient.
inline double make_reflector(Eigen::Ref<Vector> tail, double& tau) {
  const double norm = tail.norm();
  if (tail.size() <= 1 || norm == 0.0) {
    tau = 0.0;
    return tail.size() ? tail[0] : 0.0;
  }
  const double image = tail[0] > 0.0 ? -norm : norm;
  tail[0] -= image;
  tau = 2.0 / tail.squaredNorm();
  return image;
}

class Basis {
 public:
  void resize(Index n) {
    n_ = n;
    reflectors_.setZero(n, n);
    tau_.setZero(n);
    Y_.setZero(n, n);
    L_.setZero(n, n);
    null_.setZero(n, n);
    work_.setZero(n);
  }

  void reset() {
    rank_ = 0;
    explicit_ = false;
    null_ready_ = false;
  }

  Index size() const { return n_; }
  Index rank() const { return rank_; }
  Index freedom() const { return n_ - rank_; }
  double factor(Index row, Index column) const { return L_(row, column); }

  // c <- Y^T c
  void project(Eigen::Ref<Vector> c) {
    if (explicit_) {
      work_ = c;
      c.noalias() = Y_.transpose() * work_;
      return;
    }
    for (Index i = 0; i < rank_; ++i) reflect(i, c);
  }

  // Projects the columns of C at once.
  void project_all(Eigen::Ref<Matrix> C) {
    if (explicit_) {
      for (Index j = 0; j < C.cols(); ++j) {
        work_ = C.col(j);
        C.col(j).noalias() = Y_.transpose() * work_;
      }
      return;
    }
    for (Index i = 0; i < rank_; ++i) {
      if (tau_[i] == 0.0) continue;
      reflect_columns(reflectors_.col(i).tail(n_ - i), tau_[i], C.bottomRows(n_ - i));
    }
  }

  // x <- x + Y[:, first:rank] step[first:rank]
  void move(Eigen::Ref<Vector> x, const Vector& step, Index first) {
    if (explicit_) {
      x.noalias() += Y_.middleCols(first, rank_ - first) * step.segment(first, rank_ - first);
      return;
    }
    work_.setZero();
    work_.segment(first, rank_ - first) = step.segment(first, rank_ - first);
    for (Index i = rank_ - 1; i >= 0; --i) reflect(i, work_);
    x += work_;
  }

  // Basis of the null space of the held rows, n x freedom.
  Eigen::Ref<const Matrix> null_space() {
    if (explicit_) return Y_.rightCols(freedom());
    auto Z = null_.leftCols(freedom());
    if (!null_ready_) {
      Z.setZero();
      Z.bottomRows(freedom()).setIdentity();
      for (Index i = rank_ - 1; i >= 0; --i) {
        if (tau_[i] == 0.0) continue;
        reflect_columns(reflectors_.col(i).tail(n_ - i), tau_[i], Z.bottomRows(n_ - i));
      }
      null_ready_ = true;
    }
    return Z;
  }

  // Appends a row given by its projection c = Y^T a.
  void append(const Eigen::Ref<const Vector>& c) {
    auto v = reflectors_.col(rank_).tail(n_ - rank_);
    v = c.tail(n_ - rank_);
    const double image = make_reflector(v, tau_[rank_]);
    L_.row(rank_).head(rank_) = c.head(rank_).transpose();
    L_(rank_, rank_) = image;
    if (explicit_ && tau_[rank_] != 0.0) {
      auto Z = Y_.rightCols(n_ - rank_);
      work_.noalias() = Z * v;
      work_ *= tau_[rank_];
      Z.noalias() -= work_ * v.transpose();
    }
    ++rank_;
    null_ready_ = false;
  }

  // The reflector of the last appended row, to be applied to other projected rows of the same batch.
  void apply_last(Eigen::Ref<Matrix> C) const {
    const Index i = rank_ - 1;
    if (tau_[i] == 0.0 || C.cols() == 0) return;
    reflect_columns(reflectors_.col(i).tail(n_ - i), tau_[i], C.bottomRows(n_ - i));
  }

  void remove(Index p) {
    null_ready_ = false;
    if (p == rank_ - 1) {
      --rank_;
      return;
    }
    make_explicit();
    for (Index c = 0; c < rank_; ++c)
      for (Index r = std::max(p, c - 1); r + 1 < rank_; ++r) L_(r, c) = L_(r + 1, c);
    for (Index c = p; c + 1 < rank_; ++c) {
      const double a = L_(c, c), b = L_(c, c + 1);
      const double norm = std::hypot(a, b);
      if (norm == 0.0) continue;
      const double cosine = a / norm, sine = b / norm;
      rotate(&L_(c, c), &L_(c, c + 1), rank_ - 1 - c, cosine, sine);
      rotate(&Y_(0, c), &Y_(0, c + 1), n_, cosine, sine);
    }
    --rank_;
  }

  void make_explicit() {
    if (explicit_) return;
    Y_.setIdentity();
    for (Index i = rank_ - 1; i >= 0; --i) {
      if (tau_[i] == 0.0) continue;
      reflect_columns(reflectors_.col(i).tail(n_ - i), tau_[i], Y_.bottomRightCorner(n_ - i, n_ - i));
    }
    explicit_ = true;
  }

  // Solves L y = y in place for the rows from `first` on (earlier entries count as zero).
  void forward(Vector& y, Index first) const {
    const Index size = rank_ - first;
    if (size > 0)
      L_.block(first, first, size, size).template triangularView<Eigen::Lower>().solveInPlace(
          y.segment(first, size));
  }

  // Solves L^T y = y in place for the rows from `first` on.
  void backward(Vector& y, Index first) const {
    const Index size = rank_ - first;
    if (size > 0)
      L_.block(first, first, size, size).transpose().template triangularView<Eigen::Upper>().solveInPlace(
          y.segment(first, size));
  }

 private:
  void reflect(Index i, Eigen::Ref<Vector> c) const {
    if (tau_[i] == 0.0) return;
    const auto v = reflectors_.col(i).tail(n_ - i);
    auto tail = c.tail(n_ - i);
    tail -= (tau_[i] * v.dot(tail)) * v;
  }

  template <class V, class C>
  static void reflect_columns(const V& v, double tau, C&& block) {
    for (Index j = 0; j < block.cols(); ++j) {
      auto column = block.col(j);
      column -= (tau * v.dot(column)) * v;
    }
  }

  static void rotate(double* __restrict a, double* __restrict b, Index size, double cosine, double sine) {
    for (Index i = 0; i < size; ++i) {
      const double first = a[i], second = b[i];
      a[i] = cosine * first + sine * second;
      b[i] = cosine * second - sine * first;
    }
  }

  Index n_ = 0, rank_ = 0;
  bool explicit_ = false, null_ready_ = false;
  Matrix reflectors_, Y_, L_, null_;
  Vector tau_, work_;
};

}  // namespace poise
