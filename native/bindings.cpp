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
  // Where levels begin (one entry more than there are levels) and their damping, for the solves to come.
  void layout(std::vector<poise::Index> level_begin, std::vector<double> damping) {
    if (level_begin.empty() || level_begin.front() != 0 || damping.size() + 1 != level_begin.size())
      throw nb::value_error("levels and damping do not fit");
    for (size_t k = 0; k + 1 < level_begin.size(); ++k)
      if (level_begin[k] > level_begin[k + 1]) throw nb::value_error("levels are not in order");
    view_.level_begin = std::move(level_begin);
    view_.damping = std::move(damping);
  }

  // Solves and writes x and the side of each row; returns the status and what was counted, as `counters` names it.
  nb::tuple solve(const MatrixIn& A, const VectorIn& lower, const VectorIn& upper, const VectorIn& weight,
                  double budget, bool warm, const VectorOut& x, const SideOut& sides) {
    const size_t rows = A.shape(0), variables = A.shape(1);
    if (lower.shape(0) != rows || upper.shape(0) != rows || weight.shape(0) != rows || sides.shape(0) != rows ||
        x.shape(0) != variables)
      throw nb::value_error("arrays do not fit the matrix");
    if (view_.level_begin.empty() || view_.level_begin.back() != static_cast<poise::Index>(rows))
      throw nb::value_error("levels do not fit the matrix");
    view_.variables = static_cast<poise::Index>(variables);
    view_.rows = static_cast<poise::Index>(rows);
    view_.A = A.data();
    view_.lower = lower.data();
    view_.upper = upper.data();
    view_.weight = weight.data();
    poise::Status status;
    {
      nb::gil_scoped_release released;
      status = solver_.solve(view_, budget, warm);
      std::copy(solver_.x().data(), solver_.x().data() + variables, x.data());
      for (size_t i = 0; i < rows; ++i) sides.data()[i] = side(i);
    }
    const poise::Counters& c = solver_.counters();
    return nb::make_tuple(static_cast<int>(status), c.iterations, c.factorizations, c.updates, c.fits, c.levels_solved,
                          c.descents, c.ignored);
  }

 private:
  // The side of a row as the solver left it; the rows of levels that it never looked at stand where x puts them.
  signed char side(size_t i) const {
    if (!(view_.weight[i] > 0.0)) return poise::inside;
    if (view_.lower[i] == view_.upper[i]) return poise::equality;
    const auto solved = static_cast<size_t>(solver_.counters().levels_solved);
    const bool seen = solved >= view_.damping.size() || static_cast<poise::Index>(i) < view_.level_begin[solved];
    if (seen || solver_.sides()[i] != poise::inside) return solver_.sides()[i];
    const double value = poise::RowView(view_.A + static_cast<poise::Index>(i) * view_.variables, view_.variables)
                             .dot(solver_.x());
    const double rounding = 1e-9 * (1.0 + std::abs(value));
    return value > view_.upper[i] + rounding   ? poise::upper_side
           : value < view_.lower[i] - rounding ? poise::lower_side
                                               : poise::inside;
  }

  poise::ProgramView view_;
  poise::Lexicographic solver_;
};

}  // namespace

NB_MODULE(_kernel, module) {
  module.doc() = "Compiled strict-priority least-squares kernel.";
  nb::class_<Kernel>(module, "Kernel")
      .def(nb::init<>())
      .def("layout", &Kernel::layout, "level_begin"_a, "damping"_a)
      .def("solve", &Kernel::solve, "A"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
           "weight"_a.noconvert(), "budget"_a, "warm"_a, "x"_a.noconvert(), "sides"_a.noconvert());
  module.attr("statuses") = nb::make_tuple("optimal", "budget", "iterations");
  module.attr("counters") = nb::make_tuple("iterations", "factorizations", "updates", "fits", "levels_solved",
                                           "descents", "ignored");
}
