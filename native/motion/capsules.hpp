// Pairs of capsules fixed to the bodies of a robot: their placement and their distance.
//
// A capsule is the set of points within a radius of a line segment with center c and half axis h. The segments of
// capsules i and j are nearest at p_i = c_i + s h_i and p_j = c_j + t h_j with s and t in [-1, 1], and the gap is
//
//   d = |p_i - p_j| - r_i - r_j        in m, negative if they overlap
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "arrays.hpp"

namespace poise {

using PointsOut = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Squared sine of the angle below which two axes are nearly parallel (0.6 degrees). There the closest points are
// regularized towards the middle, by at most `parallel_regularization`; otherwise they would jump from end to end.
constexpr double parallel_threshold = 1e-4, parallel_regularization = 1e-6;

class CapsulePairs {
 public:
  struct Pair {
    int i, j;
    double a, e;  // |h_i|^2, |h_j|^2
    double radii;
    double max_extent;  // bound of the gap: at least the distance of the centers minus this
  };

  struct WorldCapsule {
    Vector3 c, h;  // center and half axis in the world
  };

  struct ClosestPoints {
    double s, t;
    Vector3 w;  // p_i - p_j
  };

  // Arguments per capsule: center and half axis in the frame of its joint, radius, and the index of its joint among the
  // poses passed to `place`. Per pair: its two capsules.
  CapsulePairs(MatrixIn center, MatrixIn half_axis, VectorIn radius, IndicesIn carrier, IndicesIn first,
               IndicesIn second)
      : carrier_(carrier.data(), carrier.data() + carrier.shape(0)) {
    const size_t count = carrier_.size();
    expect(center.shape(0) == count && half_axis.shape(0) == count && radius.shape(0) == count &&
               center.shape(1) == 3 && half_axis.shape(1) == 3, "a capsule has a center, a half axis and a radius");
    expect(first.shape(0) == second.shape(0), "a pair has two capsules");
    for (size_t k = 0; k < count; ++k)
      local_.push_back({Vector3(center.data() + 3 * k), Vector3(half_axis.data() + 3 * k)});
    for (size_t k = 0; k < first.shape(0); ++k) {
      const int i = first.data()[k], j = second.data()[k];
      for (const int index : {i, j}) expect(0 <= index && static_cast<size_t>(index) < count, "no such capsule");
      const double a = std::max(local_[i].h.squaredNorm(), tiny), e = std::max(local_[j].h.squaredNorm(), tiny);
      const double radii = radius.data()[i] + radius.data()[j];
      pairs_.push_back({i, j, a, e, radii, std::sqrt(a) + std::sqrt(e) + radii});
    }
  }

  size_t capsules() const { return local_.size(); }
  size_t size() const { return pairs_.size(); }
  const Pair& operator[](size_t pair) const { return pairs_[pair]; }
  int carrier(size_t capsule) const { return carrier_[capsule]; }

  // Computes the capsules in the world from rotations R and positions p of their joints.
  void place(const std::vector<ColumnsIn>& R, const std::vector<VectorIn>& p, WorldCapsule* world) const {
    for (size_t k = 0; k < local_.size(); ++k) {
      const auto turn = matrix3(R[carrier_[k]]);
      world[k].c.noalias() = turn * local_[k].c + vector3(p[carrier_[k]]);
      world[k].h.noalias() = turn * local_[k].h;
    }
  }

  // For Python: X has one row (c, h) per capsule; d, s and t have one value per pair.
  void place(const std::vector<ColumnsIn>& R, const std::vector<VectorIn>& p, const PointsOut& X) const {
    expect_poses(R, p);
    expect(X.shape(0) == capsules() && X.shape(1) == 6, "a capsule has a center and a half axis");
    std::vector<WorldCapsule> world(capsules());
    place(R, p, world.data());
    for (size_t k = 0; k < capsules(); ++k)
      Eigen::Map<Eigen::Matrix<double, 6, 1>>(X.data() + 6 * k) << world[k].c, world[k].h;
  }

  void measure(const MatrixIn& X, const VectorOut& d, const VectorOut& s, const VectorOut& t) const {
    expect(X.shape(0) == capsules() && X.shape(1) == 6, "a capsule has a center and a half axis");
    expect(d.shape(0) == size() && s.shape(0) == size() && t.shape(0) == size(), "the gaps do not fit the pairs");
    std::vector<WorldCapsule> world;
    for (size_t k = 0; k < capsules(); ++k)
      world.push_back({Vector3(X.data() + 6 * k), Vector3(X.data() + 6 * k + 3)});
    for (size_t k = 0; k < size(); ++k) {
      const ClosestPoints met = closest_points(pairs_[k], world.data());
      d.data()[k] = met.w.norm() - pairs_[k].radii;
      s.data()[k] = met.s;
      t.data()[k] = met.t;
    }
  }

  void expect_poses(const std::vector<ColumnsIn>& R, const std::vector<VectorIn>& p) const {
    expect(R.size() == p.size(), "a joint has a rotation and a position");
    for (const auto& rotation : R) expect(rotation.shape(0) == 3 && rotation.shape(1) == 3, "a rotation is 3 x 3");
    for (const auto& position : p) expect(position.shape(0) == 3, "a vector has three components");
    for (const int joint : carrier_) expect(0 <= joint && static_cast<size_t>(joint) < R.size(), "no such joint");
  }

  // Minimises |c_i + s h_i - c_j - t h_j|^2: first s for unbounded t, then t, then s again, each clipped to its bounds.
  // This is exact: if t is inside its bounds, the last step gives the same s; otherwise t is at an end.
  ClosestPoints closest_points(const Pair& pair, const WorldCapsule* world) const {
    const WorldCapsule &i = world[pair.i], &j = world[pair.j];
    const Vector3 w = i.c - j.c;
    const double b = i.h.dot(j.h), c = i.h.dot(w), f = j.h.dot(w), ae = pair.a * pair.e;
    double sine = ae - b * b;
    sine += parallel_regularization / parallel_threshold * std::max(parallel_threshold * ae - sine, 0.0);
    double s = clipped((b * f - pair.e * c) / sine);
    const double t = clipped((b * s + f) / pair.e);
    s = clipped((b * t - c) / pair.a);
    return {s, t, w + s * i.h - t * j.h};
  }

 private:
  static constexpr double tiny = 1e-16;  // m^2; a sphere has no axis, any s is valid

  static double clipped(double value) { return std::min(std::max(value, -1.0), 1.0); }

  std::vector<int> carrier_;
  std::vector<WorldCapsule> local_;
  std::vector<Pair> pairs_;
};

}  // namespace poise
