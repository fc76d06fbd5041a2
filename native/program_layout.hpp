// Memory layout of programs passed from Python: their shape is set once, then each program is one array of numbers.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <vector>

#include "rows.hpp"

namespace nb = nanobind;

namespace poise {

using VectorIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SideOut = nb::ndarray<signed char, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SenseOut = nb::ndarray<int, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MatrixOut = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline void expect(bool fits, const char* what) {
  if (!fits) throw nb::value_error(what);
}

// Maps the memory of programs of one shape to a ProgramView.
class ProgramLayout {
 public:
  // level_begin: first row of each level, and the number of rows. columns: per row the unknown that it bounds, or -1 if
  // it has a row in A; empty: all have.
  void set(std::vector<Index> level_begin, Index variables, std::vector<int> columns) {
    expect(!level_begin.empty() && level_begin.front() == 0 && variables >= 0, "levels and unknowns do not fit");
    for (size_t k = 0; k + 1 < level_begin.size(); ++k)
      expect(level_begin[k] <= level_begin[k + 1], "levels are not in order");
    expect(columns.empty() || columns.size() == static_cast<size_t>(level_begin.back()), "columns do not fit the rows");
    for (int column : columns) expect(column >= -1 && column < variables, "no such column");
    view.level_begin = std::move(level_begin);
    view.variables = variables;
    view.rows = view.level_begin.back();
    view.columns = std::move(columns);
    view.matrix_rows.assign(static_cast<size_t>(view.rows), 0);
    matrix_rows_ = 0;
    for (Index i = 0; i < view.rows; ++i)
      view.matrix_rows[static_cast<size_t>(i)] = view.is_unknown(i) ? -1 : matrix_rows_++;
    view.damping.assign(levels(), 0.0);
    view.singularity_damping.assign(levels(), 0.0);
  }

  // The memory contains the rows of A, then lower, upper and weight of all rows, damping and singularity damping of
  // each level, and the center; the rest is ignored.
  void map_memory(const VectorIn& memory) {
    const auto rows = static_cast<size_t>(view.rows), variables = static_cast<size_t>(view.variables);
    const size_t matrix = static_cast<size_t>(matrix_rows_) * variables;
    expect(!view.level_begin.empty() && memory.shape(0) >= matrix + 3 * rows + 2 * levels() + variables,
           "the memory does not fit the layout");
    view.A = memory.data();
    view.lower = view.A + matrix;
    view.upper = view.lower + rows;
    view.weight = view.upper + rows;
    const double* center = view.weight + rows + 2 * levels();
    view.center = std::any_of(center, center + variables, [](double c) { return c != 0.0; }) ? center : nullptr;
  }

  size_t levels() const { return view.level_begin.size() - 1; }
  // Damping of the levels, then their singularity damping.
  const double* level_damping() const { return view.weight + view.rows; }

  ProgramView view;

 private:
  Index matrix_rows_ = 0;  // number of rows of A
};

}  // namespace poise
