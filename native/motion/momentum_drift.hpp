// How the momentum of the whole body changes when no joint accelerates, kept apart from what pinocchio writes over.
//
// With zero accelerations, the rate of the momentum that pinocchio computes is the drift d = Adot_g v. Where it
// computes all terms of the dynamics, what holds the body up against gravity, -m g, is added to it; the weight m g takes
// that away. The drift of the centre of mass is d_linear / m.
#pragma once

#include "arrays.hpp"

namespace poise {

class MomentumDrift {
 public:
  // linear, angular: pinocchio's rate of momentum; root: its force at the root, to which it adds from call to call.
  MomentumDrift(VectorIn linear, VectorIn angular, VectorOut root_linear, VectorOut root_angular, VectorIn weight,
                double mass, VectorOut momentum, VectorOut center_of_mass)
      : linear_(std::move(linear)), angular_(std::move(angular)), root_linear_(std::move(root_linear)),
        root_angular_(std::move(root_angular)), weight_(std::move(weight)), mass_(mass),
        momentum_(std::move(momentum)), center_of_mass_(std::move(center_of_mass)) {
    for (const auto* vector : {&linear_, &angular_, &weight_})
      expect(vector->shape(0) == 3, "a vector has three components");
    for (const auto* vector : {&root_linear_, &root_angular_, &center_of_mass_})
      expect(vector->shape(0) == 3, "a vector has three components");
    expect(momentum_.shape(0) == 6, "a momentum has six components");
  }

  // Before pinocchio computes all terms.
  void forget() const {
    for (int i = 0; i < 3; ++i) root_linear_.data()[i] = root_angular_.data()[i] = 0.0;
  }

  void write() const { take(0.0); }
  void write_with_weight() const { take(1.0); }

 private:
  void take(double weights) const {
    for (int i = 0; i < 3; ++i) {
      momentum_.data()[i] = linear_.data()[i] + weights * weight_.data()[i];
      momentum_.data()[3 + i] = angular_.data()[i];
      center_of_mass_.data()[i] = momentum_.data()[i] / mass_;
    }
  }

  VectorIn linear_, angular_;
  VectorOut root_linear_, root_angular_;
  VectorIn weight_;
  double mass_;
  VectorOut momentum_, center_of_mass_;
};

}  // namespace poise
