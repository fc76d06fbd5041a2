// Python's view of the kernel: one class, plain arrays in and out, the GIL released while it works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "lexicographic.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using VectorIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SideOut = nb::ndarray<signed char, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class Kernel {
 public:
  // The shape of the solves to come: where levels begin (one entry more than there are levels), the number of unknowns,
  // the damping of levels that bring none of their own, and for each row the unknown that it is, or -1 if it has a
  // line in A; an empty list says so of all.
  void layout(std::vector<poise::Index> level_begin, poise::Index variables, std::vector<double> damping,
              std::vector<int> columns) {
    if (level_begin.empty() || level_begin.front() != 0 || damping.size() + 1 != level_begin.size() || variables < 0)
      throw nb::value_error("levels, unknowns and damping do not fit");
    for (size_t k = 0; k + 1 < level_begin.size(); ++k)
      if (level_begin[k] > level_begin[k + 1]) throw nb::value_error("levels are not in order");
    if (!columns.empty() && columns.size() != static_cast<size_t>(level_begin.back()))
      throw nb::value_error("columns do not fit the rows");
    for (int column : columns)
      if (column < -1 || column >= variables) throw nb::value_error("no such column");
    view_.level_begin = std::move(level_begin);
    view_.variables = variables;
    view_.rows = view_.level_begin.back();
    view_.columns = std::move(columns);
    view_.lines.assign(static_cast<size_t>(view_.rows), 0);
    lines_ = 0;
    for (poise::Index i = 0; i < view_.rows; ++i)
      view_.lines[static_cast<size_t>(i)] = view_.is_unknown(i) ? -1 : lines_++;
    view_.damping = damping;
    view_.caution.assign(damping.size(), 0.0);
    damping_ = std::move(damping);
  }

  // Solves and writes x and the side of each row; returns the status, what was counted, as `counters` names it, and the
  // first level that its caution damped, or -1.
  // The memory holds the lines of A, then lower, upper and weight of all rows, damping and caution of each level, and the
  // center; what follows is not looked at.
  nb::tuple solve(const VectorIn& memory, double budget, bool warm, const VectorOut& x, const SideOut& sides) {
    const size_t rows = static_cast<size_t>(view_.rows), variables = static_cast<size_t>(view_.variables);
    if (view_.level_begin.empty() || memory.shape(0) < size(variables) ||
        sides.shape(0) != rows || x.shape(0) != variables)
      throw nb::value_error("arrays do not fit the layout");
    view_.A = memory.data();
    view_.lower = view_.A + static_cast<size_t>(lines_) * variables;
    view_.upper = view_.lower + rows;
    view_.weight = view_.upper + rows;
    for (size_t k = 0; k < damping_.size(); ++k) {
      const double own = (view_.weight + rows)[k];
      view_.damping[k] = own > 0.0 ? own : damping_[k];
      view_.caution[k] = (view_.weight + rows)[damping_.size() + k];
    }
    const double* center = view_.weight + rows + 2 * damping_.size();
    const bool centered = std::any_of(center, center + variables, [](double c) { return c != 0.0; });
    view_.center = centered ? center : nullptr;
    poise::Status status;
    {
      nb::gil_scoped_release released;
      status = solver_.solve(view_, budget, warm);
      std::copy(solver_.x().data(), solver_.x().data() + variables, x.data());
      for (size_t i = 0; centered && i < variables; ++i) x.data()[i] += center[i];
      for (size_t i = 0; i < rows; ++i) sides.data()[i] = side(i, x.data());
    }
    const poise::Counters& c = solver_.counters();
    return nb::make_tuple(static_cast<int>(status), c.iterations, c.factorizations, c.updates, c.fits, c.levels_solved,
                          c.descents, c.ignored, c.careful);
  }

 private:
  size_t size(size_t variables) const {
    return static_cast<size_t>(lines_) * variables + 3 * static_cast<size_t>(view_.rows) + 2 * damping_.size() + variables;
  }

  // The side of a row as the solver left it; the rows of levels that it never looked at stand where x puts them.
  signed char side(size_t i, const double* x) const {
    if (!(view_.weight[i] > 0.0)) return poise::inside;
    if (view_.lower[i] == view_.upper[i]) return poise::equality;
    const auto solved = static_cast<size_t>(solver_.counters().levels_solved);
    const bool seen = solved >= view_.damping.size() || static_cast<poise::Index>(i) < view_.level_begin[solved];
    if (seen || solver_.sides()[i] != poise::inside) return solver_.sides()[i];
    const double value = view_.value(static_cast<poise::Index>(i), poise::RowView(x, view_.variables));
    const double rounding = 1e-9 * (1.0 + std::abs(value));
    return value > view_.upper[i] + rounding   ? poise::upper_side
           : value < view_.lower[i] - rounding ? poise::lower_side
                                               : poise::inside;
  }

  poise::ProgramView view_;
  poise::Index lines_ = 0;       // of A
  std::vector<double> damping_;  // of levels that bring none of their own
  poise::Lexicographic solver_;
};

}  // namespace

NB_MODULE(_kernel, module) {
  module.doc() = "Compiled strict-priority least-squares kernel.";
  nb::class_<Kernel>(module, "Kernel")
      .def(nb::init<>())
      .def("layout", &Kernel::layout, "level_begin"_a, "variables"_a, "damping"_a, "columns"_a)
      .def("solve", &Kernel::solve, "memory"_a.noconvert(), "budget"_a, "warm"_a, "x"_a.noconvert(),
           "sides"_a.noconvert());
  module.attr("statuses") = nb::make_tuple("optimal", "budget", "iterations");
  module.attr("counters") = nb::make_tuple("iterations", "factorizations", "updates", "fits", "levels_solved",
                                           "descents", "ignored");
}
