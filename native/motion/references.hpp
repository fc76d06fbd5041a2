// From errors to bounds: the reference behaviour of all rows of a program at once.
//
// A row has an error e that is wanted inside [low, high] (both zero for an equality), a gain g(t) in 1/s with its
// derivative g'(t), a damping k in 1/s, the rate r* and acceleration a* of its target, and the drift d = Jdot v:
//
//   velocity order      J v    in  r* - g (e - [high, low])
//   acceleration order  J v'   in  a* - g' (e - b) - c (J v - r*) - k (J v - r* + g (e - b)) - d,   b in [low, high]
//
// The coupling c equals g where e is the integral of J v - r*: with g constant and k = g the second is then the
// critically damped answer of the first. It is zero for rows that want a rate (momentum), whose e is zero, whose g is
// one and whose interval is one of rates. A bound at infinity stays there. Rows that belong together (the
// components of a position) share a limit on speed and one on acceleration: an equality is scaled as a vector, and slows
// down in time to brake with the latter; the bounds of an interval are clipped one by one.
//
// Linearised tasks mislead where what they ask for is far and hardly to be had: an arm stretched towards a point out of
// reach would whip about. In a direction in which the rows are nearly singular (singular value s), one step at velocity
// order turns a deviation u into u - u T c g |e| / (s^2 + damping^2): with c the curvature of a row (its second
// derivative, about the height of the robot, 0 for rows that are linear in q), g |e| what it asks for and T the period,
// it overshoots unless s^2 + damping^2 is larger than T c g |e|. So each level gets a caution, the damping that it is
// brought to where its own singular values are too small, as in Levenberg-Marquardt with a damping that follows the
// residual (Sugihara 2011):
//
//   caution^2 = 8 T |w c g (e - its projection on [low, high])|,   w the weights
//
// For a single joint one half would do; with all joints of a body bending at once, hands held out to points far out of
// reach still chattered at 4 and were calm at 8, on four robots. It vanishes with the error, and a level away from
// singularities never feels it. Below `negligible` it counts as zero.
//
// At acceleration order, what no row decides comes to rest: the center of the program is v' = -drag v.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "arrays.hpp"

namespace poise {

class References {
 public:
  References(VectorIn error, VectorIn low, VectorIn high, VectorIn gain, VectorIn gain_rate, VectorIn coupling,
             VectorIn damping, VectorIn target_rate, VectorIn target_acceleration, VectorIn drift, IndicesIn group_begin,
             IndicesIn group_end, VectorIn group_speed, VectorIn group_acceleration, VectorOut lower, VectorOut upper, RowsOut A, VectorIn v,
             VectorIn weight, VectorIn curvature, IndicesIn level_begin, VectorOut caution, double period,
             IndicesIn unknowns, VectorOut center, double drag)
      : e_(std::move(error)), low_(std::move(low)), high_(std::move(high)), g_(std::move(gain)),
        g_rate_(std::move(gain_rate)), c_(std::move(coupling)), k_(std::move(damping)), r_(std::move(target_rate)),
        a_(std::move(target_acceleration)), d_(std::move(drift)), begin_(std::move(group_begin)),
        end_(std::move(group_end)), speed_(std::move(group_speed)), acceleration_(std::move(group_acceleration)), lower_(std::move(lower)),
        upper_(std::move(upper)), A_(std::move(A)), v_(std::move(v)), weight_(std::move(weight)),
        curvature_(std::move(curvature)), level_begin_(std::move(level_begin)), caution_(std::move(caution)),
        period_(period), unknowns_(std::move(unknowns)), center_(std::move(center)), drag_(drag) {
    const size_t rows = e_.shape(0);
    for (const auto* column : {&low_, &high_, &g_, &g_rate_, &c_, &k_, &r_, &a_, &d_, &weight_, &curvature_})
      expect(column->shape(0) == rows, "a column does not fit the rows");
    expect(lower_.shape(0) == rows && upper_.shape(0) == rows, "the bounds to write do not fit the rows");
    expect(unknowns_.shape(0) == rows, "the unknowns do not fit the rows");
    expect(center_.shape(0) >= v_.shape(0), "the center does not fit the motion");
    for (size_t i = 0; i < rows; ++i) {
      expect(unknowns_.data()[i] < static_cast<int>(A_.shape(1)), "no such unknown");
      line_.push_back(line_.empty() ? 0 : line_.back() + (unknowns_.data()[i - 1] < 0 ? 1 : 0));
    }
    expect_rows(A_, rows == 0 ? 0 : line_.back() + (unknowns_.data()[rows - 1] < 0 ? 1 : 0), v_.shape(0));
    const size_t levels = caution_.shape(0), groups = speed_.shape(0);
    expect(level_begin_.shape(0) == levels + 1 && level_begin_.data()[0] == 0 && static_cast<size_t>(level_begin_.data()[levels]) == rows,
           "the levels do not fit the rows");
    expect(acceleration_.shape(0) == groups && begin_.shape(0) == groups && end_.shape(0) == groups,
           "the groups do not fit");
    for (size_t i = 0; i < groups; ++i) {
      expect(0 <= begin_.data()[i] && begin_.data()[i] <= end_.data()[i] && static_cast<size_t>(end_.data()[i]) <= rows,
             "a group leaves the rows");
      for (int row = begin_.data()[i]; row < end_.data()[i]; ++row)
        expect(unknowns_.data()[row] < static_cast<int>(v_.shape(0)), "an error that is no error of motion");
    }
  }

  // Both return whether all rows, those of other writers too, can be met by something finite.
  bool velocity() const {
    each_group([this](size_t i, double scale, double cap) {
      const double g = scale * g_.data()[i], e = e_.data()[i], r = r_.data()[i];
      lower_.data()[i] = r + clip(-g * (e - low_.data()[i]), cap);
      upper_.data()[i] = r + clip(-g * (e - high_.data()[i]), cap);
    });
    be_careful();
    return bounded();
  }

  bool acceleration() const {
    each_group([this](size_t i, double scale, double cap) {
      const double rate = now(i) - r_.data()[i];
      lower_.data()[i] = wanted(i, e_.data()[i] - low_.data()[i], rate, scale, cap);
      upper_.data()[i] = wanted(i, e_.data()[i] - high_.data()[i], rate, scale, cap);
    });
    limit_acceleration();
    for (size_t group = 0; group < speed_.shape(0); ++group)
      for (int i = begin_.data()[group]; i < end_.data()[group]; ++i) {
        const double constant = a_.data()[i] - d_.data()[i];
        lower_.data()[i] += constant;
        upper_.data()[i] += constant;
      }
    be_careful();
    for (size_t i = 0; i < v_.shape(0); ++i) center_.data()[i] = -drag_ * v_.data()[i];
    return bounded();
  }

 private:
  // No bound is NaN, or at the wrong infinity; 1e20 is as good as infinite.
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
  double now(size_t i) const {
    if (unknowns_.data()[i] >= 0) return v_.data()[unknowns_.data()[i]];
    const auto size = static_cast<Eigen::Index>(v_.shape(0));
    const double* row = A_.data() + static_cast<int64_t>(line_[i]) * A_.stride(0);
    return Eigen::Map<const Eigen::VectorXd>(row, size).dot(Eigen::Map<const Eigen::VectorXd>(v_.data(), size));
  }

  double wanted(size_t i, double e, double rate, double scale, double cap) const {
    if (std::isinf(e)) return -e;
    const double g = scale * g_.data()[i], k = k_.data()[i];
    return k * (clip(-g * e, cap) - rate) - scale * g_rate_.data()[i] * e - scale * c_.data()[i] * rate;
  }

  // Equalities are scaled as one vector; for intervals the limit is handed on, to clip each bound.
  template <typename Each>
  void each_group(Each each) const {
    for (size_t group = 0; group < speed_.shape(0); ++group) {
      const size_t begin = static_cast<size_t>(begin_.data()[group]), end = static_cast<size_t>(end_.data()[group]);
      double scale = 1.0, cap = std::numeric_limits<double>::infinity();
      const double fastest = speed_.data()[group], hardest = acceleration_.data()[group];
      if (std::isfinite(fastest) || std::isfinite(hardest)) {
        cap = fastest;
        if (equality(begin, end)) {
          double squared = 0.0, distance = 0.0;
          for (size_t i = begin; i < end; ++i) {
            squared += std::pow(g_.data()[i] * (e_.data()[i] - low_.data()[i]), 2);
            distance += std::pow(e_.data()[i] - low_.data()[i], 2);
          }
          // No faster than can still be braked: v^2 = 2 a |e|, with a fifth in reserve for the lag.
          if (std::isfinite(hardest)) cap = std::min(cap, std::sqrt(1.6 * hardest * std::sqrt(distance)));
          if (squared > cap * cap) scale = cap / std::sqrt(squared);
        }
      }
      for (size_t i = begin; i < end; ++i) each(i, scale, cap);
    }
  }

  void be_careful() const {
    constexpr double negligible = 1e-6;  // of caution^2: a thousandth of what moves by one unit per rad
    for (size_t level = 0; level < caution_.shape(0); ++level) {
      double squared = 0.0;
      for (int i = level_begin_.data()[level]; i < level_begin_.data()[level + 1]; ++i) {
        if (curvature_.data()[i] == 0.0) continue;
        const double e = e_.data()[i];
        const double miss = e - std::min(std::max(e, low_.data()[i]), high_.data()[i]);
        const double wish = g_.data()[i] * miss;
        squared += std::pow(weight_.data()[i] * curvature_.data()[i] * wish, 2);
      }
      const double caution = 8.0 * period_ * std::sqrt(squared);
      caution_.data()[level] = std::isfinite(caution) && caution > negligible ? std::sqrt(caution) : 0.0;
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
  VectorOut caution_;
  double period_;
  IndicesIn unknowns_;
  VectorOut center_;
  double drag_;
  std::vector<size_t> line_;  // per row its line in A
};

}  // namespace poise
