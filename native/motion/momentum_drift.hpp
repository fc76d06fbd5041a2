// Drift of the momentum of the whole body, its rate for v' = 0, stored apart from the memory that pinocchio overwrites.
//
// For zero accelerations, the rate of momentum that pinocchio computes is the drift d = Adot_g v. If pinocchio computes
// all terms of the dynamics, the rate contains the supporting force -m g in addition; adding the weight m g removes it.
// The drift of the centre of mass is d_linear / m.
#pragma once

#include "arrays.hpp"

namespace poise {

class MomentumDrift {
 public:
  // linear, angular: rate of momentum in pinocchio's data; root: force at the root, to which pinocchio adds at every
  // call.
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

  // To be called before pinocchio computes all terms.
  void reset_root_force() const {
    for (int i = 0; i < 3; ++i) root_linear_.data()[i] = root_angular_.data()[i] = 0.0;
  }

  void write() const { write_with(0.0); }
  void write_adding_weight() const { write_with(1.0); }

 private:
  void write_with(double factor) const {
    for (int i = 0; i < 3; ++i) {
      momentum_.data()[i] = linear_.data()[i] + factor * weight_.data()[i];
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
