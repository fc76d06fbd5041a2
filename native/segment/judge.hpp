// Whether the ground can bear a segment: the zero moment point of the whole body, sample by sample, over the support.
// The same in numpy, with the equations: plans/segment/pressure.py and support.py.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "courses.hpp"

namespace poise::segment {

constexpr double kGravity = 9.81;
constexpr double kLevel = 1e-4;  // LEVEL of support.py

struct Vector3 {
  double x, y, z;
};
inline Vector3 operator+(Vector3 a, Vector3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vector3 operator-(Vector3 a, Vector3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vector3 operator*(double k, Vector3 a) { return {k * a.x, k * a.y, k * a.z}; }

// The body: legs and the rest, see plans/segment/body.py.
struct Masses {
  double mass, leg, hanging, roll, pitch;
};

// All that moves besides the centre of mass.
struct Limbs {
  std::array<std::array<double, 4>, 2> feet{};  // left, right: x, y, z, yaw as they stand
  int step = -1;                                // which of them moves
  Swing swing;
  std::array<Vector3, 2> hips{};
  std::array<double, 3> attitude{}, attitude_rate{}, attitude_goal{};
  double seconds = 1.0;
};

// Rate of the angular momentum about the centre of mass, per mass, about x and y.
inline std::array<double, 2> moment(const Masses& body, const Limbs& limbs, double time, Vector3 p, Vector3 a) {
  Vector3 s[2], f[2];
  for (int i = 0; i < 2; ++i) {
    Vector3 foot{limbs.feet[i][0], limbs.feet[i][1], limbs.feet[i][2]}, faster{0.0, 0.0, 0.0};
    if (i == limbs.step) {
      const auto m = limbs.swing.at(time);
      foot = {m[0].value, m[1].value, m[2].value};
      faster = {m[0].acceleration, m[1].acceleration, m[2].acceleration};
    }
    s[i] = body.hanging * (foot - p) + (1.0 - body.hanging) * limbs.hips[i];
    f[i] = body.hanging * (faster - a);
  }
  std::array<double, 2> found{0.0, 0.0};
  const auto add = [&found](double m, Vector3 r, Vector3 b) {
    found[0] += m * (r.y * b.z - r.z * b.y);
    found[1] += m * (r.z * b.x - r.x * b.z);
  };
  add(body.leg, s[0], f[0]);
  add(body.leg, s[1], f[1]);
  add(body.leg * body.leg / (body.mass - 2.0 * body.leg), s[0] + s[1], f[0] + f[1]);
  double turn[2];
  for (int i = 0; i < 2; ++i)
    turn[i] = course(time, limbs.attitude[i], limbs.attitude_rate[i], limbs.attitude_goal[i], 0.0, limbs.seconds)
                  .acceleration;
  const double c = std::cos(limbs.attitude[2]), w = std::sin(limbs.attitude[2]);
  found[0] += body.roll * (c * turn[0] - w * turn[1]);
  found[1] += body.pitch * (w * turn[0] + c * turn[1]);
  return {found[0] / body.mass, found[1] / body.mass};
}

// Geometric reach of the legs, see plans/guidance/legs.py: hips in the body frame, ankles in that of the sole.
struct Reach {
  std::array<Vector3, 2> hips{}, ankles{};
  double longest = std::numeric_limits<double>::infinity(), shortest = 0.0;
};

inline Vector3 turned(Vector3 a, double yaw) {
  const double c = std::cos(yaw), s = std::sin(yaw);
  return {c * a.x - s * a.y, s * a.x + c * a.y, a.z};
}

// How far the legs are from being stretched, and from being folded: the least of both.
inline std::array<double, 2> slack(const Reach& reach, const Limbs& limbs, double time, Vector3 p) {
  const double yaw =
      course(time, limbs.attitude[2], limbs.attitude_rate[2], limbs.attitude_goal[2], 0.0, limbs.seconds).value;
  double least = std::numeric_limits<double>::infinity(), folded = least;
  for (int i = 0; i < 2; ++i) {
    auto foot = limbs.feet[i];
    if (i == limbs.step) {
      const auto m = limbs.swing.at(time);
      foot = {m[0].value, m[1].value, m[2].value, m[3].value};
    }
    const Vector3 leg =
        p + turned(reach.hips[i], yaw) - Vector3{foot[0], foot[1], foot[2]} - turned(reach.ankles[i], foot[3]);
    const double length = std::sqrt(leg.x * leg.x + leg.y * leg.y + leg.z * leg.z);
    least = std::min(least, reach.longest - length);
    folded = std::min(folded, length - reach.shortest);
  }
  return {least, folded};
}

// The hull of some soles, at one height or at two.
class Region {
 public:
  Region(const std::vector<std::array<double, 4>>& feet, double length, double width) {
    for (const auto& foot : feet) {
      const double c = std::cos(foot[3]), s = std::sin(foot[3]);
      for (int k = 0; k < 4; ++k) {
        const double x = (k == 0 || k == 3) ? length : -length, y = k < 2 ? width : -width;
        corners_.push_back({foot[0] + c * x - s * y, foot[1] + s * x + c * y, foot[2]});
      }
    }
    ground = feet.front()[2];
    for (const auto& foot : feet) level_ = level_ && std::abs(foot[2] - ground) < kLevel;
    if (level_) edges_ = hull(corners_);
  }

  // How far inside a point of the plane at `ground` is; negative outside.
  double margin(double x, double y, Vector3 center) const {
    if (level_) return inside(edges_, x, y);
    std::vector<Vector3> seen(corners_);
    for (auto& corner : seen) {
      const double scale = (center.z - ground) / (center.z - corner.z);
      corner.x = center.x + (corner.x - center.x) * scale;
      corner.y = center.y + (corner.y - center.y) * scale;
    }
    return inside(hull(seen), x, y);
  }

  double ground = 0.0;

 private:
  struct Edge {
    double nx, ny, offset;
  };

  // Lines through two corners that have all corners on one side.
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
