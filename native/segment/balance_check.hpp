// Balance of a motion segment: the zero moment point (ZMP) of the whole body and its margin in the support region, for
// each sample. The equations and their numpy version: plans/segment/three_masses.py and plans/support_region.py.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "limb_curves.hpp"

namespace poise::segment {

constexpr double kGravity = 9.81;
constexpr double kLevelTolerance = 1e-4;  // m; feet whose heights differ by less are level

struct Vector3 {
  double x, y, z;
};
inline Vector3 operator+(Vector3 a, Vector3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vector3 operator-(Vector3 a, Vector3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vector3 operator*(double k, Vector3 a) { return {k * a.x, k * a.y, k * a.z}; }

// Three-mass model: two legs and the rest of the body, see plans/segment/three_masses.py. Masses in kg; position of the
// leg mass as a fraction of the way from hip to foot; inertia of the trunk about x and y, kg m^2.
struct Masses {
  double mass, leg_mass, leg_mass_position, roll_inertia, pitch_inertia;
};

// Motion of everything but the centre of mass.
struct LimbMotion {
  std::array<std::array<double, 4>, 2> feet{};  // left, right: x, y, z, yaw on the ground
  int swing_foot = -1;                          // index of the stepping foot; -1: none
  SwingCurve swing;
  std::array<Vector3, 2> hips{};
  std::array<double, 3> attitude{}, attitude_rate{}, attitude_goal{};
  double seconds = 1.0;
};

// Rate of the angular momentum about the centre of mass, about x and y, divided by the mass. p, a: position and
// acceleration of the centre of mass.
inline std::array<double, 2> momentum_rate(const Masses& body, const LimbMotion& limbs, double time, Vector3 p,
                                           Vector3 a) {
  Vector3 s[2], f[2];
  for (int i = 0; i < 2; ++i) {
    Vector3 foot{limbs.feet[i][0], limbs.feet[i][1], limbs.feet[i][2]}, foot_acceleration{0.0, 0.0, 0.0};
    if (i == limbs.swing_foot) {
      const auto m = limbs.swing.at(time);
      foot = {m[0].value, m[1].value, m[2].value};
      foot_acceleration = {m[0].acceleration, m[1].acceleration, m[2].acceleration};
    }
    s[i] = body.leg_mass_position * (foot - p) + (1.0 - body.leg_mass_position) * limbs.hips[i];
    f[i] = body.leg_mass_position * (foot_acceleration - a);
  }
  std::array<double, 2> found{0.0, 0.0};
  const auto add = [&found](double m, Vector3 r, Vector3 b) {
    found[0] += m * (r.y * b.z - r.z * b.y);
    found[1] += m * (r.z * b.x - r.x * b.z);
  };
  add(body.leg_mass, s[0], f[0]);
  add(body.leg_mass, s[1], f[1]);
  add(body.leg_mass * body.leg_mass / (body.mass - 2.0 * body.leg_mass), s[0] + s[1], f[0] + f[1]);
  double turn[2];
  for (int i = 0; i < 2; ++i)
    turn[i] = quintic(time, limbs.attitude[i], limbs.attitude_rate[i], limbs.attitude_goal[i], 0.0, limbs.seconds)
                  .acceleration;
  const double c = std::cos(limbs.attitude[2]), w = std::sin(limbs.attitude[2]);
  found[0] += body.roll_inertia * (c * turn[0] - w * turn[1]);
  found[1] += body.pitch_inertia * (w * turn[0] + c * turn[1]);
  return {found[0] / body.mass, found[1] / body.mass};
}

// Geometric limits of the legs, see plans/guidance/limb_reach.py: hips in the body frame, ankles in the frame of the
// sole; distance of hip and ankle at most `longest`, at least `shortest`.
struct LegLimits {
  std::array<Vector3, 2> hips{}, ankles{};
  double longest = std::numeric_limits<double>::infinity(), shortest = 0.0;
};

inline Vector3 rotated_by_yaw(Vector3 a, double yaw) {
  const double c = std::cos(yaw), s = std::sin(yaw);
  return {c * a.x - s * a.y, s * a.x + c * a.y, a.z};
}

// Smallest margins of both legs until full extension and until full flexion, m.
inline std::array<double, 2> leg_margins(const LegLimits& limits, const LimbMotion& limbs, double time, Vector3 p) {
  const double yaw =
      quintic(time, limbs.attitude[2], limbs.attitude_rate[2], limbs.attitude_goal[2], 0.0, limbs.seconds).value;
  double extension = std::numeric_limits<double>::infinity(), flexion = extension;
  for (int i = 0; i < 2; ++i) {
    auto foot = limbs.feet[i];
    if (i == limbs.swing_foot) {
      const auto m = limbs.swing.at(time);
      foot = {m[0].value, m[1].value, m[2].value, m[3].value};
    }
    const Vector3 leg =
        p + rotated_by_yaw(limits.hips[i], yaw) - Vector3{foot[0], foot[1], foot[2]} -
        rotated_by_yaw(limits.ankles[i], foot[3]);
    const double length = std::sqrt(leg.x * leg.x + leg.y * leg.y + leg.z * leg.z);
    extension = std::min(extension, limits.longest - length);
    flexion = std::min(flexion, length - limits.shortest);
  }
  return {extension, flexion};
}

// Convex hull of soles at one height or at several.
class SupportRegion {
 public:
  SupportRegion(const std::vector<std::array<double, 4>>& feet, double half_length, double half_width) {
    for (const auto& foot : feet) {
      const double c = std::cos(foot[3]), s = std::sin(foot[3]);
      for (int k = 0; k < 4; ++k) {
        const double x = (k == 0 || k == 3) ? half_length : -half_length, y = k < 2 ? half_width : -half_width;
        corners_.push_back({foot[0] + c * x - s * y, foot[1] + s * x + c * y, foot[2]});
      }
    }
    ground = feet.front()[2];
    for (const auto& foot : feet) level_ = level_ && std::abs(foot[2] - ground) < kLevelTolerance;
    if (level_) edges_ = hull(corners_);
  }

  // Distance of a point of the plane at height `ground` from the edge of the region; negative outside. Soles at other
  // heights are projected to the plane from the centre of mass.
  double margin(double x, double y, Vector3 center) const {
    if (level_) return inside(edges_, x, y);
    std::vector<Vector3> projected(corners_);
    for (auto& corner : projected) {
      const double scale = (center.z - ground) / (center.z - corner.z);
      corner.x = center.x + (corner.x - center.x) * scale;
      corner.y = center.y + (corner.y - center.y) * scale;
    }
    return inside(hull(projected), x, y);
  }

  double ground = 0.0;

 private:
  struct Edge {
    double nx, ny, offset;
  };

  // Edges: lines through two corners with all corners on one side.
  static std::vector<Edge> hull(const std::vector<Vector3>& points) {
    std::vector<Edge> found;
    for (size_t i = 0; i < points.size(); ++i) {
      for (size_t j = i + 1; j < points.size(); ++j) {
        double nx = points[j].y - points[i].y, ny = points[i].x - points[j].x;
        const double length = std::hypot(nx, ny);
        if (length < 1e-9) continue;
        nx /= length, ny /= length;
        const double offset = nx * points[i].x + ny * points[i].y;
        bool outer = true, inner = true;
        for (const auto& q : points) {
          const double side = nx * q.x + ny * q.y - offset;
          outer = outer && side <= 1e-9;
          inner = inner && side >= -1e-9;
        }
        if (outer) found.push_back({nx, ny, offset});
        if (inner && !outer) found.push_back({-nx, -ny, -offset});
      }
    }
    return found;
  }

  static double inside(const std::vector<Edge>& edges, double x, double y) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& edge : edges) least = std::min(least, edge.offset - edge.nx * x - edge.ny * y);
    return least;
  }

  std::vector<Vector3> corners_;
  std::vector<Edge> edges_;
  bool level_ = true;
};

}  // namespace poise::segment
