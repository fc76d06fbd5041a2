// Python's view of the kernel: one class, plain arrays in and out, the GIL released while it works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "lexicographic.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using VectorIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SideOut = nb::ndarray<signed char, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class Kernel {
 public:
  // Solves and writes x, slack (A x minus its projection on the bounds) and the side of each row.
  const char* solve(MatrixIn A, VectorIn lower, VectorIn upper, VectorIn weight,
                    const std::vector<poise::Index>& level_begin, const std::vector<double>& damping,
                    double budget, bool warm, VectorOut x, VectorOut slack, SideOut sides) {
    const size_t rows = A.shape(0), variables = A.shape(1);
    if (lower.shape(0) != rows || upper.shape(0) != rows || weight.shape(0) != rows ||
        slack.shape(0) != rows || sides.shape(0) != rows || x.shape(0) != variables)
      throw nb::value_error("arrays do not fit the matrix");
    if (level_begin.empty() || level_begin.front() != 0 ||
        level_begin.back() != static_cast<poise::Index>(rows) || damping.size() + 1 != level_begin.size())
      throw nb::value_error("levels do not fit the matrix");
    for (size_t k = 0; k + 1 < level_begin.size(); ++k)
      if (level_begin[k] > level_begin[k + 1]) throw nb::value_error("levels are not in order");
    view_.variables = static_cast<poise::Index>(variables);
    view_.rows = static_cast<poise::Index>(rows);
    view_.A = A.data();
    view_.lower = lower.data();
    view_.upper = upper.data();
    view_.weight = weight.data();
    view_.level_begin = level_begin;
    view_.damping = damping;
    nb::gil_scoped_release released;
    const poise::Status status = solver_.solve(view_, budget, warm);
    std::copy(solver_.x().data(), solver_.x().data() + variables, x.data());
    for (size_t i = 0; i < rows; ++i) {
      const poise::RowView a(view_.A + i * variables, view_.variables);
      const double value = a.dot(solver_.x()), low = view_.lower[i], high = view_.upper[i];
      slack.data()[i] = value > high ? value - high : value < low ? value - low : 0.0;
      sides.data()[i] = side(i, slack.data()[i], 1e-9 * (1.0 + std::abs(value)));
    }
    switch (status) {
      case poise::Status::optimal: return "optimal";
      case poise::Status::budget: return "budget";
      default: return "iterations";
    }
  }

  // The side of a row as the solver left it; levels that had no freedom left were never looked at.
  signed char side(size_t i, double slack, double rounding) const {
    if (!(view_.weight[i] > 0.0)) return poise::inside;
    if (view_.lower[i] == view_.upper[i]) return poise::equality;
    const signed char known = solver_.sides()[i];
    if (known != poise::inside || std::abs(slack) <= rounding) return known;
    return slack > 0.0 ? poise::upper_side : poise::lower_side;
  }

  nb::dict counters() const {
    const poise::Counters& c = solver_.counters();
    nb::dict d;
    d["iterations"] = c.iterations;
    d["factorizations"] = c.factorizations;
    d["updates"] = c.updates;
    d["fits"] = c.fits;
    d["levels_solved"] = c.levels_solved;
    d["descents"] = c.descents;
    d["ignored"] = c.ignored;
    return d;
  }

 private:
  poise::ProgramView view_;
  poise::Lexicographic solver_;
};

}  // namespace

NB_MODULE(_kernel, module) {
  module.doc() = "Compiled strict-priority least-squares kernel.";
  nb::class_<Kernel>(module, "Kernel")
      .def(nb::init<>())
      .def("solve", &Kernel::solve, "A"_a, "lower"_a, "upper"_a, "weight"_a, "level_begin"_a, "damping"_a,
           "budget"_a, "warm"_a, "x"_a.noconvert(), "slack"_a.noconvert(), "sides"_a.noconvert())
      .def("counters", &Kernel::counters);
}
