// Rows that keep bodies apart: the gaps of the nearest pairs of capsules, and how they change.
//
// With n the unit vector from p_j to p_i (see capsules.hpp), the rate of a gap is n . (velocity of p_i on body i -
// velocity of p_j on body j): how s and t change does not matter, since d is least in them. Both points lie on a line
// along n, so with S the joints' twists at the origin of the world
//
//   J = z (n, p x n)^T S     z: +1 for joints that move the first body only, -1 for the second only, 0 for both
#pragma once

#include "joint_tree.hpp"
#include "nearest.hpp"

namespace poise {

// Axes nearer than this (m) have no direction from one to the other.
constexpr double touching = 1e-9;
// What the turning of a pair may add to the drift of its gap, m/s^2: ten times gravity. It grows without end where axes
// cross or two ends are equally near, and no joint could follow.
constexpr double greatest_turning = 100.0;

class GapRows {
 public:
  // What a snapshot keeps: poses of the carrying joints, whose numbers are `joints`, and the tree. What is written, one
  // entry per row: which pair, its gap, n, and where it is nearest on the axes.
  GapRows(CapsulePairs pairs, std::vector<ColumnsIn> rotations, std::vector<VectorIn> positions, IndicesIn joints,
          JointTree tree, IndicesOut pair, VectorOut gap, PointsOut normal, PointsOut first, PointsOut second)
      : nearest_(std::move(pairs), std::move(pair)), R_(std::move(rotations)), p_(std::move(positions)),
        tree_(std::move(tree)), gap_(std::move(gap)), normal_(std::move(normal)), first_(std::move(first)),
        second_(std::move(second)), placed_(nearest_.pairs().capsules()), met_(rows()) {
    nearest_.pairs().expect_poses(R_, p_);
    expect(joints.shape(0) == R_.size() && gap_.shape(0) == rows(), "a joint has a number and a row a gap");
    for (const auto* points : {&normal_, &first_, &second_})
      expect(points->shape(0) == rows() && points->shape(1) == 3, "a vector has three components");
    for (size_t k = 0; k < placed_.size(); ++k) {
      joint_.push_back(joints.data()[nearest_.pairs().carrier(k)]);
      expect(0 <= joint_[k] && static_cast<size_t>(joint_[k]) < tree_.joints(), "no such joint");
    }
  }

  size_t rows() const { return nearest_.rows(); }
  size_t pairs() const { return nearest_.pairs().size(); }
  size_t variables() const { return tree_.variables(); }
  int pair(size_t row) const { return nearest_.pair(row); }
  double gap(size_t row) const { return gap_.data()[row]; }

  // Gives rows to the pairs that are nearest at the snapshot's state, and writes where they meet.
  void update() {
    nearest_.pairs().place(R_, p_, placed_.data());
    nearest_.choose(placed_.data());
    for (size_t k = 0; k < rows(); ++k) {
      const CapsulePairs::Pair& pair = nearest_[k];
      const auto [s, t, w] = nearest_.pairs().meet(pair, placed_.data());
      const double length = w.norm();
      const bool crossing = length < touching;
      gap_.data()[k] = length - pair.radii;
      at(normal_, k) = crossing ? parting(pair) : Vector3(w / length);
      at(first_, k) = placed_[pair.i].c + s * placed_[pair.i].h;
      at(second_, k) = placed_[pair.j].c + t * placed_[pair.j].h;
      met_[k] = {std::abs(s) < 1.0, std::abs(t) < 1.0, crossing ? 0.0 : 1.0 / length};
    }
  }

  // J with d' = J v, for the normals and first points that stand in the rows.
  void jacobian(double* A, int64_t stride) const {
    for (size_t k = 0; k < rows(); ++k)
      tree_.part(joint_[nearest_[k].i], joint_[nearest_[k].j], wrench(k), A + static_cast<int64_t>(k) * stride);
  }

  // J' v: how the gaps accelerate when no joint does, m/s^2; that of the joints, and that of the pair's own turning.
  void drift(double* out) {
    tree_.move();
    for (size_t k = 0; k < rows(); ++k)
      out[k] = carried(k) + std::min(std::max(turning(k), -greatest_turning), greatest_turning);
  }

  // The first part of it only, and the twists of both bodies of each row: for gaps that turn in another way.
  void carry(double* V_i, double* V_j, double* out) {
    tree_.move();
    for (size_t k = 0; k < rows(); ++k) {
      Eigen::Map<Vector6>(V_i + 6 * k) = tree_.twist(joint_[nearest_[k].i]);
      Eigen::Map<Vector6>(V_j + 6 * k) = tree_.twist(joint_[nearest_[k].j]);
      out[k] = carried(k);
    }
  }

 private:
  struct Met {
    bool s_free, t_free;
    double inverse;  // of |p_i - p_j|; zero where there is nothing to turn about
  };

  static Eigen::Map<Vector3> at(const PointsOut& points, size_t k) {
    return Eigen::Map<Vector3>(points.data() + 3 * k);
  }

  Vector6 wrench(size_t k) const {
    Vector6 wrench;
    wrench << at(normal_, k), at(first_, k).cross(at(normal_, k));
    return wrench;
  }

  // For axes that cross, a direction to part along: across both, on the side of their centers.
  Vector3 parting(const CapsulePairs::Pair& pair) const {
    const CapsulePairs::Placed &i = placed_[pair.i], &j = placed_[pair.j];
    Vector3 apart = i.c - j.c;
    const Vector3 across = i.h.cross(j.h);
    if (across.squaredNorm() > parallel * pair.a * pair.e) apart = across.dot(apart) >= 0.0 ? across : Vector3(-across);
    const double size = apart.norm();
    return size > touching ? Vector3(apart / size) : Vector3(0.0, 0.0, 1.0);
  }

  double carried(size_t k) const {
    return wrench(k).dot(tree_.drift(joint_[nearest_[k].i]) - tree_.drift(joint_[nearest_[k].j]));
  }

  // d'' while both bodies keep their twists. With w = p_i - p_j of length l, the points fixed to their bodies, and g
  // the rate of the slopes of w^2 / 2 in those of s and t that are inside their bounds, H their second derivatives:
  //
  //   d'' = n . w'' + (|w'|^2 - d'^2 - g^T H^-1 g) / l
  double turning(size_t k) const {
    const CapsulePairs::Pair& pair = nearest_[k];
    const Vector3 &h_i = placed_[pair.i].h, &h_j = placed_[pair.j].h;
    const Vector6 &V_i = tree_.twist(joint_[pair.i]), &V_j = tree_.twist(joint_[pair.j]);
    const Vector3 n = at(normal_, k), p_i = at(first_, k), p_j = at(second_, k), w = p_i - p_j;
    const Vector3 w_i = V_i.tail<3>(), w_j = V_j.tail<3>();
    const Vector3 v_i = V_i.head<3>() + w_i.cross(p_i), v_j = V_j.head<3>() + w_j.cross(p_j), rate = v_i - v_j;
    const double a = pair.a, e = pair.e, b = h_i.dot(h_j), sine = a * e - b * b;
    const bool s_free = met_[k].s_free;
    const bool t_free = met_[k].t_free && !(s_free && sine < parallel * a * e);  // sliding along changes nothing
    const double g_s = s_free ? h_i.dot(rate) + w.dot(w_i.cross(h_i)) : 0.0;
    const double g_t = t_free ? -h_j.dot(rate) - w.dot(w_j.cross(h_j)) : 0.0;
    const double slid = (e * g_s * g_s + 2.0 * b * g_s * g_t + a * g_t * g_t) / (s_free && t_free ? sine : a * e);
    const double along = n.dot(rate);
    return n.dot(w_i.cross(v_i) - w_j.cross(v_j)) + (rate.squaredNorm() - along * along - slid) * met_[k].inverse;
  }

  NearestPairs nearest_;
  std::vector<ColumnsIn> R_;
  std::vector<VectorIn> p_;
  JointTree tree_;
  VectorOut gap_;
  PointsOut normal_, first_, second_;
  std::vector<int> joint_;  // that carries each capsule
  std::vector<CapsulePairs::Placed> placed_;
  std::vector<Met> met_;
};

// A task on gaps, bound to the memory it writes: e = d, no less than what is wanted of its pair, unless it is further
// than what has influence.
class GapWriter {
 public:
  GapWriter(GapRows& gaps, VectorIn wanted, double influence, VectorOut error, VectorOut low, RowsOut A,
            VectorOut drift)
      : gaps_(&gaps), wanted_(std::move(wanted)), influence_(influence), error_(std::move(error)),
        low_(std::move(low)), A_(std::move(A)), drift_(std::move(drift)) {
    expect(wanted_.shape(0) == gaps.pairs(), "the gaps wanted do not fit the pairs");
    expect(error_.shape(0) == gaps.rows() && low_.shape(0) == gaps.rows() && drift_.shape(0) == gaps.rows(),
           "the errors to write do not fit the task");
    expect_rows(A_, gaps.rows(), gaps.variables());
  }

  void write() const {
    gaps_->update();
    for (size_t k = 0; k < gaps_->rows(); ++k) {
      error_.data()[k] = gaps_->gap(k);
      low_.data()[k] = gaps_->gap(k) < influence_ ? wanted_.data()[gaps_->pair(k)]
                                                  : -std::numeric_limits<double>::infinity();
    }
    gaps_->jacobian(A_.data(), A_.stride(0));
  }

  void write_drift() const { gaps_->drift(drift_.data()); }

 private:
  GapRows* gaps_;
  VectorIn wanted_;
  double influence_;
  VectorOut error_, low_;
  RowsOut A_;
  VectorOut drift_;
};

}  // namespace poise
