// Curves of feet, hands and trunk: quintics that end at rest, and the lift of a stepping foot. See
// plans/segment/limb_curves.py.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace poise::segment {

constexpr double kStairHeight = 0.005;  // m; a smaller height difference is not a stair
constexpr double kStairShare = 0.3;
constexpr double kTau = 6.283185307179586;

struct CurveSample {
  double value, rate, acceleration;
};

// Quintic from `start` with `rate` to rest at `goal`, with zero acceleration at both ends.
inline CurveSample quintic(double time, double start, double rate, double goal, double begin, double seconds) {
  const double T = seconds, s = std::clamp((time - begin) / T, 0.0, 1.0), r = 1.0 - s, D = s * s;
  const double distance = goal - start, k = rate * T;
  return {start + distance * D * s * (10.0 - s * (15.0 - 6.0 * s)) + k * (s - D * s * (6.0 - s * (8.0 - 3.0 * s))),
          (distance * 30.0 * D * r * r + k * (1.0 - D * (18.0 - s * (32.0 - 15.0 * s)))) / T,
          (distance * 60.0 * s * r * (r - s) + k * s * (-36.0 + s * (96.0 - 60.0 * s))) / (T * T)};
}

// Curve of a stepping foot: x, y, z and yaw of its sole.
struct SwingCurve {
  std::array<double, 4> start{}, rate{}, goal{};
  double lift = 0.0, begin = 0.0, seconds = 1.0;
  bool cycloid = false;
  std::array<double, 2> bulge{};  // horizontal detour around the other foot, in the middle of the swing

  // Adds 64 s³ (1-s)³ times a height.
  void add_bump(CurveSample& sample, double height, double s) const {
    const double T = seconds, b = s * (1.0 - s), D = 1.0 - 2.0 * s;
    sample.value += 64.0 * height * b * b * b;
    sample.rate += 192.0 / T * height * b * b * D;
    sample.acceleration += 384.0 / (T * T) * height * b * (D * D - b);
  }

  std::array<CurveSample, 4> at(double time) const {
    std::array<CurveSample, 4> found;
    const double T = seconds, rise = goal[2] - start[2], s = std::clamp((time - begin) / T, 0.0, 1.0);
    const bool rests = rate[0] == 0.0 && rate[1] == 0.0 && rate[2] == 0.0 && rate[3] == 0.0;
    if (cycloid && rests) {
      const bool moves = time >= begin && time <= begin + T;
      const double sine = std::sin(kTau * s), cosine = std::cos(kTau * s), height = lift + 0.5 * std::abs(rise);
      for (int i = 0; i < 4; ++i) {
        const double distance = goal[i] - start[i];
        found[i] = {start[i] + distance * (s - sine / kTau), distance * (1.0 - cosine) / T,
                    distance * kTau * sine / (T * T)};
      }
      found[2].value += height * 0.5 * (1.0 - cosine);
      found[2].rate += height * 0.5 * kTau * sine / T;
      found[2].acceleration += moves ? height * 0.5 * kTau * kTau * cosine / (T * T) : 0.0;
      for (int i = 0; i < 2; ++i) add_bump(found[i], bulge[i], s);
      return found;
    }
    const bool stair = std::abs(rise) > kStairHeight && rests;  // a foot that already moves is not delayed
    const double edge = stair ? kStairShare * T : 0.0, height = lift + (stair ? 0.25 : 0.5) * std::abs(rise);
    // Up a stair the foot first rises; down a stair it first moves ahead.
    const double ahead = rise > 0.0 ? begin + edge : begin;
    const double rises = rise > 0.0 ? begin : begin + edge;
    for (int i = 0; i < 4; ++i) found[i] = quintic(time, start[i], rate[i], goal[i], i == 2 ? rises : ahead, T - edge);
    add_bump(found[2], height, s);
    for (int i = 0; i < 2; ++i) add_bump(found[i], bulge[i], s);
    return found;
  }
};

}  // namespace poise::segment
