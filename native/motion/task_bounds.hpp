// Bounds of all task rows of a program from their errors.
//
// A row has an error e to be brought into [low, high] (both zero for an equality), a gain g(t) in 1/s with its
// derivative g'(t), a damping k in 1/s, the rate r* and acceleration a* of its target, and the drift d = Jdot v:
//
//   velocity order      J v    in  r* - g (e - [high, low])
//   acceleration order  J v'   in  a* - g' (e - b) - c (J v - r*) - k (J v - r* + g (e - b)) - d,   b in [low, high]
//
// The coupling c equals g if e is the integral of J v - r*; with constant g and k = g the second law is then the
// critically damped form of the first. c is zero for rows on rates (momentum): their e is zero, their g is one and
// their interval is one of rates. Infinite bounds stay infinite. The rows of a group (the components of a position)
// share a limit on speed and one on acceleration: an equality is scaled as a vector and decelerates in time; the bounds
// of an interval are clipped separately.
//
// Gains are limited by the period T. At velocity order the error is multiplied by 1 - g T in one period: the motion
// overshoots if g T > 1 and diverges if g T > 2. So g is at most 1/T, with which the error vanishes in one period. At
// acceleration order the error of the sampled law oscillates if g or k exceed about 1/(2 T), and diverges soon above:
// both are at most 1/(2 T).
//
// Singularity damping. The linearisation of a task is poor where its error is large and its rows are nearly singular:
// an arm stretched towards a point out of reach would oscillate. In a direction with singular value s, one step at
// velocity order turns a deviation u into u - u T c g |e| / (s^2 + damping^2), with c the curvature of a row (its
// second derivative, about the height of the robot, 0 for rows that are linear in q), g |e| its desired rate and T the
// period. It overshoots unless s^2 + damping^2 is larger than T c g |e|. So each level has a singularity damping, the
// damping that applies where its singular values are too small, as in the Levenberg-Marquardt method with a damping
// that follows the residual (Sugihara 2011):
//
//   singularity_damping^2 = 8 T |w c g (e - its projection on [low, high])|,   w the weights
//
// For a single joint, a factor of one half is enough. With all joints of a body, hands that reach for points far away
// still chattered at 4 and were steady at 8, on four robots. The damping vanishes with the error, and has no effect
// away from singularities. Below `negligible` it is zero.
//
// At acceleration order, motion that no row determines is damped: the center of the program is v' = -rest_damping v.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "arrays.hpp"

namespace poise {

class TaskBounds {
 public:
  TaskBounds(VectorIn error, VectorIn low, VectorIn high, VectorIn gain, VectorIn gain_rate, VectorIn coupling,
             VectorIn damping, VectorIn target_rate, VectorIn target_acceleration, VectorIn drift,
             IndicesIn group_begin, IndicesIn group_end, VectorIn group_speed, VectorIn group_acceleration,
             VectorOut lower, VectorOut upper, RowsOut A, VectorIn v, VectorIn weight, VectorIn curvature,
             IndicesIn level_begin, VectorOut singularity_damping, double period, IndicesIn unknowns, VectorOut center,
             double rest_damping)
      : e_(std::move(error)), low_(std::move(low)), high_(std::move(high)), g_(std::move(gain)),
        g_rate_(std::move(gain_rate)), c_(std::move(coupling)), k_(std::move(damping)), r_(std::move(target_rate)),
        a_(std::move(target_acceleration)), d_(std::move(drift)), begin_(std::move(group_begin)),
        end_(std::move(group_end)), speed_(std::move(group_speed)), acceleration_(std::move(group_acceleration)),
        lower_(std::move(lower)), upper_(std::move(upper)), A_(std::move(A)), v_(std::move(v)),
        weight_(std::move(weight)), curvature_(std::move(curvature)), level_begin_(std::move(level_begin)),
        singularity_damping_(std::move(singularity_damping)), period_(period),
        unknowns_(std::move(unknowns)), center_(std::move(center)), rest_damping_(rest_damping) {
    const size_t rows = e_.shape(0);
    for (const auto* column : {&low_, &high_, &g_, &g_rate_, &c_, &k_, &r_, &a_, &d_, &weight_, &curvature_})
      expect(column->shape(0) == rows, "a column does not fit the rows");
    expect(lower_.shape(0) == rows && upper_.shape(0) == rows, "the bounds to write do not fit the rows");
    expect(unknowns_.shape(0) == rows, "the unknowns do not fit the rows");
    expect(center_.shape(0) >= v_.shape(0), "the center does not fit the motion");
    for (size_t i = 0; i < rows; ++i) {
      expect(unknowns_.data()[i] < static_cast<int>(A_.shape(1)), "no such unknown");
      matrix_row_.push_back(matrix_row_.empty() ? 0 : matrix_row_.back() + (unknowns_.data()[i - 1] < 0 ? 1 : 0));
    }
    expect_rows(A_, rows == 0 ? 0 : matrix_row_.back() + (unknowns_.data()[rows - 1] < 0 ? 1 : 0), v_.shape(0));
    const size_t levels = singularity_damping_.shape(0), groups = speed_.shape(0);
    expect(level_begin_.shape(0) == levels + 1 && level_begin_.data()[0] == 0 &&
               static_cast<size_t>(level_begin_.data()[levels]) == rows,
           "the levels do not fit the rows");
    expect(acceleration_.shape(0) == groups && begin_.shape(0) == groups && end_.shape(0) == groups,
           "the groups do not fit");
    for (size_t i = 0; i < groups; ++i) {
      expect(0 <= begin_.data()[i] && begin_.data()[i] <= end_.data()[i] && static_cast<size_t>(end_.data()[i]) <= rows,
             "a group is outside the rows");
      for (int row = begin_.data()[i]; row < end_.data()[i]; ++row)
        expect(unknowns_.data()[row] < static_cast<int>(v_.shape(0)),
               "a group contains an unknown that is not a velocity");
    }
  }

  // Both functions return whether the bounds of all rows, including those of other writers, admit a finite solution.
  bool velocity() const {
    const double limit = 1.0 / period_;
    for_each_group(limit, [this, limit](size_t i, double scale, double cap) {
      const double g = scale * gain(i, limit), e = e_.data()[i], r = r_.data()[i];
      lower_.data()[i] = r + clip(-g * (e - low_.data()[i]), cap);
      upper_.data()[i] = r + clip(-g * (e - high_.data()[i]), cap);
    });
    update_singularity_damping(limit);
    return bounded();
  }

  bool acceleration() const {
    const double limit = 0.5 / period_;
    for_each_group(limit, [this, limit](size_t i, double scale, double cap) {
      const double rate = row_velocity(i) - r_.data()[i];
      lower_.data()[i] = desired_acceleration(i, e_.data()[i] - low_.data()[i], rate, scale, cap, limit);
      upper_.data()[i] = desired_acceleration(i, e_.data()[i] - high_.data()[i], rate, scale, cap, limit);
    });
    limit_acceleration();
    for (size_t group = 0; group < speed_.shape(0); ++group)
      for (int i = begin_.data()[group]; i < end_.data()[group]; ++i) {
        const double constant = a_.data()[i] - d_.data()[i];
        lower_.data()[i] += constant;
        upper_.data()[i] += constant;
      }
    update_singularity_damping(limit);
    const double rest = std::min(rest_damping_, 1.0 / period_);  // at most to rest in one period
    for (size_t i = 0; i < v_.shape(0); ++i) center_.data()[i] = -rest * v_.data()[i];
    return bounded();
  }

 private:
  // No bound is NaN or infinite on the wrong side; 1e20 counts as infinite.
  bool bounded() const {
    bool all = true;  // comparisons with NaN are false
    for (size_t i = 0; i < lower_.shape(0); ++i)
      all = all && lower_.data()[i] < 1e20 && upper_.data()[i] > -1e20;
    return all;
  }

  static double clip(double value, double cap) {
    return std::isinf(value) ? value : std::min(std::max(value, -cap), cap);
  }

  // J v of a row.
  double row_velocity(size_t i) const {
    if (unknowns_.data()[i] >= 0) return v_.data()[unknowns_.data()[i]];
    const auto size = static_cast<Eigen::Index>(v_.shape(0));
    const double* row = A_.data() + static_cast<int64_t>(matrix_row_[i]) * A_.stride(0);
    return Eigen::Map<const Eigen::VectorXd>(row, size).dot(Eigen::Map<const Eigen::VectorXd>(v_.data(), size));
  }

  double desired_acceleration(size_t i, double e, double rate, double scale, double cap, double limit) const {
    if (std::isinf(e)) return -e;
    const double k = std::min(k_.data()[i], limit), c = std::min(c_.data()[i], limit);
    const double g = gain(i, limit), g_rate = g < g_.data()[i] ? 0.0 : g_rate_.data()[i];
    return k * (clip(-scale * g * e, cap) - rate) - scale * g_rate * e - scale * c * rate;
  }

  // Gain of a row, at most the limit. Rows on rates (c = 0) have the factor one, which is no rate of decay.
  double gain(size_t i, double limit) const {
    return c_.data()[i] == 0.0 ? g_.data()[i] : std::min(g_.data()[i], limit);
  }

  // Equalities are scaled as one vector; for intervals the limit is passed on, to clip each bound.
  template <typename Each>
  void for_each_group(double limit, Each each) const {
    for (size_t group = 0; group < speed_.shape(0); ++group) {
      const size_t begin = static_cast<size_t>(begin_.data()[group]), end = static_cast<size_t>(end_.data()[group]);
      double scale = 1.0, cap = std::numeric_limits<double>::infinity();
      const double max_speed = speed_.data()[group], max_acceleration = acceleration_.data()[group];
      if (std::isfinite(max_speed) || std::isfinite(max_acceleration)) {
        cap = max_speed;
        if (equality(begin, end)) {
          double squared = 0.0, distance = 0.0;
          for (size_t i = begin; i < end; ++i) {
            squared += std::pow(gain(i, limit) * (e_.data()[i] - low_.data()[i]), 2);
            distance += std::pow(e_.data()[i] - low_.data()[i], 2);
          }
          // Speed from which the group can still stop: v^2 = 2 a |e|, with a reserve of 20 % for the lag.
          if (std::isfinite(max_acceleration))
            cap = std::min(cap, std::sqrt(1.6 * max_acceleration * std::sqrt(distance)));
          if (squared > cap * cap) scale = cap / std::sqrt(squared);
        }
      }
      for (size_t i = begin; i < end; ++i) each(i, scale, cap);
    }
  }

  void update_singularity_damping(double limit) const {
    constexpr double negligible = 1e-6;  // of singularity_damping^2
    for (size_t level = 0; level < singularity_damping_.shape(0); ++level) {
      double squared = 0.0;
      for (int i = level_begin_.data()[level]; i < level_begin_.data()[level + 1]; ++i) {
        if (curvature_.data()[i] == 0.0) continue;
        const double e = e_.data()[i];
        const double violation = e - std::min(std::max(e, low_.data()[i]), high_.data()[i]);
        const double rate = gain(i, limit) * violation;
        squared += std::pow(weight_.data()[i] * curvature_.data()[i] * rate, 2);
      }
      const double squared_damping = 8.0 * period_ * std::sqrt(squared);
      const bool relevant = std::isfinite(squared_damping) && squared_damping > negligible;
      singularity_damping_.data()[level] = relevant ? std::sqrt(squared_damping) : 0.0;
    }
  }

  void limit_acceleration() const {
    for (size_t group = 0; group < speed_.shape(0); ++group) {
      const double cap = acceleration_.data()[group];
      if (!std::isfinite(cap)) continue;
      const size_t begin = static_cast<size_t>(begin_.data()[group]), end = static_cast<size_t>(end_.data()[group]);
      double scale = 1.0;
      if (equality(begin, end)) {
        double squared = 0.0;
        for (size_t i = begin; i < end; ++i) squared += lower_.data()[i] * lower_.data()[i];
        if (squared > cap * cap) scale = cap / std::sqrt(squared);
      }
      for (size_t i = begin; i < end; ++i) {
        lower_.data()[i] = clip(scale * lower_.data()[i], cap);
        upper_.data()[i] = clip(scale * upper_.data()[i], cap);
      }
    }
  }

  bool equality(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i)
      if (low_.data()[i] != high_.data()[i]) return false;
    return true;
  }

  VectorIn e_, low_, high_, g_, g_rate_, c_, k_, r_, a_, d_;
  IndicesIn begin_, end_;
  VectorIn speed_, acceleration_;
  VectorOut lower_, upper_;
  RowsOut A_;
  VectorIn v_, weight_, curvature_;
  IndicesIn level_begin_;
  VectorOut singularity_damping_;
  double period_;
  IndicesIn unknowns_;
  VectorOut center_;
  double rest_damping_;
  std::vector<size_t> matrix_row_;  // row of A of each task row
};

}  // namespace poise
