// Rows of tasks on a frame or a point relative to a moving reference frame, e.g. one foot relative to the other.
//
// With a the reference frame, w its angular velocity, c the point and r = c - p_a:
//
//   position R_a^T r
//   rate     R_a^T (r' - w x r)
//   drift    R_a^T (r" - w' x r - 2 w x r' + w x (w x r)),   from the drifts of c, p_a and w
//
// A joint that carries a moves c relative to a by minus its twist at c: -R_a^T (v + w x c). A joint that carries both a
// and c has no effect, and its columns are exactly zero.
#pragma once

#include <algorithm>
#include <vector>

#include "frame_rows.hpp"

namespace poise {

using Vector6 = Eigen::Matrix<double, 6, 1>;

// Components that the rows are about, and the memory that they are written to.
class SelectedRows {
 public:
  SelectedRows(const IndicesIn& components, int count, size_t variables, VectorOut error, RowsOut A, VectorOut drift)
      : components_(components.data(), components.data() + components.shape(0)), error_(std::move(error)),
        A_(std::move(A)), drift_(std::move(drift)) {
    for (int i : components_) expect(0 <= i && i < count, "no such component");
    expect(error_.shape(0) == components_.size() && drift_.shape(0) == components_.size(),
           "the errors to write do not fit the task");
    expect_rows(A_, components_.size(), variables);
  }

  template <class V>
  void error(const V& e) const { pick(e, error_.data(), 1); }
  template <class V>
  void drift(const V& d) const { pick(d, drift_.data(), 1); }
  template <class V>
  void column(int at, const V& j) const { pick(j, A_.data() + at, A_.stride(0)); }
  bool any(int from) const {
    return std::any_of(components_.begin(), components_.end(), [from](int i) { return i >= from; });
  }

 private:
  template <class V>
  void pick(const V& from, double* to, int64_t stride) const {
    for (size_t i = 0; i < components_.size(); ++i) to[static_cast<int64_t>(i) * stride] = from[components_[i]];
  }

  std::vector<int> components_;
  VectorOut error_;
  RowsOut A_;
  VectorOut drift_;
};

// Drift of a point relative to a frame: r, its rate and its drift, and velocity and drift of the frame.
inline Vector3 relative_drift(const Vector3& r, const Vector3& rate, const Vector3& drift, const Vector6& V,
                              const Vector6& D) {
  const Vector3 w = V.tail<3>(), alpha = D.tail<3>();
  return drift - alpha.cross(r) - 2.0 * w.cross(rate) + w.cross(w.cross(r));
}

// Writer of a task on a frame b relative to a frame a:  e = (R_a^T (p_b - p_a) - p*, log(R_a^T R_b R*^T)), in axes of
// a.
class RelativePoseWriter {
 public:
  RelativePoseWriter(FrameRows frame, FrameRows reference_frame, const IndicesIn& components, VectorIn target_p,
                     MatrixIn target_R, VectorOut error, RowsOut A, VectorOut drift)
      : a_(std::move(reference_frame)), b_(std::move(frame)), target_p_(std::move(target_p)),
        target_R_(std::move(target_R)),
        rows_(components, 6, b_.variables(), std::move(error), std::move(A), std::move(drift)),
        uses_rotation_(rows_.any(3)) {
    expect(a_.variables() == b_.variables(), "two frames of one robot");
    expect(target_p_.shape(0) == 3 && target_R_.shape(0) == 3 && target_R_.shape(1) == 3,
           "a target has three components and 3 x 3");
    const std::vector<int> a = a_.columns(), b = b_.columns();
    for (int c : b)
      if (std::find(a.begin(), a.end(), c) == a.end()) columns_.push_back({c, 1.0});
    for (int c : a)
      if (std::find(b.begin(), b.end(), c) == b.end()) columns_.push_back({c, -1.0});
  }

  void write() const {
    const Matrix3 to_a = a_.rotation().transpose();
    const Vector3 p = b_.position();
    Vector6 e = Vector6::Zero();
    e.head<3>() = to_a * (p - a_.position()) - vector3(target_p_);
    if (uses_rotation_)
      e.tail<3>() = log_so3(to_a * b_.rotation() * Eigen::Map<const RowMajor3>(target_R_.data()).transpose());
    rows_.error(e);
    for (const Column& column : columns_) {
      const Vector3 v(b_.twist(column.at)), w(b_.twist(column.at) + 3);
      Vector6 j;
      j << to_a * (column.sign * (v + w.cross(p))), to_a * (column.sign * w);
      rows_.column(column.at, j);
    }
  }

  void write_drift() const {
    const Matrix3 to_a = a_.rotation().transpose();
    const Vector6 Va = a_.velocity(), Vb = b_.velocity(), Da = a_.drift(), Db = b_.drift();
    const Vector6 V = Vb - Va, D = Db - Da;
    const Vector3 w = Va.tail<3>(), relative_velocity = V.tail<3>();
    Vector6 d;
    d << to_a * relative_drift(b_.position() - a_.position(), V.head<3>(), D.head<3>(), Va, Da),
        to_a * (D.tail<3>() - w.cross(relative_velocity));
    rows_.drift(d);
  }

 private:
  using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  struct Column {
    int at;
    double sign;
  };

  FrameRows a_, b_;
  VectorIn target_p_;
  MatrixIn target_R_;
  SelectedRows rows_;
  bool uses_rotation_;
  std::vector<Column> columns_;
};

// Writer of a task on a point c that all joints move, such as the centre of mass, relative to a frame a: e = R_a^T (c -
// p_a) - c*. The first `base` columns move the whole body and have no effect.
class RelativePointWriter {
 public:
  RelativePointWriter(ColumnsIn J, VectorIn point, VectorIn acceleration, VectorIn v, FrameRows reference_frame,
                      size_t base, const IndicesIn& components, VectorIn target, VectorOut error, RowsOut A,
                      VectorOut drift)
      : base_(base), J_(std::move(J)), point_(std::move(point)), acceleration_(std::move(acceleration)),
        v_(std::move(v)), a_(std::move(reference_frame)), target_(std::move(target)),
        rows_(components, 3, a_.variables(), std::move(error), std::move(A), std::move(drift)) {
    expect(J_.shape(0) == 3 && J_.shape(1) == a_.variables() && v_.shape(0) == a_.variables(),
           "the Jacobian of the point does not fit the frame");
    expect(point_.shape(0) == 3 && acceleration_.shape(0) == 3 && target_.shape(0) == 3,
           "a point has three components");
    expect(base_ <= a_.variables(), "the base has more columns than the body");
    moves_frame_.assign(a_.variables(), 0.0);
    for (int c : a_.columns()) moves_frame_[static_cast<size_t>(c)] = 1.0;
  }

  void write() const {
    const Matrix3 to_a = a_.rotation().transpose();
    const Vector3 c = vector3(point_);
    rows_.error(Vector3(to_a * (c - a_.position()) - vector3(target_)));
    for (size_t i = base_; i < moves_frame_.size(); ++i) {
      const auto at = static_cast<int>(i);
      const Vector3 v(a_.twist(at)), w(a_.twist(at) + 3);
      rows_.column(at, Vector3(to_a * (Vector3(J_.data() + 3 * i) - moves_frame_[i] * (v + w.cross(c)))));
    }
  }

  void write_drift() const {
    const auto size = static_cast<Eigen::Index>(v_.shape(0));
    const Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>> J(J_.data(), 3, size);
    const Vector6 V = a_.velocity(), D = a_.drift();
    const Vector3 rate = J * Eigen::Map<const Eigen::VectorXd>(v_.data(), size) - V.head<3>();
    const Vector3 r = vector3(point_) - a_.position(), drift = vector3(acceleration_) - D.head<3>();
    rows_.drift(Vector3(a_.rotation().transpose() * relative_drift(r, rate, drift, V, D)));
  }

 private:
  size_t base_;
  ColumnsIn J_;
  VectorIn point_, acceleration_, v_;
  FrameRows a_;
  VectorIn target_;
  SelectedRows rows_;
  std::vector<double> moves_frame_;  // 1 for columns of the joints that carry a
};

}  // namespace poise
