// The kinematic tree: twists and drifts of all bodies, and rows of relative velocities of two bodies.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace poise {

using Vector6 = Eigen::Matrix<double, 6, 1>;

class JointTree {
 public:
  // J: twists of the joints at the origin of the world. Per joint: its parent, first column of v and number of columns.
  // Joint 0 is the world.
  JointTree(ColumnsIn J, VectorIn v, const IndicesIn& parents, const IndicesIn& columns, const IndicesIn& counts)
      : J_(std::move(J)), v_(std::move(v)), twist_(parents.shape(0)), drift_(parents.shape(0)) {
    expect(J_.shape(0) == 6 && J_.shape(1) == v_.shape(0), "a Jacobian has six lines");
    expect(columns.shape(0) == joints() && counts.shape(0) == joints() && joints() > 0, "a joint has columns");
    for (size_t k = 0; k < joints(); ++k) {
      const auto& [parent, begin, count] =
          joint_.emplace_back(Joint{parents.data()[k], columns.data()[k], k == 0 ? 0 : counts.data()[k]});
      expect(k == 0 || (0 <= parent && static_cast<size_t>(parent) < k), "a joint comes after its parent");
      expect(count == 0 || (0 <= begin && 0 < count && static_cast<size_t>(begin + count) <= v_.shape(0)),
             "no such column");
    }
    update_twists();
  }

  size_t joints() const { return twist_.size(); }
  size_t variables() const { return v_.shape(0); }

  // Writes (n, p x n) . (velocity of p on body i - velocity of p on body j) as a row in v; only joints below their last
  // common ancestor contribute.
  void relative_row(int i, int j, const Vector6& wrench, double* row) const {
    std::fill(row, row + variables(), 0.0);
    while (i != j) {
      if (i > j) {
        add(i, wrench, row);
        i = joint_[i].parent;
      } else {
        add(j, -wrench, row);
        j = joint_[j].parent;
      }
    }
  }

  // Computes the twists V of all bodies at the origin of the world, and their drifts. The twist S of a joint moves with
  // its body: S' = V x S.
  void update_twists() {
    twist_[0].setZero();
    drift_[0].setZero();
    for (size_t k = 1; k < joints(); ++k) {
      const auto& [parent, begin, count] = joint_[k];
      Vector6 S = Vector6::Zero();
      for (int c = begin; c < begin + count; ++c) S += v_.data()[c] * column(c);
      twist_[k] = twist_[parent] + S;
      const Vector3 v = twist_[k].head<3>(), w = twist_[k].tail<3>(), s = S.head<3>(), t = S.tail<3>();
      drift_[k].head<3>() = drift_[parent].head<3>() + w.cross(s) + v.cross(t);
      drift_[k].tail<3>() = drift_[parent].tail<3>() + w.cross(t);
    }
  }

  const Vector6& twist(int joint) const { return twist_[joint]; }
  const Vector6& drift(int joint) const { return drift_[joint]; }

 private:
  struct Joint {
    int parent, begin, count;
  };

  Eigen::Map<const Vector6> column(int c) const { return Eigen::Map<const Vector6>(J_.data() + 6 * c); }

  void add(int joint, const Vector6& wrench, double* row) const {
    const auto& [parent, begin, count] = joint_[joint];
    for (int c = begin; c < begin + count; ++c) row[c] = wrench.dot(column(c));
  }

  ColumnsIn J_;
  VectorIn v_;
  std::vector<Joint> joint_;
  std::vector<Vector6> twist_, drift_;
};

}  // namespace poise
