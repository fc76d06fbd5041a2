// Python bindings of the solvers: plain arrays in and out; the GIL is released during a solve.
#include <nanobind/stl/vector.h>

#include "program_layout.hpp"
#include "lexicographic.hpp"
#include "null_space_kernel.hpp"
#include "weighted_sum.hpp"

using namespace nb::literals;

namespace {

class Kernel {
 public:
  // Sets the shape of the programs to solve, and the damping of levels that have none of their own.
  void layout(std::vector<poise::Index> level_begin, poise::Index variables, std::vector<double> damping,
              std::vector<int> columns) {
    poise::expect(damping.size() + 1 == level_begin.size(), "levels and damping do not fit");
    layout_.set(std::move(level_begin), variables, std::move(columns));
    damping_ = std::move(damping);
  }

  // Solves, and writes x and the side of each row. Returns the status, the counters in the order of `counters`, and the
  // first level that was damped near a singularity, or -1.
  nb::tuple solve(const poise::VectorIn& memory, double budget, poise::Index required_levels, bool warm,
                  const poise::VectorOut& x, const poise::SideOut& sides) {
    poise::ProgramView& view = layout_.view;
    const size_t rows = static_cast<size_t>(view.rows), variables = static_cast<size_t>(view.variables);
    layout_.map_memory(memory);
    poise::expect(sides.shape(0) == rows && x.shape(0) == variables, "arrays do not fit the layout");
    for (size_t k = 0; k < damping_.size(); ++k) {
      const double own = layout_.level_damping()[k];
      view.damping[k] = own > 0.0 ? own : damping_[k];
      view.singularity_damping[k] = layout_.level_damping()[damping_.size() + k];
    }
    poise::Status status;
    {
      nb::gil_scoped_release released;
      status = solver_.solve(view, budget, required_levels, warm);
      std::copy(solver_.x().data(), solver_.x().data() + variables, x.data());
      for (size_t i = 0; view.center && i < variables; ++i) x.data()[i] += view.center[i];
      for (size_t i = 0; i < rows; ++i) sides.data()[i] = side(i, x.data());
    }
    const poise::Counters& c = solver_.counters();
    return nb::make_tuple(static_cast<int>(status), c.iterations, c.factorizations, c.updates, c.fits, c.levels_solved,
                          c.descents, c.ignored, c.first_damped_level);
  }

 private:
  // Side of a row as the solver left it; for rows of levels that were not solved, the side at x.
  signed char side(size_t i, const double* x) const {
    const poise::ProgramView& view = layout_.view;
    if (!(view.weight[i] > 0.0)) return poise::inside;
    if (view.lower[i] == view.upper[i]) return poise::equality;
    const auto solved = static_cast<size_t>(solver_.counters().levels_solved);
    const bool level_solved = solved >= view.damping.size() || static_cast<poise::Index>(i) < view.level_begin[solved];
    if (level_solved || solver_.sides()[i] != poise::inside) return solver_.sides()[i];
    const double value = view.value(static_cast<poise::Index>(i), poise::RowView(x, view.variables));
    const double rounding = 1e-9 * (1.0 + std::abs(value));
    return value > view.upper[i] + rounding   ? poise::upper_side
           : value < view.lower[i] - rounding ? poise::lower_side
                                               : poise::inside;
  }

  poise::ProgramLayout layout_;
  std::vector<double> damping_;  // of levels that have none of their own
  poise::Lexicographic solver_;
};

}  // namespace

NB_MODULE(_kernel, module) {
  module.doc() = "Compiled solvers of least-squares problems with strict priorities.";
  nb::class_<Kernel>(module, "Kernel")
      .def(nb::init<>())
      .def("layout", &Kernel::layout, "level_begin"_a, "variables"_a, "damping"_a, "columns"_a)
      .def("solve", &Kernel::solve, "memory"_a.noconvert(), "budget"_a, "required_levels"_a, "warm"_a, "x"_a.noconvert(),
           "sides"_a.noconvert());
  nb::class_<poise::NullSpaceKernel>(module, "NullSpace")
      .def(nb::init<double>(), "rank"_a)
      .def("layout", &poise::NullSpaceKernel::layout, "level_begin"_a, "variables"_a, "damping"_a, "columns"_a)
      .def("solve", &poise::NullSpaceKernel::solve, "memory"_a.noconvert(), "x"_a.noconvert(), "sides"_a.noconvert());
  nb::class_<poise::WeightedSum>(module, "WeightedSum")
      .def(nb::init<bool, double>(), "relaxed"_a, "regularization"_a)
      .def("layout", &poise::WeightedSum::layout, "level_begin"_a, "variables"_a, "columns"_a)
      .def("read", &poise::WeightedSum::read, "memory"_a.noconvert(), "weights"_a.noconvert())
      .def("shape", &poise::WeightedSum::shape)
      .def("write", &poise::WeightedSum::write, "H"_a.noconvert(), "f"_a.noconvert(), "A"_a.noconvert(),
           "lower"_a.noconvert(), "upper"_a.noconvert(), "sense"_a.noconvert(), "rho"_a.noconvert())
      .def("check_solution", &poise::WeightedSum::check_solution, "x"_a.noconvert(), "solution"_a.noconvert(),
           "sides"_a.noconvert());
  module.attr("statuses") = nb::make_tuple("optimal", "budget", "iterations");
  module.attr("counters") = nb::make_tuple("iterations", "factorizations", "updates", "fits", "levels_solved",
                                           "descents", "ignored");
}
