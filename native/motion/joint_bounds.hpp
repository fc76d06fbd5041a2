// Bounds on the next velocity of single joints such that limits on range, speed and acceleration never conflict.
//
// Per joint: q and v, range [q_min, q_max], largest speed V and acceleration A, and the period T. Before the next
// velocity v' acts, the joint is at y = q (velocity order: it then moves by v' T) or y = q + v T / 2 (acceleration
// order: it moves by (v + v') T / 2), whatever the command. It can still stop before q_max with deceleration A if
//
//   v'^2 / (2 A) + v' T <= D,  D = q_max - y     that is     v' <= s(D) = -A T + sqrt(A^2 T^2 + 2 A D)
//
// This bound becomes active as late as possible. At acceleration order the acceleration, and with it the torque, would
// jump to -A within one period. Therefore smooth bounds are added there: with k = 1 / recovery,
//
//   dv/dt <= -2 k v + k^2 (q_max - q)        range: critically damped approach of the end
//   dv/dt <= 2 k (V - v)                      speed
//
// but never below -A; both imply the bounds above. If stopping at one end needs more than the smooth bound of the other
// end allows, the latter is dropped.
//
// Outside the range (D < 0) the joint returns with time constant `recovery`, at most at speed V and at most at s of the
// far end. No bound requires more than the acceleration A, so the bounds of all three kinds always have a common point:
// v - A T, or the nearest velocity that the others allow.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "arrays.hpp"

namespace poise {

// Writer of the errors of single joints: e = q_i - q_i*.
class JointWriter {
 public:
  JointWriter(VectorIn q, IndicesIn q_index, VectorIn target, VectorOut error)
      : q_(std::move(q)), q_index_(std::move(q_index)), target_(std::move(target)), error_(std::move(error)) {
    const size_t joints = q_index_.shape(0);
    expect(target_.shape(0) == joints && error_.shape(0) == joints, "the errors to write do not fit the joints");
    for (size_t i = 0; i < joints; ++i)
      expect(q_index_.data()[i] >= 0 && static_cast<size_t>(q_index_.data()[i]) < q_.shape(0), "no such joint");
  }

  void write() const {
    for (size_t i = 0; i < q_index_.shape(0); ++i)
      error_.data()[i] = q_.data()[q_index_.data()[i]] - target_.data()[i];
  }

 private:
  VectorIn q_;
  IndicesIn q_index_;
  VectorIn target_;
  VectorOut error_;
};

class JointBounds {
 public:
  JointBounds(VectorIn q, VectorIn v, IndicesIn q_index, IndicesIn v_index, VectorIn q_min, VectorIn q_max,
              VectorIn speed, VectorIn acceleration, double period, double recovery, bool second_order, VectorOut lower,
              VectorOut upper)
      : q_(std::move(q)), v_(std::move(v)), q_index_(std::move(q_index)), v_index_(std::move(v_index)),
        q_min_(std::move(q_min)), q_max_(std::move(q_max)), speed_(std::move(speed)),
        acceleration_(std::move(acceleration)), period_(period), recovery_(recovery), second_order_(second_order),
        lower_(std::move(lower)), upper_(std::move(upper)) {
    const size_t joints = q_index_.shape(0);
    for (const auto* column : {&q_min_, &q_max_, &speed_, &acceleration_})
      expect(column->shape(0) == joints, "a limit does not fit the joints");
    expect(v_index_.shape(0) == joints && lower_.shape(0) == joints && upper_.shape(0) == joints,
           "the bounds to write do not fit the joints");
    for (size_t i = 0; i < joints; ++i)
      expect(q_index_.data()[i] >= 0 && static_cast<size_t>(q_index_.data()[i]) < q_.shape(0) &&
                 v_index_.data()[i] >= 0 && static_cast<size_t>(v_index_.data()[i]) < v_.shape(0), "no such joint");
    expect(period_ > 0.0 && recovery_ > 0.0, "the period is not positive");
  }

  void range() const {
    each([this](size_t i, double y, double v, double V, double A, double& low, double& high) {
      const double above = q_max_.data()[i] - y, below = y - q_min_.data()[i];
      high = std::max(std::min(allowed(above, below, V, A), gentle(above, v, V)), v - A * period_);
      low = std::min(std::max(-allowed(below, above, V, A), -gentle(below, -v, V)), v + A * period_);
      // A joint that must stop at one end ignores the smooth bound of the other end.
      if (low > high) (above < below ? low : high) = above < below ? high : low;
    });
  }

  void speed() const {
    each([this](size_t, double, double v, double V, double A, double& low, double& high) {
      high = std::max(v + share() * (V - v), v - A * period_);
      low = std::min(v - share() * (V + v), v + A * period_);
    });
  }

  void acceleration() const {
    each([this](size_t, double, double v, double, double A, double& low, double& high) {
      high = v + A * period_;
      low = v - A * period_;
    });
  }

 private:
  template <typename Each>
  void each(Each bounds) const {
    for (size_t i = 0; i < q_index_.shape(0); ++i) {
      const double v = v_.data()[v_index_.data()[i]];
      const double y = q_.data()[q_index_.data()[i]] + (second_order_ ? 0.5 * period_ * v : 0.0);
      double low, high;
      bounds(i, y, v, speed_.data()[i], acceleration_.data()[i], low, high);
      lower_.data()[i] = second_order_ ? (low - v) / period_ : low;
      upper_.data()[i] = second_order_ ? (high - v) / period_ : high;
    }
  }

  // Largest fraction of the way to the speed limit within one period.
  double share() const { return second_order_ ? std::min(2.0 * period_ / recovery_, 1.0) : 1.0; }

  // Next velocity towards an end at distance D of a critically damped approach; on the way back from outside at most V.
  double gentle(double D, double v, double V) const {
    if (!second_order_) return std::numeric_limits<double>::infinity();
    const double k = 1.0 / std::max(recovery_, 2.0 * period_), now = D + 0.5 * period_ * v;
    return std::max(v + period_ * (k * k * now - 2.0 * k * v), v - share() * (V + v));
  }

  double stopping(double D, double A) const {
    return -A * period_ + std::sqrt(A * period_ * A * period_ + 2.0 * A * D);
  }

  double allowed(double D, double far, double V, double A) const {
    if (D >= 0.0) return stopping(D, A);
    if (second_order_) return std::numeric_limits<double>::infinity();  // the smooth bound brings it back
    return -std::min({-D / std::max(recovery_, period_), V, stopping(far, A)});
  }

  VectorIn q_, v_;
  IndicesIn q_index_, v_index_;
  VectorIn q_min_, q_max_, speed_, acceleration_;
  double period_, recovery_;
  bool second_order_;
  VectorOut lower_, upper_;
};

}  // namespace poise
