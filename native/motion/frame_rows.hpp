// Rows of tasks on one frame: position, orientation, or any constant combination of both.
//
// With p and R position and orientation of the frame in the world, p* and R* their targets, and S a constant matrix
// with one row per task row that selects or combines components (k x 6, linear part first):
//
//   error    e = S (p - p*, log(R R*^T))
//   rows     A = S J,   J the Jacobian of the frame: velocity of its origin and angular velocity, in world axes
//   drift    d = S (Jdot v), the acceleration of the frame for v' = 0
#pragma once

#include <vector>

#include "arrays.hpp"
#include "so3.hpp"

namespace poise {

class FrameRows {
 public:
  // Inputs from a snapshot: quantities of the joint that carries the frame. offset, rotation_in_joint: constant pose of
  // the frame in the joint frame.
  FrameRows(ColumnsIn J, IndicesIn columns, VectorIn offset, MatrixIn rotation_in_joint, VectorIn joint_p,
            ColumnsIn joint_R, VectorIn linear_velocity, VectorIn angular_velocity, VectorIn linear_acceleration,
            VectorIn angular_acceleration)
      : J_(std::move(J)), columns_(std::move(columns)), joint_p_(std::move(joint_p)), joint_R_(std::move(joint_R)),
        v_(std::move(linear_velocity)), w_(std::move(angular_velocity)), a_(std::move(linear_acceleration)),
        alpha_(std::move(angular_acceleration)) {
    expect(J_.shape(0) == 6, "a Jacobian has six lines");
    for (const auto* vector : {&offset, &joint_p_, &v_, &w_, &a_, &alpha_})
      expect(vector->shape(0) == 3, "a vector has three components");
    expect(rotation_in_joint.shape(0) == 3 && rotation_in_joint.shape(1) == 3 && joint_R_.shape(0) == 3 &&
               joint_R_.shape(1) == 3,
           "a rotation is 3 x 3");
    for (size_t i = 0; i < columns_.shape(0); ++i)
      expect(columns_.data()[i] >= 0 && static_cast<size_t>(columns_.data()[i]) < J_.shape(1), "no such column");
    offset_ = vector3(offset);
    local_rotation_ = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(rotation_in_joint.data());
  }

  Vector3 position() const { return vector3(joint_p_) + matrix3(joint_R_) * offset_; }
  Matrix3 rotation() const { return matrix3(joint_R_) * local_rotation_; }

  void rows(const double* S, size_t k, double* A, int64_t stride) const {
    const Vector3 p = position();
    const double* J = J_.data();
    for (size_t c = 0; c < columns_.shape(0); ++c) {
      const int column = columns_.data()[c];
      const double* j = J + 6 * column;  // twist of this joint at the origin of the world
      const double t[6] = {j[0] + j[4] * p[2] - j[5] * p[1], j[1] + j[5] * p[0] - j[3] * p[2],
                           j[2] + j[3] * p[1] - j[4] * p[0], j[3], j[4], j[5]};
      for (size_t i = 0; i < k; ++i) {
        const double* s = S + 6 * i;
        A[static_cast<int64_t>(i) * stride + column] =
            s[0] * t[0] + s[1] * t[1] + s[2] * t[2] + s[3] * t[3] + s[4] * t[4] + s[5] * t[5];
      }
    }
  }

  // Acceleration of the frame's origin and angular acceleration, in world axes, from those of the joint's body.
  Eigen::Matrix<double, 6, 1> drift() const {
    const Matrix3 R = matrix3(joint_R_);
    const Vector3 w = R * vector3(w_), alpha = R * vector3(alpha_);
    const Vector3 at_joint = R * (vector3(a_) + vector3(w_).cross(vector3(v_)));
    const Vector3 arm = R * offset_;
    Eigen::Matrix<double, 6, 1> d;
    d << at_joint + alpha.cross(arm) + w.cross(w.cross(arm)), alpha;
    return d;
  }

  // Velocity of the frame's origin and angular velocity, in world axes.
  Eigen::Matrix<double, 6, 1> velocity() const {
    const Matrix3 R = matrix3(joint_R_);
    Eigen::Matrix<double, 6, 1> V;
    V << R * (vector3(v_) + vector3(w_).cross(offset_)), R * vector3(w_);
    return V;
  }

  size_t variables() const { return J_.shape(1); }
  // Twist at the origin of the world of the joint that a column belongs to.
  const double* twist(int column) const { return J_.data() + 6 * column; }
  // Columns of the joints that carry the frame.
  std::vector<int> columns() const { return {columns_.data(), columns_.data() + columns_.shape(0)}; }

 private:
  ColumnsIn J_;
  IndicesIn columns_;
  Vector3 offset_;
  Matrix3 local_rotation_;
  VectorIn joint_p_;
  ColumnsIn joint_R_;
  VectorIn v_, w_, a_, alpha_;
};

// Writer of a task on one frame.
class FrameWriter {
 public:
  FrameWriter(FrameRows frame, MatrixIn S, VectorIn target_p, MatrixIn target_R, VectorOut error, RowsOut A,
              VectorOut drift)
      : frame_(std::move(frame)), S_(std::move(S)), target_p_(std::move(target_p)), target_R_(std::move(target_R)),
        error_(std::move(error)), A_(std::move(A)), drift_(std::move(drift)) {
    const size_t k = S_.shape(0);
    expect(S_.shape(1) == 6 && target_p_.shape(0) == 3 && target_R_.shape(0) == 3 && target_R_.shape(1) == 3,
           "a frame has six components, a target three and 3 x 3");
    expect(error_.shape(0) == k && drift_.shape(0) == k, "the errors to write do not fit the task");
    expect_rows(A_, k, frame_.variables());
    for (size_t i = 0; i < k && !uses_rotation_; ++i)
      for (size_t c = 3; c < 6; ++c) uses_rotation_ = uses_rotation_ || S_.data()[6 * i + c] != 0.0;
  }

  void write() const {
    Eigen::Matrix<double, 6, 1> e = Eigen::Matrix<double, 6, 1>::Zero();
    e.head<3>() = frame_.position() - vector3(target_p_);
    if (uses_rotation_)
      e.tail<3>() = log_so3(frame_.rotation() * Eigen::Map<const RowMajor3>(target_R_.data()).transpose());
    combine(e, error_.data());
    frame_.rows(S_.data(), S_.shape(0), A_.data(), A_.stride(0));
  }

  void write_drift() const { combine(frame_.drift(), drift_.data()); }

 private:
  using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

  void combine(const Eigen::Matrix<double, 6, 1>& e, double* out) const {
    for (size_t i = 0; i < S_.shape(0); ++i)
      out[i] = Eigen::Map<const Eigen::Matrix<double, 6, 1>>(S_.data() + 6 * i).dot(e);
  }

  FrameRows frame_;
  MatrixIn S_;
  VectorIn target_p_;
  MatrixIn target_R_;
  VectorOut error_;
  RowsOut A_;
  VectorOut drift_;
  bool uses_rotation_ = false;
};

// Writer of a task on a point that all joints move, such as the centre of mass: e = S (c - c*), A = S J, d = S (Jdot
// v).
class PointWriter {
 public:
  PointWriter(ColumnsIn J, VectorIn point, VectorIn acceleration, MatrixIn S, VectorIn target, VectorOut error,
              RowsOut A, VectorOut drift)
      : J_(std::move(J)), point_(std::move(point)), acceleration_(std::move(acceleration)), S_(std::move(S)),
        target_(std::move(target)), error_(std::move(error)), A_(std::move(A)), drift_(std::move(drift)) {
    const size_t k = S_.shape(0);
    expect(J_.shape(0) == 3 && point_.shape(0) == 3 && acceleration_.shape(0) == 3 && S_.shape(1) == 3 &&
               target_.shape(0) == 3, "a point has three components");
    expect(error_.shape(0) == k && drift_.shape(0) == k, "the errors to write do not fit the task");
    expect_rows(A_, k, J_.shape(1));
  }

  void write() const {
    const Vector3 e = vector3(point_) - vector3(target_);
    const size_t variables = J_.shape(1);
    const double* J = J_.data();
    for (size_t i = 0; i < S_.shape(0); ++i) {
      const Vector3 s(S_.data() + 3 * i);
      error_.data()[i] = s.dot(e);
      double* row = A_.data() + static_cast<int64_t>(i) * A_.stride(0);
      for (size_t c = 0; c < variables; ++c) row[c] = s[0] * J[3 * c] + s[1] * J[3 * c + 1] + s[2] * J[3 * c + 2];
    }
  }

  void write_drift() const {
    for (size_t i = 0; i < S_.shape(0); ++i)
      drift_.data()[i] = Vector3(S_.data() + 3 * i).dot(vector3(acceleration_));
  }

 private:
  ColumnsIn J_;
  VectorIn point_, acceleration_;
  MatrixIn S_;
  VectorIn target_;
  VectorOut error_;
  RowsOut A_;
  VectorOut drift_;
};

}  // namespace poise
