// Python bindings of NullSpace.
#pragma once

#include "program_layout.hpp"
#include "null_space.hpp"

namespace poise {

class NullSpaceKernel {
 public:
  explicit NullSpaceKernel(double rank) : solver_(rank) {}

  // Sets the shape of the programs to solve, and the damping of levels that have none of their own.
  void layout(std::vector<Index> level_begin, Index variables, std::vector<double> damping, std::vector<int> columns) {
    expect(damping.size() + 1 == level_begin.size(), "levels and damping do not fit");
    layout_.set(std::move(level_begin), variables, std::move(columns));
    damping_ = std::move(damping);
  }

  // Solves, and writes x and the side of each row. Returns the status, the number of solved levels and the number of
  // factorisations.
  nb::tuple solve(const VectorIn& memory, const VectorOut& x, const SideOut& sides) {
    ProgramView& view = layout_.view;
    layout_.map_memory(memory);
    const auto rows = static_cast<size_t>(view.rows), variables = static_cast<size_t>(view.variables);
    expect(sides.shape(0) == rows && x.shape(0) == variables, "arrays do not fit the layout");
    for (size_t k = 0; k < damping_.size(); ++k) {
      const double own = layout_.level_damping()[k];
      view.damping[k] = own > 0.0 ? own : damping_[k];
    }
    NullSpace::Status status;
    {
      nb::gil_scoped_release released;
      status = solver_.solve(view);
      for (size_t i = 0; i < variables; ++i)
        x.data()[i] = solver_.x()[static_cast<Index>(i)] + (view.center ? view.center[i] : 0.0);
      for (size_t i = 0; i < rows; ++i) sides.data()[i] = solver_.side(static_cast<Index>(i));
    }
    return nb::make_tuple(static_cast<int>(status), solver_.levels_solved(), solver_.factorizations());
  }

 private:
  ProgramLayout layout_;
  std::vector<double> damping_;
  NullSpace solver_;
};

}  // namespace poise
