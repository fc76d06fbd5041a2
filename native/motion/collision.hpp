// Rows of collision avoidance: the gaps of the nearest pairs of capsules and their derivatives.
//
// With n the unit vector from p_j to p_i (see capsules.hpp), the rate of a gap is n . (velocity of p_i on body i -
// velocity of p_j on body j); the rates of s and t have no effect, since d is minimal in them. Both points lie on a
// line along n, so with S the twists of the joints at the origin of the world
//
//   J = z (n, p x n)^T S     z: +1 for joints that move the first body only, -1 for the second only, 0 for both
#pragma once

#include "joint_tree.hpp"
#include "nearest_pairs.hpp"

namespace poise {

// Axes nearer than this (m) have no direction from one to the other.
constexpr double min_axis_distance = 1e-9;
// Bound on the part of a gap's drift that comes from the rotation of the pair, m/s^2: ten times gravity. This part is
// unbounded where axes cross or two ends are equally near, and no joint could follow.
constexpr double max_turning_drift = 100.0;

class GapRows {
 public:
  // Inputs from a snapshot: poses of the joints that carry capsules (`joints`: their indices) and the joint tree.
  // Outputs, one entry per row: index of the pair, gap, normal n, and the closest points on the two axes.
  GapRows(CapsulePairs pairs, std::vector<ColumnsIn> rotations, std::vector<VectorIn> positions, IndicesIn joints,
          JointTree tree, IndicesOut pair, VectorOut gap, PointsOut normal, PointsOut first, PointsOut second)
      : nearest_(std::move(pairs), std::move(pair)), R_(std::move(rotations)), p_(std::move(positions)),
        tree_(std::move(tree)), gap_(std::move(gap)), normal_(std::move(normal)), first_(std::move(first)),
        second_(std::move(second)), world_(nearest_.pairs().capsules()), state_(rows()) {
    nearest_.pairs().expect_poses(R_, p_);
    expect(joints.shape(0) == R_.size() && gap_.shape(0) == rows(), "joints or gap does not fit");
    for (const auto* points : {&normal_, &first_, &second_})
      expect(points->shape(0) == rows() && points->shape(1) == 3, "a vector has three components");
    for (size_t k = 0; k < world_.size(); ++k) {
      joint_.push_back(joints.data()[nearest_.pairs().carrier(k)]);
      expect(0 <= joint_[k] && static_cast<size_t>(joint_[k]) < tree_.joints(), "no such joint");
    }
  }

  size_t rows() const { return nearest_.rows(); }
  size_t pairs() const { return nearest_.pairs().size(); }
  size_t variables() const { return tree_.variables(); }
  int pair(size_t row) const { return nearest_.pair(row); }
  double gap(size_t row) const { return gap_.data()[row]; }

  // Selects the nearest pairs at the state of the snapshot and writes their gaps, normals and closest points.
  void update() {
    nearest_.pairs().place(R_, p_, world_.data());
    nearest_.select(world_.data());
    for (size_t k = 0; k < rows(); ++k) {
      const CapsulePairs::Pair& pair = nearest_[k];
      const auto [s, t, w] = nearest_.pairs().closest_points(pair, world_.data());
      const double length = w.norm();
      const bool crossing = length < min_axis_distance;
      gap_.data()[k] = length - pair.radii;
      at(normal_, k) = crossing ? separation_direction(pair) : Vector3(w / length);
      at(first_, k) = world_[pair.i].c + s * world_[pair.i].h;
      at(second_, k) = world_[pair.j].c + t * world_[pair.j].h;
      state_[k] = {std::abs(s) < 1.0, std::abs(t) < 1.0, crossing ? 0.0 : 1.0 / length};
    }
  }

  // J with d' = J v, for the current normals and first points.
  void jacobian(double* A, int64_t stride) const {
    for (size_t k = 0; k < rows(); ++k)
      tree_.relative_row(joint_[nearest_[k].i], joint_[nearest_[k].j], wrench(k), A + static_cast<int64_t>(k) * stride);
  }

  // J' v: acceleration of the gaps for v' = 0, m/s^2, from the drift of the bodies and from the rotation of the pair.
  void drift(double* out) {
    tree_.update_twists();
    for (size_t k = 0; k < rows(); ++k)
      out[k] = joint_drift(k) + std::min(std::max(turning_drift(k), -max_turning_drift), max_turning_drift);
  }

  // Writes the twists of both bodies of each row, and to `out` only the drift that comes from the bodies. For gaps of
  // other shapes.
  void body_twists(double* V_i, double* V_j, double* out) {
    tree_.update_twists();
    for (size_t k = 0; k < rows(); ++k) {
      Eigen::Map<Vector6>(V_i + 6 * k) = tree_.twist(joint_[nearest_[k].i]);
      Eigen::Map<Vector6>(V_j + 6 * k) = tree_.twist(joint_[nearest_[k].j]);
      out[k] = joint_drift(k);
    }
  }

 private:
  struct PairState {
    bool s_free, t_free;
    double inverse;  // 1 / |p_i - p_j|; zero if the axes cross
  };

  static Eigen::Map<Vector3> at(const PointsOut& points, size_t k) {
    return Eigen::Map<Vector3>(points.data() + 3 * k);
  }

  Vector6 wrench(size_t k) const {
    Vector6 wrench;
    wrench << at(normal_, k), at(first_, k).cross(at(normal_, k));
    return wrench;
  }

  // Direction of separation for axes that cross: perpendicular to both, on the side of their centers.
  Vector3 separation_direction(const CapsulePairs::Pair& pair) const {
    const CapsulePairs::WorldCapsule &i = world_[pair.i], &j = world_[pair.j];
    Vector3 apart = i.c - j.c;
    const Vector3 across = i.h.cross(j.h);
    if (across.squaredNorm() > parallel_threshold * pair.a * pair.e)
      apart = across.dot(apart) >= 0.0 ? across : Vector3(-across);
    const double size = apart.norm();
    return size > min_axis_distance ? Vector3(apart / size) : Vector3(0.0, 0.0, 1.0);
  }

  double joint_drift(size_t k) const {
    return wrench(k).dot(tree_.drift(joint_[nearest_[k].i]) - tree_.drift(joint_[nearest_[k].j]));
  }

  // d'' for constant twists of both bodies. With w = p_i - p_j of length l for points fixed to their bodies, g the
  // rates of the derivatives of w^2 / 2 by those of s and t that are inside their bounds, and H its second derivatives
  // by them:
  //
  //   d'' = n . w'' + (|w'|^2 - d'^2 - g^T H^-1 g) / l
  double turning_drift(size_t k) const {
    const CapsulePairs::Pair& pair = nearest_[k];
    const Vector3 &h_i = world_[pair.i].h, &h_j = world_[pair.j].h;
    const Vector6 &V_i = tree_.twist(joint_[pair.i]), &V_j = tree_.twist(joint_[pair.j]);
    const Vector3 n = at(normal_, k), p_i = at(first_, k), p_j = at(second_, k), w = p_i - p_j;
    const Vector3 w_i = V_i.tail<3>(), w_j = V_j.tail<3>();
    const Vector3 v_i = V_i.head<3>() + w_i.cross(p_i), v_j = V_j.head<3>() + w_j.cross(p_j), rate = v_i - v_j;
    const double a = pair.a, e = pair.e, b = h_i.dot(h_j), sine = a * e - b * b;
    const bool s_free = state_[k].s_free;
    // For parallel axes, sliding has no effect.
    const bool t_free = state_[k].t_free && !(s_free && sine < parallel_threshold * a * e);
    const double g_s = s_free ? h_i.dot(rate) + w.dot(w_i.cross(h_i)) : 0.0;
    const double g_t = t_free ? -h_j.dot(rate) - w.dot(w_j.cross(h_j)) : 0.0;
    const double sliding = (e * g_s * g_s + 2.0 * b * g_s * g_t + a * g_t * g_t) / (s_free && t_free ? sine : a * e);
    const double along = n.dot(rate);
    return n.dot(w_i.cross(v_i) - w_j.cross(v_j)) + (rate.squaredNorm() - along * along - sliding) * state_[k].inverse;
  }

  NearestPairs nearest_;
  std::vector<ColumnsIn> R_;
  std::vector<VectorIn> p_;
  JointTree tree_;
  VectorOut gap_;
  PointsOut normal_, first_, second_;
  std::vector<int> joint_;  // of each capsule
  std::vector<CapsulePairs::WorldCapsule> world_;
  std::vector<PairState> state_;
};

// Writer of gap rows: e = d, at least min_gaps of its pair; no bound for gaps larger than `influence`.
class GapWriter {
 public:
  GapWriter(GapRows& gaps, VectorIn min_gaps, double influence, VectorOut error, VectorOut low, RowsOut A,
            VectorOut drift)
      : gaps_(&gaps), min_gaps_(std::move(min_gaps)), influence_(influence), error_(std::move(error)),
        low_(std::move(low)), A_(std::move(A)), drift_(std::move(drift)) {
    expect(min_gaps_.shape(0) == gaps.pairs(), "min_gaps does not fit the pairs");
    expect(error_.shape(0) == gaps.rows() && low_.shape(0) == gaps.rows() && drift_.shape(0) == gaps.rows(),
           "the errors to write do not fit the task");
    expect_rows(A_, gaps.rows(), gaps.variables());
  }

  void write() const {
    gaps_->update();
    for (size_t k = 0; k < gaps_->rows(); ++k) {
      error_.data()[k] = gaps_->gap(k);
      low_.data()[k] = gaps_->gap(k) < influence_ ? min_gaps_.data()[gaps_->pair(k)]
                                                  : -std::numeric_limits<double>::infinity();
    }
    gaps_->jacobian(A_.data(), A_.stride(0));
  }

  void write_drift() const { gaps_->drift(drift_.data()); }

 private:
  GapRows* gaps_;
  VectorIn min_gaps_;
  double influence_;
  VectorOut error_, low_;
  RowsOut A_;
  VectorOut drift_;
};

}  // namespace poise
