// Python bindings of the writers. A writer is constructed once with the arrays that it reads and writes, and called
// without arguments at every control step.
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "center_of_mass.hpp"
#include "collision.hpp"
#include "dynamics.hpp"
#include "frame_rows.hpp"
#include "joint_bounds.hpp"
#include "momentum_drift.hpp"
#include "task_bounds.hpp"
#include "relative_frame_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Copies the state of a new control step.
class StateLoader {
 public:
  StateLoader(poise::VectorOut q, poise::VectorOut v) : q_(std::move(q)), v_(std::move(v)) {}

  double load(const poise::VectorIn& q, const poise::VectorIn& v) const {
    poise::expect(q.shape(0) == q_.shape(0) && v.shape(0) == v_.shape(0), "the state does not fit the robot");
    double sum = 0.0;  // NaN or infinite if any number is
    for (size_t i = 0; i < q.shape(0); ++i) sum += std::abs(q_.data()[i] = q.data()[i]);
    for (size_t i = 0; i < v.shape(0); ++i) sum += std::abs(v_.data()[i] = v.data()[i]);
    return sum;
  }

 private:
  poise::VectorOut q_, v_;
};

}  // namespace

NB_MODULE(_motion, m) {
  m.doc() = "Writers of the rows of common tasks into the memory of a program.";
  // Controllers that live until the interpreter ends are not leaks.
  nb::set_leak_warnings(false);

  nb::class_<StateLoader>(m, "StateLoader")
      .def(nb::init<poise::VectorOut, poise::VectorOut>(), "q"_a, "v"_a)
      .def("load", &StateLoader::load, "q"_a, "v"_a,
           "Copy a state; return the sum of the absolute values of its entries.");

  nb::class_<poise::CenterOfMass>(m, "CenterOfMass")
      .def(nb::init<poise::ColumnsIn, std::vector<poise::ColumnsIn>, std::vector<poise::VectorIn>, poise::VectorIn,
                    poise::MatrixIn, poise::IndicesIn, poise::IndicesIn, poise::IndicesIn, poise::VectorOut,
                    poise::ColumnsOut>(),
           "J"_a, "rotations"_a, "positions"_a, "masses"_a, "centers"_a, "parents"_a, "columns"_a, "counts"_a,
           "center"_a, "jacobian"_a)
      .def("write", &poise::CenterOfMass::write);

  nb::class_<poise::MomentumDrift>(m, "MomentumDrift")
      .def(nb::init<poise::VectorIn, poise::VectorIn, poise::VectorOut, poise::VectorOut, poise::VectorIn, double,
                    poise::VectorOut, poise::VectorOut>(),
           "linear"_a, "angular"_a, "root_linear"_a, "root_angular"_a, "weight"_a, "mass"_a, "momentum"_a,
           "center_of_mass"_a)
      .def("reset_root_force", &poise::MomentumDrift::reset_root_force)
      .def("write", &poise::MomentumDrift::write)
      .def("write_adding_weight", &poise::MomentumDrift::write_adding_weight);

  nb::class_<poise::FrameRows>(m, "FrameRows")
      .def(nb::init<poise::ColumnsIn, poise::IndicesIn, poise::VectorIn, poise::MatrixIn, poise::VectorIn,
                    poise::ColumnsIn, poise::VectorIn, poise::VectorIn, poise::VectorIn, poise::VectorIn>(),
           "J"_a, "columns"_a, "offset"_a, "rotation"_a, "joint_position"_a, "joint_rotation"_a, "linear_velocity"_a,
           "angular_velocity"_a, "linear_acceleration"_a, "angular_acceleration"_a)
      .def("jacobian", [](const poise::FrameRows& frame, const poise::RowsOut& out) {
        static const double identity[36] = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                                            0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
        poise::expect_rows(out, 6, frame.variables());
        frame.rows(identity, 6, out.data(), out.stride(0));
      }, "out"_a)
      .def("position", [](const poise::FrameRows& frame, const poise::VectorOut& out) {
        poise::expect(out.shape(0) == 3, "a vector has three components");
        Eigen::Map<poise::Vector3>(out.data()) = frame.position();
      }, "out"_a)
      .def("rotation", [](const poise::FrameRows& frame, const poise::RowsOut& out) {
        poise::expect_rows(out, 3, 3);
        Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(out.data()) = frame.rotation();
      }, "out"_a)
      .def("drift", [](const poise::FrameRows& frame, const poise::VectorOut& out) {
        poise::expect(out.shape(0) == 6, "a frame has six components");
        Eigen::Map<Eigen::Matrix<double, 6, 1>>(out.data()) = frame.drift();
      }, "out"_a)
      .def("velocity", [](const poise::FrameRows& frame, const poise::VectorOut& out) {
        poise::expect(out.shape(0) == 6, "a frame has six components");
        Eigen::Map<Eigen::Matrix<double, 6, 1>>(out.data()) = frame.velocity();
      }, "out"_a);

  nb::class_<poise::FrameWriter>(m, "FrameWriter")
      .def(nb::init<poise::FrameRows, poise::MatrixIn, poise::VectorIn, poise::MatrixIn, poise::VectorOut,
                    poise::RowsOut, poise::VectorOut>(),
           "frame"_a, "S"_a, "target_position"_a, "target_rotation"_a, "error"_a, "A"_a, "drift"_a)
      .def("write", &poise::FrameWriter::write)
      .def("write_drift", &poise::FrameWriter::write_drift);

  nb::class_<poise::PointWriter>(m, "PointWriter")
      .def(nb::init<poise::ColumnsIn, poise::VectorIn, poise::VectorIn, poise::MatrixIn, poise::VectorIn,
                    poise::VectorOut, poise::RowsOut, poise::VectorOut>(),
           "J"_a, "point"_a, "acceleration"_a, "S"_a, "target"_a, "error"_a, "A"_a, "drift"_a)
      .def("write", &poise::PointWriter::write)
      .def("write_drift", &poise::PointWriter::write_drift);

  nb::class_<poise::RelativePoseWriter>(m, "RelativePoseWriter")
      .def(nb::init<poise::FrameRows, poise::FrameRows, poise::IndicesIn, poise::VectorIn, poise::MatrixIn,
                    poise::VectorOut, poise::RowsOut, poise::VectorOut>(),
           "frame"_a, "reference_frame"_a, "components"_a, "target_position"_a, "target_rotation"_a, "error"_a, "A"_a,
           "drift"_a)
      .def("write", &poise::RelativePoseWriter::write)
      .def("write_drift", &poise::RelativePoseWriter::write_drift);

  nb::class_<poise::RelativePointWriter>(m, "RelativePointWriter")
      .def(nb::init<poise::ColumnsIn, poise::VectorIn, poise::VectorIn, poise::VectorIn, poise::FrameRows,
                    size_t, poise::IndicesIn, poise::VectorIn, poise::VectorOut, poise::RowsOut, poise::VectorOut>(),
           "J"_a, "point"_a, "acceleration"_a, "v"_a, "reference_frame"_a, "base"_a, "components"_a, "target"_a,
           "error"_a, "A"_a, "drift"_a)
      .def("write", &poise::RelativePointWriter::write)
      .def("write_drift", &poise::RelativePointWriter::write_drift);

  nb::class_<poise::JointWriter>(m, "JointWriter")
      .def(nb::init<poise::VectorIn, poise::IndicesIn, poise::VectorIn, poise::VectorOut>(), "q"_a, "q_index"_a,
           "target"_a, "error"_a)
      .def("write", &poise::JointWriter::write);

  nb::class_<poise::TaskBounds>(m, "TaskBounds")
      .def(nb::init<poise::VectorIn, poise::VectorIn, poise::VectorIn, poise::VectorIn, poise::VectorIn,
                    poise::VectorIn, poise::VectorIn, poise::VectorIn, poise::VectorIn, poise::VectorIn,
                    poise::IndicesIn, poise::IndicesIn, poise::VectorIn, poise::VectorIn, poise::VectorOut,
                    poise::VectorOut, poise::RowsOut, poise::VectorIn, poise::VectorIn, poise::VectorIn,
                    poise::IndicesIn, poise::VectorOut, double, poise::IndicesIn, poise::VectorOut, double>(),
           "error"_a, "low"_a, "high"_a, "gain"_a, "gain_rate"_a, "coupling"_a, "damping"_a, "target_rate"_a,
           "target_acceleration"_a, "drift"_a, "group_begin"_a, "group_end"_a, "group_speed"_a, "group_acceleration"_a,
           "lower"_a, "upper"_a, "A"_a, "v"_a, "weight"_a, "curvature"_a, "level_begin"_a, "singularity_damping"_a,
           "period"_a, "unknowns"_a, "center"_a, "rest_damping"_a)
      .def("velocity", &poise::TaskBounds::velocity)
      .def("acceleration", &poise::TaskBounds::acceleration);

  nb::class_<poise::ForceBasis>(m, "ForceBasis").def(nb::init<poise::FrameRows, poise::MatrixIn>(), "frame"_a, "G"_a);

  nb::class_<poise::ForceMap>(m, "ForceMap")
      .def(nb::init<std::vector<poise::ForceBasis>, poise::RowsOut>(), "contacts"_a, "force_jacobian"_a)
      .def("write", &poise::ForceMap::write)
      .def("wrenches", &poise::ForceMap::wrenches, "y"_a, "wrenches"_a, "points"_a);

  nb::class_<poise::DynamicsWriter>(m, "DynamicsWriter")
      .def(nb::init<poise::ColumnsIn, poise::VectorIn, poise::RowsOut, poise::IndicesIn, poise::VectorIn,
                    poise::VectorIn, poise::VectorIn, poise::RowsOut, poise::VectorOut, poise::VectorOut>(),
           "M"_a, "h"_a, "force_jacobian"_a, "rows"_a, "scale"_a, "low"_a, "high"_a, "A"_a, "lower"_a, "upper"_a)
      .def("write", &poise::DynamicsWriter::write);

  m.def("generalised_forces", &poise::generalised_forces, "M"_a, "h"_a, "force_jacobian"_a, "x"_a, "out"_a,
        "Write M v' + h - sum J^T W y; in a feasible solution the first six are zero, the others are torques.");

  nb::class_<poise::TorqueCommand>(m, "TorqueCommand")
      .def(nb::init<poise::ColumnsIn, poise::VectorIn, poise::RowsOut, poise::VectorOut, poise::VectorIn, double,
                    double, double>(),
           "M"_a, "h"_a, "force_jacobian"_a, "work"_a, "torque_limit"_a, "base_tolerance"_a, "torque_tolerance"_a,
           "period"_a)
      .def("compute", &poise::TorqueCommand::compute, "x"_a, "v"_a, "torque"_a, "velocity"_a,
           "Write torques and the next velocity; return whether they are feasible.");

  using Rotations = std::vector<poise::ColumnsIn>;
  using Positions = std::vector<poise::VectorIn>;
  nb::class_<poise::CapsulePairs>(m, "CapsulePairs")
      .def(nb::init<poise::MatrixIn, poise::MatrixIn, poise::VectorIn, poise::IndicesIn, poise::IndicesIn,
                    poise::IndicesIn>(),
           "center"_a, "half_axis"_a, "radius"_a, "carrier"_a, "first"_a, "second"_a)
      .def("place", nb::overload_cast<const Rotations&, const Positions&, const poise::PointsOut&>(
                        &poise::CapsulePairs::place, nb::const_), "rotations"_a, "positions"_a, "X"_a)
      .def("measure", &poise::CapsulePairs::measure, "X"_a, "d"_a, "s"_a, "t"_a);

  nb::class_<poise::JointTree>(m, "JointTree")
      .def(nb::init<poise::ColumnsIn, poise::VectorIn, poise::IndicesIn, poise::IndicesIn, poise::IndicesIn>(), "J"_a,
           "v"_a, "parents"_a, "columns"_a, "counts"_a);

  m.attr("MAX_TURNING_DRIFT") = poise::max_turning_drift;
  nb::class_<poise::GapRows>(m, "GapRows")
      .def(nb::init<poise::CapsulePairs, Rotations, Positions, poise::IndicesIn, poise::JointTree, poise::IndicesOut,
                    poise::VectorOut, poise::PointsOut, poise::PointsOut, poise::PointsOut>(),
           "pairs"_a, "rotations"_a, "positions"_a, "joints"_a, "tree"_a, "pair"_a, "gap"_a, "normal"_a, "first"_a,
           "second"_a)
      .def("update", &poise::GapRows::update)
      .def("jacobian", [](const poise::GapRows& gaps, const poise::RowsOut& out) {
        poise::expect_rows(out, gaps.rows(), gaps.variables());
        gaps.jacobian(out.data(), out.stride(0));
      }, "out"_a)
      .def("drift", [](poise::GapRows& gaps, const poise::VectorOut& out) {
        poise::expect(out.shape(0) == gaps.rows(), "out does not fit the rows");
        gaps.drift(out.data());
      }, "out"_a)
      .def("body_twists", [](poise::GapRows& gaps, const poise::PointsOut& V_i, const poise::PointsOut& V_j,
                       const poise::VectorOut& out) {
        for (const auto* V : {&V_i, &V_j})
          poise::expect(V->shape(0) == gaps.rows() && V->shape(1) == 6, "a twist has six components");
        poise::expect(out.shape(0) == gaps.rows(), "out does not fit the rows");
        gaps.body_twists(V_i.data(), V_j.data(), out.data());
      }, "first_twist"_a, "second_twist"_a, "out"_a);

  nb::class_<poise::GapWriter>(m, "GapWriter")
      .def(nb::init<poise::GapRows&, poise::VectorIn, double, poise::VectorOut, poise::VectorOut, poise::RowsOut,
                    poise::VectorOut>(),
           "gaps"_a, "min_gaps"_a, "influence"_a, "error"_a, "low"_a, "A"_a, "drift"_a, nb::keep_alive<1, 2>())
      .def("write", &poise::GapWriter::write)
      .def("write_drift", &poise::GapWriter::write_drift);

  nb::class_<poise::JointBounds>(m, "JointBounds")
      .def(nb::init<poise::VectorIn, poise::VectorIn, poise::IndicesIn, poise::IndicesIn, poise::VectorIn,
                    poise::VectorIn, poise::VectorIn, poise::VectorIn, double, double, bool, poise::VectorOut,
                    poise::VectorOut>(),
           "q"_a, "v"_a, "q_index"_a, "v_index"_a, "q_min"_a, "q_max"_a, "speed"_a, "acceleration"_a, "period"_a,
           "recovery"_a, "second_order"_a, "lower"_a, "upper"_a)
      .def("range", &poise::JointBounds::range)
      .def("speed", &poise::JointBounds::speed)
      .def("acceleration", &poise::JointBounds::acceleration);
}
