// Orthonormal basis Y of R^n in which the held rows G (unit norm, linearly independent) are lower triangular:  G Y = [L
// 0].  The first `rank` columns span the rows, the others span their null space.
//
// Y is first stored as a product of Householder reflectors, which is sufficient for a solve without changes (a third of
// the work of an explicit Y). The first removal of a row from the middle makes Y explicit; from then on, removing a row
// takes Givens rotations and adding one takes a reflector, O(n^2) each.
#pragma once

#include "reflector.hpp"
#include "rows.hpp"

namespace poise {

class Basis {
 public:
  void resize(Index n) {
    n_ = n;
    for (Matrix* M : {&reflectors_, &Y_, &null_}) M->setZero(n + padding, n);
    L_.setZero(n, n);
    tau_.setZero(n);
    work_.setZero(n + padding);
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

  // c <- Y^T c; c is padded.
  void project(Vector& c) {
    if (explicit_) {
      work_.head(n_) = c.head(n_);
      c.head(n_).noalias() = Y_.topRows(n_).transpose() * work_.head(n_);
      return;
    }
    for (Index i = 0; i < rank_; ++i) reflect_one(i, c.data());
  }

  // The same for the last `freedom` entries of the first columns of a padded matrix; the others are arbitrary.
  void project_free(Matrix& C, Index columns) {
    if (!explicit_) {
      project_all(C, columns);
      return;
    }
    for (Index j = 0; j < columns; ++j) {
      work_.head(n_) = C.col(j).head(n_);
      C.col(j).segment(rank_, freedom()).noalias() = Y_.topRightCorner(n_, freedom()).transpose() * work_.head(n_);
    }
  }

  // Projects the first columns of the padded matrix C at once.
  void project_all(Matrix& C, Index columns) {
    if (explicit_) {
      for (Index j = 0; j < columns; ++j) {
        work_.head(n_) = C.col(j).head(n_);
        C.col(j).head(n_).noalias() = Y_.topRows(n_).transpose() * work_.head(n_);
      }
      return;
    }
    for (Index i = 0; i < rank_; ++i)
      reflect(&reflectors_(i, i), n_ - i, tau_[i], C.data() + i, C.outerStride(), columns);
  }

  // x <- x + Y[:, first:rank] step[first:rank]
  void move(Eigen::Ref<Vector> x, const Vector& step, Index first) {
    if (explicit_) {
      x.noalias() += Y_.block(0, first, n_, rank_ - first) * step.segment(first, rank_ - first);
      return;
    }
    work_.setZero();
    work_.segment(first, rank_ - first) = step.segment(first, rank_ - first);
    for (Index i = rank_ - 1; i >= 0; --i) reflect_one(i, work_.data());
    x += work_.head(n_);
  }

  // x <- x + Z y, with y the last `freedom` entries of the padded vector; its other entries are overwritten.
  void move_free(Eigen::Ref<Vector> x, Vector& y) {
    if (explicit_) {
      x.noalias() += Y_.topRightCorner(n_, freedom()) * y.segment(rank_, freedom());
      return;
    }
    y.head(rank_).setZero();
    for (Index i = rank_ - 1; i >= 0; --i) reflect_one(i, y.data());
    x += y.head(n_);
  }

  // Basis of the null space of the held rows, n x freedom.
  Eigen::Ref<const Matrix> null_space() {
    if (explicit_) return Y_.topRightCorner(n_, freedom());
    auto Z = null_.topLeftCorner(n_, freedom());
    if (!null_ready_) {
      Z.setZero();
      Z.bottomRows(freedom()).setIdentity();
      for (Index i = rank_ - 1; i >= 0; --i)
        reflect(&reflectors_(i, i), n_ - i, tau_[i], &null_(i, 0), null_.outerStride(), freedom());
      null_ready_ = true;
    }
    return Z;
  }

  // Appends a row given by its projection c = Y^T a.
  void append(const Eigen::Ref<const Vector>& c) {
    auto v = reflectors_.col(rank_).segment(rank_, n_ - rank_);
    v = c.segment(rank_, n_ - rank_);
    const double image = make_reflector(v, tau_[rank_]);
    L_.row(rank_).head(rank_) = c.head(rank_).transpose();
    L_(rank_, rank_) = image;
    if (explicit_ && tau_[rank_] != 0.0) {
      auto Z = Y_.topRightCorner(n_, n_ - rank_);
      auto w = work_.head(n_);
      w.noalias() = Z * v;
      w *= tau_[rank_];
      Z.noalias() -= w * v.transpose();
    }
    ++rank_;
    null_ready_ = false;
  }

  // Applies the reflector of the last appended row to other projected rows of the same batch, columns of C.
  void apply_last(Matrix& C, Index begin, Index end) const {
    const Index i = rank_ - 1;
    if (begin < end) reflect(&reflectors_(i, i), n_ - i, tau_[i], &C(i, begin), C.outerStride(), end - begin);
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
    Y_.setZero();
    Y_.topRows(n_).setIdentity();
    for (Index i = rank_ - 1; i >= 0; --i)
      reflect(&reflectors_(i, i), n_ - i, tau_[i], &Y_(i, i), Y_.outerStride(), n_ - i);
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
  void reflect_one(Index i, double* c) const { reflect(&reflectors_(i, i), n_ - i, tau_[i], c + i, 0, 1); }

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
