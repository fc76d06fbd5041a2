// Python's view of motion segments: courses of limbs, and whether the ground can bear a segment.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>

#include "judge.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace poise::segment;

namespace {

using Times = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Four = std::array<double, 4>;

template <typename... Sizes>
auto array(double*& data, Sizes... sizes) {
  size_t count = 1;
  ((count *= static_cast<size_t>(sizes)), ...);
  data = new double[count];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return nb::ndarray<nb::numpy, double>(data, {static_cast<size_t>(sizes)...}, owner);
}

auto courses(const Times& times, const Times& start, const Times& rate, const Times& goal, double begin,
             double seconds) {
  const size_t n = times.shape(0), k = start.shape(0);
  if (rate.shape(0) != k || goal.shape(0) != k) throw std::invalid_argument("start, rate and goal differ in size");
  double* out;
  auto found = array(out, 3, n, k);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < k; ++j) {
      const Motion m = course(times.data()[i], start.data()[j], rate.data()[j], goal.data()[j], begin, seconds);
      out[i * k + j] = m.value;
      out[(n + i) * k + j] = m.rate;
      out[(2 * n + i) * k + j] = m.acceleration;
    }
  }
  return found;
}

auto swing_courses(const Swing& swing, const Times& times) {
  const size_t n = times.shape(0);
  double* out;
  auto found = array(out, 3, n, 4);
  for (size_t i = 0; i < n; ++i) {
    const auto m = swing.at(times.data()[i]);
    for (size_t j = 0; j < 4; ++j) {
      out[i * 4 + j] = m[j].value;
      out[(n + i) * 4 + j] = m[j].rate;
      out[(2 * n + i) * 4 + j] = m[j].acceleration;
    }
  }
  return found;
}

Vector3 row(const Rows& rows, size_t i) {
  const double* at = rows.data() + 3 * i;
  return {at[0], at[1], at[2]};
}

auto moments(const Masses& body, const Limbs& limbs, const Times& times, const Rows& p, const Rows& a) {
  const size_t n = times.shape(0);
  if (p.shape(0) != n || a.shape(0) != n || p.shape(1) != 3 || a.shape(1) != 3)
    throw std::invalid_argument("centres and accelerations are one row of three per time");
  double* out;
  auto found = array(out, n, 2);
  for (size_t i = 0; i < n; ++i) {
    const auto m = moment(body, limbs, times.data()[i], row(p, i), row(a, i));
    out[2 * i] = m[0], out[2 * i + 1] = m[1];
  }
  return found;
}

// Least margin of the zero moment point, least force upwards per mass, how far the legs are from being stretched and from
// being folded. Phases: their ends, and the feet that stand.
std::tuple<double, double, double, double> judge(const Masses& body, const Reach& reach, const Limbs& limbs, const Times& times, const Rows& p,
                                 const Rows& a, const std::vector<double>& ends,
                                 const std::vector<std::vector<Four>>& feet, double length, double width,
                                 double ground) {
  const size_t n = times.shape(0);
  if (p.shape(0) != n || a.shape(0) != n || p.shape(1) != 3 || a.shape(1) != 3 || ends.size() != feet.size() ||
      ends.empty())
    throw std::invalid_argument("centres and accelerations are one row of three per time; phases have ends and feet");
  std::vector<Region> regions;
  for (const auto& standing : feet) {
    if (standing.empty()) throw std::invalid_argument("a phase without feet");
    regions.emplace_back(standing, length, width);
    regions.back().ground = ground;
  }
  double least = std::numeric_limits<double>::infinity(), lift = least, spare = least, folded = least;
  size_t k = 0;
  for (size_t i = 0; i < n; ++i) {
    const double time = times.data()[i];
    while (k + 1 < ends.size() && time >= ends[k] + 1e-9) ++k;
    const Vector3 c = row(p, i), f = row(a, i);
    const auto m = moment(body, limbs, time, c, f);
    const double up = f.z + kGravity, tall = c.z - ground;
    lift = std::min(lift, up);
    const double x = c.x - (f.x * tall + m[1]) / up, y = c.y - (f.y * tall - m[0]) / up;
    const double margin = regions[k].margin(x, y, c);
    if (!std::isfinite(margin)) return {-1.0, lift, spare, folded};
    least = std::min(least, margin);
    if (i % 4 == 0 || i + 1 == n) {
      const auto legs = slack(reach, limbs, time, c);
      spare = std::min(spare, legs[0]);
      folded = std::min(folded, legs[1]);
    }
  }
  return {least, lift, spare, folded};
}

}  // namespace

NB_MODULE(_segment, m) {
  m.doc() = "Motion segments: courses of limbs, and whether the ground can bear them.";
  nb::set_leak_warnings(false);

  nb::class_<Masses>(m, "Masses")
      .def(nb::init<double, double, double, double, double>(), "mass"_a, "leg"_a, "hanging"_a, "roll"_a, "pitch"_a);

  nb::class_<Reach>(m, "Reach")
      .def("__init__",
           [](Reach* self, std::array<double, 6> hips, std::array<double, 6> ankles, double longest, double shortest) {
             new (self) Reach;
             self->hips = {Vector3{hips[0], hips[1], hips[2]}, Vector3{hips[3], hips[4], hips[5]}};
             self->ankles = {Vector3{ankles[0], ankles[1], ankles[2]}, Vector3{ankles[3], ankles[4], ankles[5]}};
             self->longest = longest, self->shortest = shortest;
           },
           "hips"_a, "ankles"_a, "longest"_a, "shortest"_a);

  nb::class_<Swing>(m, "Swing")
      .def("__init__",
           [](Swing* self, Four start, Four rate, Four goal, double lift, double begin, double seconds, bool cycloid,
              std::array<double, 2> bulge) {
             new (self) Swing{start, rate, goal, lift, begin, seconds, cycloid, bulge};
           },
           "start"_a, "rate"_a, "goal"_a, "lift"_a, "begin"_a, "seconds"_a, "cycloid"_a, "bulge"_a)
      .def("at", &swing_courses, "times"_a, "Place and yaw, rates and accelerations (3, n, 4).");

  nb::class_<Limbs>(m, "Limbs")
      .def("__init__",
           [](Limbs* self, Four left, Four right, int step, const Swing* swing, std::array<double, 3> left_hip,
              std::array<double, 3> right_hip, std::array<double, 3> attitude, std::array<double, 3> rate,
              std::array<double, 3> goal, double seconds) {
             new (self) Limbs;
             self->feet = {left, right};
             self->step = swing == nullptr ? -1 : step;
             if (swing != nullptr) self->swing = *swing;
             self->hips = {Vector3{left_hip[0], left_hip[1], left_hip[2]},
                           Vector3{right_hip[0], right_hip[1], right_hip[2]}};
             self->attitude = attitude, self->attitude_rate = rate, self->attitude_goal = goal;
             self->seconds = seconds;
           },
           "left"_a, "right"_a, "step"_a, "swing"_a.none(), "left_hip"_a, "right_hip"_a, "attitude"_a, "rate"_a,
           "goal"_a, "seconds"_a);

  m.def("courses", &courses, "times"_a, "start"_a, "rate"_a, "goal"_a, "begin"_a, "seconds"_a);
  m.def("moments", &moments, "body"_a, "limbs"_a, "times"_a, "center"_a, "acceleration"_a);
  m.def("judge", &judge, "body"_a, "reach"_a, "limbs"_a, "times"_a, "center"_a, "acceleration"_a, "ends"_a, "feet"_a, "length"_a,
        "width"_a, "ground"_a);
}
