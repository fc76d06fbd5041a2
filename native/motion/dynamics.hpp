// The equation of motion, row by row, in accelerations and contact forces.
//
// With M the mass matrix, h the nonlinear effects, and per contact c its Jacobian J_c (at the contact's point, in world
// axes), its orientation R_c and a constant basis G_c (6 x k_c) that makes a wrench of its unknowns y_c,
//
//   M v' + h = (0, tau) + sum_c J_c^T W_c y_c,    W_c = blockdiag(R_c, R_c) G_c
//
// so a generalised force, of which the first six must vanish and the others are the joint torques, is linear in x = (v', y):
//
//   tau_r = M_r v' + h_r - sum_c (W_c^T J_c)_{:,r}^T y_c
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "frame_rows.hpp"

namespace poise {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One contact: where it is, and the basis of its forces.
class ForceBasis {
 public:
  ForceBasis(FrameRows frame, MatrixIn G) : frame_(std::move(frame)) {
    expect(G.shape(0) == 6, "a wrench has six components");
    G_ = Eigen::Map<const RowMajor>(G.data(), 6, static_cast<Eigen::Index>(G.shape(1)));
    Wt_.resize(G_.cols(), 6);
  }

  size_t size() const { return static_cast<size_t>(G_.cols()); }
  size_t variables() const { return frame_.variables(); }

  // W^T J into `size` lines of `out`; columns of joints that do not carry the contact are left as they are, zero.
  void write(double* out, int64_t stride) {
    turn();
    frame_.rows(Wt_.data(), size(), out, stride);
  }

  // The wrench in world axes about the contact's point, and the point.
  void wrench(const double* y, double* wrench, double* point) {
    turn();
    Eigen::Map<Eigen::Matrix<double, 6, 1>> w(wrench);
    w.noalias() = Wt_.transpose() * Eigen::Map<const Eigen::VectorXd>(y, Wt_.rows());
    Eigen::Map<Vector3> p(point);
    p = frame_.position();
  }

 private:
  void turn() {
    const Matrix3 Rt = frame_.rotation().transpose();
    Wt_.leftCols<3>().noalias() = G_.topRows<3>().transpose() * Rt;
    Wt_.rightCols<3>().noalias() = G_.bottomRows<3>().transpose() * Rt;
  }

  FrameRows frame_;
  RowMajor G_, Wt_;
};

// All contacts: their unknowns one after the other.
class ForceMap {
 public:
  // lines: W^T J of all contacts, one line per unknown.
  ForceMap(std::vector<ForceBasis> contacts, RowsOut lines) : contacts_(std::move(contacts)), lines_(std::move(lines)) {
    size_t total = 0, variables = lines_.shape(1);
    for (const auto& contact : contacts_) {
      total += contact.size();
      expect(contact.variables() == variables, "contacts of different robots");
    }
    expect_rows(lines_, total, variables);
  }

  void write() {
    double* out = lines_.data();
    for (auto& contact : contacts_) {
      contact.write(out, lines_.stride(0));
      out += static_cast<int64_t>(contact.size()) * lines_.stride(0);
    }
  }

  void wrenches(VectorIn y, RowsOut wrenches, RowsOut points) {
    expect(y.shape(0) == lines_.shape(0), "the forces do not fit the contacts");
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
  RowsOut lines_;
};

// Some rows of the equation of motion, bound to the memory they are written to.
class DynamicsWriter {
 public:
  // rows: which generalised forces; scale: of each; low, high: what they must lie in, before scaling.
  DynamicsWriter(ColumnsIn M, VectorIn h, RowsOut lines, IndicesIn rows, VectorIn scale, VectorIn low, VectorIn high,
                 RowsOut A, VectorOut lower, VectorOut upper)
      : M_(std::move(M)), h_(std::move(h)), lines_(std::move(lines)), rows_(std::move(rows)), scale_(std::move(scale)),
        low_(std::move(low)), high_(std::move(high)), A_(std::move(A)), lower_(std::move(lower)),
        upper_(std::move(upper)) {
    const size_t count = rows_.shape(0), nv = h_.shape(0);
    expect(M_.shape(0) == nv && M_.shape(1) == nv, "the mass matrix does not fit");
    expect(lines_.shape(1) == nv, "the contacts do not fit");
    for (size_t i = 0; i < count; ++i)
      expect(rows_.data()[i] >= 0 && static_cast<size_t>(rows_.data()[i]) < nv, "no such row");
    for (const auto* column : {&scale_, &low_, &high_}) expect(column->shape(0) == count, "a column does not fit");
    expect(lower_.shape(0) == count && upper_.shape(0) == count, "the bounds to write do not fit");
    expect_rows(A_, count, nv + lines_.shape(0));
  }

  void write() const {
    const int64_t nv = static_cast<int64_t>(h_.shape(0)), forces = static_cast<int64_t>(lines_.shape(0));
    for (size_t i = 0; i < rows_.shape(0); ++i) {
      const int64_t r = rows_.data()[i];
      const double s = scale_.data()[i], h = h_.data()[r];
      double* row = A_.data() + static_cast<int64_t>(i) * A_.stride(0);
      const double* m = M_.data() + r * nv;  // column r, which is row r
      for (int64_t c = 0; c < nv; ++c) row[c] = s * m[c];
      const double* line = lines_.data() + r;
      for (int64_t k = 0; k < forces; ++k) row[nv + k] = -s * line[k * lines_.stride(0)];
      lower_.data()[i] = s * (low_.data()[i] - h);
      upper_.data()[i] = s * (high_.data()[i] - h);
    }
  }

 private:
  ColumnsIn M_;
  VectorIn h_;
  RowsOut lines_;
  IndicesIn rows_;
  VectorIn scale_, low_, high_;
  RowsOut A_;
  VectorOut lower_, upper_;
};

// Generalised forces that accelerations and contact forces ask for: M v' + h - sum_c J_c^T W_c y_c.
inline void generalised_forces(const ColumnsIn& M, const VectorIn& h, const RowsOut& lines, const VectorIn& x,
                               const VectorOut& out) {
  const auto nv = static_cast<Eigen::Index>(h.shape(0)), forces = static_cast<Eigen::Index>(lines.shape(0));
  expect(static_cast<Eigen::Index>(M.shape(0)) == nv && static_cast<Eigen::Index>(M.shape(1)) == nv &&
             static_cast<Eigen::Index>(lines.shape(1)) == nv && static_cast<Eigen::Index>(x.shape(0)) == nv + forces &&
             static_cast<Eigen::Index>(out.shape(0)) == nv, "the equation of motion does not fit");
  Eigen::Map<Eigen::VectorXd> tau(out.data(), nv);
  tau = Eigen::Map<const Eigen::VectorXd>(h.data(), nv);
  tau.noalias() += Eigen::Map<const Eigen::MatrixXd>(M.data(), nv, nv) * Eigen::Map<const Eigen::VectorXd>(x.data(), nv);
  for (Eigen::Index k = 0; k < forces; ++k)
    tau -= x.data()[nv + k] * Eigen::Map<const Eigen::VectorXd>(lines.data() + k * lines.stride(0), nv);
}

// What a solution x = (v', y) stands for, if physics allows it: torques, and the velocity after a period.
class Decision {
 public:
  // generalised: work space, where the generalised forces of the last x are found; limit: of the torques; base: how far
  // the base may be from its equation; share: by which share of its limit a torque may be beyond it, to be clipped.
  Decision(ColumnsIn M, VectorIn h, RowsOut lines, VectorOut generalised, VectorIn limit, double base, double share,
           double period)
      : M_(std::move(M)), h_(std::move(h)), lines_(std::move(lines)), generalised_(std::move(generalised)),
        limit_(std::move(limit)), base_(base), share_(share), period_(period) {
    expect(limit_.shape(0) + 6 == h_.shape(0), "the limits do not fit the joints");
  }

  // False, and nothing that counts, if a number is not finite, the base is off or a torque beyond its limit.
  bool decide(const VectorIn& x, const VectorIn& v, const VectorOut& torque, const VectorOut& velocity) const {
    const size_t nv = h_.shape(0), joints = limit_.shape(0);
    expect(v.shape(0) == nv && velocity.shape(0) == nv && torque.shape(0) == joints, "the command does not fit");
    generalised_forces(M_, h_, lines_, x, generalised_);
    const double* tau = generalised_.data();
    bool possible = true;  // comparisons with NaN are false
    for (size_t i = 0; i < 6; ++i) possible = possible && std::abs(tau[i]) <= base_;
    for (size_t i = 0; i < joints; ++i) {
      const double limit = limit_.data()[i], t = tau[6 + i];
      possible = possible && std::abs(t) <= (1.0 + share_) * limit;
      torque.data()[i] = std::min(std::max(t, -limit), limit);
    }
    double sum = 0.0;  // NaN or infinite as soon as one number is
    for (size_t i = 0; i < x.shape(0); ++i) sum += std::abs(x.data()[i]);
    for (size_t i = 0; i < nv; ++i) sum += std::abs(velocity.data()[i] = v.data()[i] + period_ * x.data()[i]);
    return possible && std::isfinite(sum);
  }

 private:
  ColumnsIn M_;
  VectorIn h_;
  RowsOut lines_;
  VectorOut generalised_;
  VectorIn limit_;
  double base_, share_, period_;
};

}  // namespace poise
