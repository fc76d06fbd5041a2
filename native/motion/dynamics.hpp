// Rows of the equation of motion in accelerations and contact forces.
//
// With M the mass matrix, h the bias forces, and per contact c its Jacobian J_c (at the contact point, in world axes),
// its orientation R_c and a constant basis G_c (6 x k_c) that maps its unknowns y_c to a wrench,
//
//   M v' + h = (0, tau) + sum_c J_c^T W_c y_c,    W_c = blockdiag(R_c, R_c) G_c
//
// so the generalised forces are linear in x = (v', y); the first six must be zero, the others are the joint torques:
//
//   tau_r = M_r v' + h_r - sum_c (W_c^T J_c)_{:,r}^T y_c
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "frame_rows.hpp"

namespace poise {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One contact: its frame and the basis of its forces.
class ForceBasis {
 public:
  ForceBasis(FrameRows frame, MatrixIn G) : frame_(std::move(frame)) {
    expect(G.shape(0) == 6, "a wrench has six components");
    G_ = Eigen::Map<const RowMajor>(G.data(), 6, static_cast<Eigen::Index>(G.shape(1)));
    Wt_.resize(G_.cols(), 6);
  }

  size_t size() const { return static_cast<size_t>(G_.cols()); }
  size_t variables() const { return frame_.variables(); }

  // Writes W^T J into `size` rows of `out`; columns of joints that do not carry the contact are not written and stay
  // zero.
  void write(double* out, int64_t stride) {
    update_basis();
    frame_.rows(Wt_.data(), size(), out, stride);
  }

  // Writes the wrench in world axes about the contact point, and the point.
  void wrench(const double* y, double* wrench, double* point) {
    update_basis();
    Eigen::Map<Eigen::Matrix<double, 6, 1>> w(wrench);
    w.noalias() = Wt_.transpose() * Eigen::Map<const Eigen::VectorXd>(y, Wt_.rows());
    Eigen::Map<Vector3> p(point);
    p = frame_.position();
  }

 private:
  void update_basis() {
    const Matrix3 Rt = frame_.rotation().transpose();
    Wt_.leftCols<3>().noalias() = G_.topRows<3>().transpose() * Rt;
    Wt_.rightCols<3>().noalias() = G_.bottomRows<3>().transpose() * Rt;
  }

  FrameRows frame_;
  RowMajor G_, Wt_;
};

// All contacts, with their unknowns concatenated.
class ForceMap {
 public:
  // force_jacobian: W^T J of all contacts, one row per unknown.
  ForceMap(std::vector<ForceBasis> contacts, RowsOut force_jacobian)
      : contacts_(std::move(contacts)), force_jacobian_(std::move(force_jacobian)) {
    size_t total = 0, variables = force_jacobian_.shape(1);
    for (const auto& contact : contacts_) {
      total += contact.size();
      expect(contact.variables() == variables, "contacts of different robots");
    }
    expect_rows(force_jacobian_, total, variables);
  }

  void write() {
    double* out = force_jacobian_.data();
    for (auto& contact : contacts_) {
      contact.write(out, force_jacobian_.stride(0));
      out += static_cast<int64_t>(contact.size()) * force_jacobian_.stride(0);
    }
  }

  void wrenches(VectorIn y, RowsOut wrenches, RowsOut points) {
    expect(y.shape(0) == force_jacobian_.shape(0), "the forces do not fit the contacts");
    expect_rows(wrenches, contacts_.size(), 6);
    expect_rows(points, contacts_.size(), 3);
    const double* at = y.data();
    for (size_t i = 0; i < contacts_.size(); ++i) {
      contacts_[i].wrench(at, wrenches.data() + static_cast<int64_t>(i) * wrenches.stride(0),
                          points.data() + static_cast<int64_t>(i) * points.stride(0));
      at += contacts_[i].size();
    }
  }

 private:
  std::vector<ForceBasis> contacts_;
  RowsOut force_jacobian_;
};

// Writer of selected rows of the equation of motion.
class DynamicsWriter {
 public:
  // rows: indices of generalised forces; scale: factor of each row; low, high: bounds before scaling.
  DynamicsWriter(ColumnsIn M, VectorIn h, RowsOut force_jacobian, IndicesIn rows, VectorIn scale, VectorIn low,
                 VectorIn high, RowsOut A, VectorOut lower, VectorOut upper)
      : M_(std::move(M)), h_(std::move(h)), force_jacobian_(std::move(force_jacobian)), rows_(std::move(rows)),
        scale_(std::move(scale)), low_(std::move(low)), high_(std::move(high)), A_(std::move(A)),
        lower_(std::move(lower)), upper_(std::move(upper)) {
    const size_t count = rows_.shape(0), nv = h_.shape(0);
    expect(M_.shape(0) == nv && M_.shape(1) == nv, "the mass matrix does not fit");
    expect(force_jacobian_.shape(1) == nv, "the contacts do not fit");
    for (size_t i = 0; i < count; ++i)
      expect(rows_.data()[i] >= 0 && static_cast<size_t>(rows_.data()[i]) < nv, "no such row");
    for (const auto* column : {&scale_, &low_, &high_}) expect(column->shape(0) == count, "a column does not fit");
    expect(lower_.shape(0) == count && upper_.shape(0) == count, "the bounds to write do not fit");
    expect_rows(A_, count, nv + force_jacobian_.shape(0));
  }

  void write() const {
    const int64_t nv = static_cast<int64_t>(h_.shape(0)), forces = static_cast<int64_t>(force_jacobian_.shape(0));
    for (size_t i = 0; i < rows_.shape(0); ++i) {
      const int64_t r = rows_.data()[i];
      const double s = scale_.data()[i], h = h_.data()[r];
      double* row = A_.data() + static_cast<int64_t>(i) * A_.stride(0);
      const double* m = M_.data() + r * nv;  // column r equals row r
      for (int64_t c = 0; c < nv; ++c) row[c] = s * m[c];
      const double* line = force_jacobian_.data() + r;
      for (int64_t k = 0; k < forces; ++k) row[nv + k] = -s * line[k * force_jacobian_.stride(0)];
      lower_.data()[i] = s * (low_.data()[i] - h);
      upper_.data()[i] = s * (high_.data()[i] - h);
    }
  }

 private:
  ColumnsIn M_;
  VectorIn h_;
  RowsOut force_jacobian_;
  IndicesIn rows_;
  VectorIn scale_, low_, high_;
  RowsOut A_;
  VectorOut lower_, upper_;
};

// Generalised forces of accelerations and contact forces: M v' + h - sum_c J_c^T W_c y_c.
inline void generalised_forces(const ColumnsIn& M, const VectorIn& h, const RowsOut& force_jacobian, const VectorIn& x,
                               const VectorOut& out) {
  const auto nv = static_cast<Eigen::Index>(h.shape(0)), forces = static_cast<Eigen::Index>(force_jacobian.shape(0));
  expect(static_cast<Eigen::Index>(M.shape(0)) == nv && static_cast<Eigen::Index>(M.shape(1)) == nv &&
             static_cast<Eigen::Index>(force_jacobian.shape(1)) == nv &&
             static_cast<Eigen::Index>(x.shape(0)) == nv + forces &&
             static_cast<Eigen::Index>(out.shape(0)) == nv, "the equation of motion does not fit");
  Eigen::Map<Eigen::VectorXd> tau(out.data(), nv);
  tau = Eigen::Map<const Eigen::VectorXd>(h.data(), nv);
  tau.noalias() +=
      Eigen::Map<const Eigen::MatrixXd>(M.data(), nv, nv) * Eigen::Map<const Eigen::VectorXd>(x.data(), nv);
  for (Eigen::Index k = 0; k < forces; ++k)
    tau -=
        x.data()[nv + k] * Eigen::Map<const Eigen::VectorXd>(force_jacobian.data() + k * force_jacobian.stride(0), nv);
}

// Torque command of a solution x = (v', y), if it is feasible: torques, and the velocity after one period.
class TorqueCommand {
 public:
  // work: the generalised forces of the last x; torque_limit: of the joints; base_tolerance: largest residual of the
  // equation of the base; torque_tolerance: torques beyond their limits by at most this fraction are clipped.
  TorqueCommand(ColumnsIn M, VectorIn h, RowsOut force_jacobian, VectorOut work, VectorIn torque_limit,
                double base_tolerance, double torque_tolerance, double period)
      : M_(std::move(M)), h_(std::move(h)), force_jacobian_(std::move(force_jacobian)), work_(std::move(work)),
        torque_limit_(std::move(torque_limit)), base_tolerance_(base_tolerance), torque_tolerance_(torque_tolerance),
        period_(period) {
    expect(torque_limit_.shape(0) + 6 == h_.shape(0), "the limits do not fit the joints");
  }

  // Returns false, with invalid outputs, if a number is not finite, the base residual is too large or a torque exceeds
  // its limit.
  bool compute(const VectorIn& x, const VectorIn& v, const VectorOut& torque, const VectorOut& velocity) const {
    const size_t nv = h_.shape(0), joints = torque_limit_.shape(0);
    expect(v.shape(0) == nv && velocity.shape(0) == nv && torque.shape(0) == joints, "the command does not fit");
    generalised_forces(M_, h_, force_jacobian_, x, work_);
    const double* tau = work_.data();
    bool feasible = true;  // comparisons with NaN are false
    for (size_t i = 0; i < 6; ++i) feasible = feasible && std::abs(tau[i]) <= base_tolerance_;
    for (size_t i = 0; i < joints; ++i) {
      const double limit = torque_limit_.data()[i], t = tau[6 + i];
      feasible = feasible && std::abs(t) <= (1.0 + torque_tolerance_) * limit;
      torque.data()[i] = std::min(std::max(t, -limit), limit);
    }
    double sum = 0.0;  // NaN or infinite if any number is
    for (size_t i = 0; i < x.shape(0); ++i) sum += std::abs(x.data()[i]);
    for (size_t i = 0; i < nv; ++i) sum += std::abs(velocity.data()[i] = v.data()[i] + period_ * x.data()[i]);
    return feasible && std::isfinite(sum);
  }

 private:
  ColumnsIn M_;
  VectorIn h_;
  RowsOut force_jacobian_;
  VectorOut work_;
  VectorIn torque_limit_;
  double base_tolerance_, torque_tolerance_, period_;
};

}  // namespace poise
