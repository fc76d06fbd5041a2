// Centre of mass of the whole body and its Jacobian, from placements and twists of the joints.
//
// Joint j carries a subtree of bodies with mass m_j and first moment s_j = sum of m p about the origin of the world.
// With (v_c, w_c) the twist of column c of the joint at that origin and m the total mass,
//
//   c = s_1 / m,      dc/dv_c = (m_j v_c + w_c x s_j) / m
#pragma once

#include <vector>

#include "arrays.hpp"

namespace poise {

using ColumnsOut = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

class CenterOfMass {
 public:
  // J: twists of the joints. Per joint: its pose, mass and centre of its body (in the joint frame), parent, first
  // column and number of columns. Joint 0 is the world.
  CenterOfMass(ColumnsIn J, std::vector<ColumnsIn> rotations, std::vector<VectorIn> positions, const VectorIn& masses,
               const MatrixIn& centers, const IndicesIn& parents, const IndicesIn& columns, const IndicesIn& counts,
               VectorOut center, ColumnsOut jacobian)
      : J_(std::move(J)), R_(std::move(rotations)), p_(std::move(positions)), center_(std::move(center)),
        jacobian_(std::move(jacobian)), first_moment_(R_.size()) {
    const size_t joints = R_.size();
    expect(p_.size() == joints && masses.shape(0) == joints && centers.shape(0) == joints && centers.shape(1) == 3 &&
               parents.shape(0) == joints && columns.shape(0) == joints && counts.shape(0) == joints,
           "a joint has a pose, a body and columns");
    expect(J_.shape(0) == 6 && jacobian_.shape(0) == 3 && jacobian_.shape(1) == J_.shape(1) && center_.shape(0) == 3,
           "the Jacobians do not fit");
    for (size_t k = 0; k < joints; ++k) {
      const int parent = parents.data()[k], begin = columns.data()[k], count = k == 0 ? 0 : counts.data()[k];
      expect(k == 0 || (0 <= parent && static_cast<size_t>(parent) < k), "a joint comes after its parent");
      expect(count == 0 || (0 <= begin && static_cast<size_t>(begin + count) <= J_.shape(1)), "no such column");
      expect(R_[k].shape(0) == 3 && R_[k].shape(1) == 3 && p_[k].shape(0) == 3, "a pose is 3 x 3 and 3");
      const double mass = k == 0 ? 0.0 : masses.data()[k];
      joint_.push_back({parent, begin, count, mass, mass, Vector3(centers.data() + 3 * k)});
    }
    for (size_t k = joints; k-- > 1;)
      joint_[static_cast<size_t>(joint_[k].parent)].subtree_mass += joint_[k].subtree_mass;
    expect(joints > 0 && joint_[0].subtree_mass > 0.0, "a body without mass");
  }

  void write() {
    const double inverse_mass = 1.0 / joint_[0].subtree_mass;
    first_moment_[0].setZero();
    for (size_t k = 1; k < joint_.size(); ++k)
      first_moment_[k] = joint_[k].mass * (vector3(p_[k]) + matrix3(R_[k]) * joint_[k].center);
    for (size_t k = joint_.size(); k-- > 1;) {
      const Joint& joint = joint_[k];
      const Vector3 moment = inverse_mass * first_moment_[k];
      const double mass = inverse_mass * joint.subtree_mass;
      for (int c = joint.begin; c < joint.begin + joint.count; ++c) {
        const double* twist = J_.data() + 6 * c;
        Eigen::Map<Vector3>(jacobian_.data() + 3 * c) =
            mass * Vector3(twist) + Vector3(twist + 3).cross(moment);
      }
      first_moment_[static_cast<size_t>(joint.parent)] += first_moment_[k];
    }
    Eigen::Map<Vector3>(center_.data()) = inverse_mass * first_moment_[0];
  }

 private:
  struct Joint {
    int parent, begin, count;
    double mass, subtree_mass;  // of its body; of its subtree
    Vector3 center;
  };

  ColumnsIn J_;
  std::vector<ColumnsIn> R_;
  std::vector<VectorIn> p_;
  VectorOut center_;
  ColumnsOut jacobian_;
  std::vector<Joint> joint_;
  std::vector<Vector3> first_moment_;
};

}  // namespace poise
