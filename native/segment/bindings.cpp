// Python bindings of motion segments: curves of limbs and the check of balance.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>

#include "balance_check.hpp"

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

auto quintic_curves(const Times& times, const Times& start, const Times& rate, const Times& goal, double begin,
             double seconds) {
  const size_t n = times.shape(0), k = start.shape(0);
  if (rate.shape(0) != k || goal.shape(0) != k) throw std::invalid_argument("start, rate and goal differ in size");
  double* out;
  auto found = array(out, 3, n, k);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < k; ++j) {
      const CurveSample m = quintic(times.data()[i], start.data()[j], rate.data()[j], goal.data()[j], begin, seconds);
      out[i * k + j] = m.value;
      out[(n + i) * k + j] = m.rate;
      out[(2 * n + i) * k + j] = m.acceleration;
    }
  }
  return found;
}

auto swing_samples(const SwingCurve& swing, const Times& times) {
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

auto angular_momentum_rate(const Masses& body, const LimbMotion& limbs, const Times& times, const Rows& p,
                           const Rows& a) {
  const size_t n = times.shape(0);
  if (p.shape(0) != n || a.shape(0) != n || p.shape(1) != 3 || a.shape(1) != 3)
    throw std::invalid_argument("center and acceleration need one row of three per time");
  double* out;
  auto found = array(out, n, 2);
  for (size_t i = 0; i < n; ++i) {
    const auto m = momentum_rate(body, limbs, times.data()[i], row(p, i), row(a, i));
    out[2 * i] = m[0], out[2 * i + 1] = m[1];
  }
  return found;
}

// Returns the smallest ZMP margin (m), the smallest vertical force per mass (m/s^2), and the smallest margins of the
// legs until extension and until flexion (m). Phases are given by their end times and their stance feet.
std::tuple<double, double, double, double> check_balance(
    const Masses& body, const LegLimits& leg_limits, const LimbMotion& limbs, const Times& times, const Rows& p,
    const Rows& a, const std::vector<double>& phase_ends, const std::vector<std::vector<Four>>& phase_feet,
    double half_length, double half_width, double ground) {
  const size_t n = times.shape(0);
  if (p.shape(0) != n || a.shape(0) != n || p.shape(1) != 3 || a.shape(1) != 3 || 
      phase_ends.size() != phase_feet.size() || phase_ends.empty())
    throw std::invalid_argument("center and acceleration need one row of three per time; phases need ends and feet");
  std::vector<SupportRegion> regions;
  for (const auto& stance_feet : phase_feet) {
    if (stance_feet.empty()) throw std::invalid_argument("a phase has no stance feet");
    regions.emplace_back(stance_feet, half_length, half_width);
    regions.back().ground = ground;
  }
  double zmp = std::numeric_limits<double>::infinity(), lift = zmp, extension = zmp, flexion = zmp;
  size_t k = 0;
  for (size_t i = 0; i < n; ++i) {
    const double time = times.data()[i];
    while (k + 1 < phase_ends.size() && time >= phase_ends[k] + 1e-9) ++k;
    const Vector3 c = row(p, i), f = row(a, i);
    const auto m = momentum_rate(body, limbs, time, c, f);
    const double up = f.z + kGravity, height = c.z - ground;
    lift = std::min(lift, up);
    const double x = c.x - (f.x * height + m[1]) / up, y = c.y - (f.y * height - m[0]) / up;
    const double margin = regions[k].margin(x, y, c);
    if (!std::isfinite(margin)) return {-1.0, lift, extension, flexion};
    zmp = std::min(zmp, margin);
    if (i % 4 == 0 || i + 1 == n) {
      const auto legs = leg_margins(leg_limits, limbs, time, c);
      extension = std::min(extension, legs[0]);
      flexion = std::min(flexion, legs[1]);
    }
  }
  return {zmp, lift, extension, flexion};
}

}  // namespace

NB_MODULE(_segment, m) {
  m.doc() = "Motion segments: curves of limbs and the check of balance.";
  nb::set_leak_warnings(false);

  nb::class_<Masses>(m, "Masses")
      .def(nb::init<double, double, double, double, double>(), "mass"_a, "leg_mass"_a, "leg_mass_position"_a,
           "roll_inertia"_a, "pitch_inertia"_a);

  nb::class_<LegLimits>(m, "LegLimits")
      .def("__init__",
           [](LegLimits* self, std::array<double, 6> hips, std::array<double, 6> ankles, double longest,
              double shortest) {
             new (self) LegLimits;
             self->hips = {Vector3{hips[0], hips[1], hips[2]}, Vector3{hips[3], hips[4], hips[5]}};
             self->ankles = {Vector3{ankles[0], ankles[1], ankles[2]}, Vector3{ankles[3], ankles[4], ankles[5]}};
             self->longest = longest, self->shortest = shortest;
           },
           "hips"_a, "ankles"_a, "longest"_a, "shortest"_a);

  nb::class_<SwingCurve>(m, "SwingCurve")
      .def("__init__",
           [](SwingCurve* self, Four start, Four rate, Four goal, double lift, double begin, double seconds,
              bool cycloid, std::array<double, 2> bulge) {
             new (self) SwingCurve{start, rate, goal, lift, begin, seconds, cycloid, bulge};
           },
           "start"_a, "rate"_a, "goal"_a, "lift"_a, "begin"_a, "seconds"_a, "cycloid"_a, "bulge"_a)
      .def("at", &swing_samples, "times"_a, "Position and yaw, their rates and accelerations (3, n, 4).");

  nb::class_<LimbMotion>(m, "LimbMotion")
      .def("__init__",
           [](LimbMotion* self, Four left, Four right, int swing_foot, const SwingCurve* swing,
              std::array<double, 3> left_hip, std::array<double, 3> right_hip, std::array<double, 3> attitude,
              std::array<double, 3> attitude_rate, std::array<double, 3> attitude_goal, double seconds) {
             new (self) LimbMotion;
             self->feet = {left, right};
             self->swing_foot = swing == nullptr ? -1 : swing_foot;
             if (swing != nullptr) self->swing = *swing;
             self->hips = {Vector3{left_hip[0], left_hip[1], left_hip[2]},
                           Vector3{right_hip[0], right_hip[1], right_hip[2]}};
             self->attitude = attitude, self->attitude_rate = attitude_rate,
             self->attitude_goal = attitude_goal;
             self->seconds = seconds;
           },
           "left"_a, "right"_a, "swing_foot"_a, "swing"_a.none(), "left_hip"_a, "right_hip"_a, "attitude"_a,
           "attitude_rate"_a, "attitude_goal"_a, "seconds"_a);

  m.def("quintic_curves", &quintic_curves, "times"_a, "start"_a, "rate"_a, "goal"_a, "begin"_a, "seconds"_a);
  m.def("angular_momentum_rate", &angular_momentum_rate, "body"_a, "limbs"_a, "times"_a, "center"_a, "acceleration"_a);
  m.def("check_balance", &check_balance, "body"_a, "leg_limits"_a, "limbs"_a, "times"_a, "center"_a, "acceleration"_a,
        "phase_ends"_a, "phase_feet"_a, "half_length"_a, "half_width"_a, "ground"_a);
}
