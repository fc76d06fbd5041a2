// Logarithm of a rotation.
#pragma once

#include <cmath>

#include "arrays.hpp"

namespace poise {

// Rotation vector e with exp(e) = R, |e| <= pi. Computed from the quaternion, starting with its larger part, which is
// accurate both near the identity and near half a turn.
inline Vector3 log_so3(const Matrix3& R) {
  Eigen::Quaterniond quaternion(R);
  const double sine = quaternion.vec().norm();  // of half the angle
  const double cosine = std::abs(quaternion.w());
  const double sign = quaternion.w() < 0.0 ? -1.0 : 1.0;
  if (sine < 1e-10) return 2.0 * sign * quaternion.vec();  // atan(s) = s to machine precision
  return (2.0 * sign * std::atan2(sine, cosine) / sine) * quaternion.vec();
}

}  // namespace poise
