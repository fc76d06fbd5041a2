// A program for the solvers: rows  lower <= A x <= upper  sorted by level, each scaled to unit norm so that tolerances
// mean the same for every row. The matrix is never copied.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <vector>

#include "reflector.hpp"

namespace poise {

using RowView = Eigen::Map<const Eigen::VectorXd>;

constexpr double infinity = std::numeric_limits<double>::infinity();

// The bound that is active in a row; 0 if the row is inside its interval.
enum Side : signed char { lower_side = -1, inside = 0, upper_side = 1, equality = 2 };

struct ProgramView {
  Index variables = 0;
  Index rows = 0;
  const double* A = nullptr;  // rows that are not single unknowns, row major
  const double* lower = nullptr;
  const double* upper = nullptr;
  const double* weight = nullptr;
  const double* center = nullptr;           // x is pulled towards it; the solvers use x - center; null: zero
  std::vector<Index> level_begin;           // levels + 1 entries
  std::vector<double> damping;              // one per level, in units of the level's cost per squared x
  std::vector<double> singularity_damping;  // of levels that are nearly singular, same unit
  std::vector<int> columns;                 // unknown of each row, or -1 for a row of A; empty: all are rows of A
  std::vector<Index> matrix_rows;           // row of A of each row

  Index levels() const { return static_cast<Index>(level_begin.size()) - 1; }
  bool is_unknown(Index i) const { return !columns.empty() && columns[static_cast<size_t>(i)] >= 0; }
  RowView raw(Index i) const { return RowView(A + matrix_rows[static_cast<size_t>(i)] * variables, variables); }
  double value(Index i, const RowView& x) const {
    return is_unknown(i) ? x[columns[static_cast<size_t>(i)]] : raw(i).dot(x);
  }
};

enum class Kind : signed char { free, equality, inequality };

// One row scaled to unit norm: value(x) = a.x / norm, its bounds, and `root_weight`, the square root of its weight in
// the cost of the level (relative to the largest of the level, `max_root_weight`).
struct Row {
  double inverse_norm = 0.0;
  double lower = -infinity;
  double upper = infinity;
  double root_weight = 1.0;
  double magnitude = 0.0;  // of its finite bounds, for tolerances
  double entry = 0.0;      // of its only nonzero column, scaled: 1 or -1
  int column = -1;         // that column, or -1
  int begin = 0;           // all columns before this one are zero, e.g. those of accelerations in rows on forces
  int level = 0;
  Kind kind = Kind::free;
};

class Rows {
 public:
  void read(const ProgramView& view) {
    view_ = &view;
    rows_.resize(static_cast<size_t>(view.rows));
    damping_.resize(static_cast<size_t>(view.levels()));
    singularity_damping_.resize(static_cast<size_t>(view.levels()));
    max_root_weight_.resize(static_cast<size_t>(view.levels()));
    for (Index level = 0; level < view.levels(); ++level) read_level(level);
  }

  const Row& operator[](Index i) const { return rows_[static_cast<size_t>(i)]; }
  Index begin(Index level) const { return view_->level_begin[static_cast<size_t>(level)]; }
  Index end(Index level) const { return view_->level_begin[static_cast<size_t>(level) + 1]; }
  double damping(Index level) const { return damping_[static_cast<size_t>(level)]; }
  double singularity_damping(Index level) const { return singularity_damping_[static_cast<size_t>(level)]; }
  double max_root_weight(Index level) const { return max_root_weight_[static_cast<size_t>(level)]; }
  RowView raw(Index i) const { return view_->raw(i); }
  // A row without its leading zeros.
  RowView entries(Index i) const {
    const Index begin = (*this)[i].begin;
    return RowView(raw(i).data() + begin, view_->variables - begin);
  }

  // Writes a_i (unit norm) to a vector.
  template <class Out>
  void copy_to(Index i, Out&& out) const {
    const Row& row = (*this)[i];
    if (row.column >= 0) {
      out.setZero();
      out[row.column] = row.entry;
    } else {
      out = row.inverse_norm * raw(i);
    }
  }

  template <class In>
  double value(Index i, const In& x) const {
    const Row& row = (*this)[i];
    if (row.column >= 0) return row.entry * x[row.column];
    return row.inverse_norm * entries(i).dot(x.tail(x.size() - row.begin));
  }

  // Adds scale * a_i (unit norm) to g.
  void accumulate(Index i, double scale, Vector& g) const {
    const Row& row = (*this)[i];
    if (row.column >= 0)
      g[row.column] += scale * row.entry;
    else
      g.tail(g.size() - row.begin) += (scale * row.inverse_norm) * entries(i);
  }

 private:
  // Bounds of 1e20 or more are infinite, as in most solvers.
  static double unbounded(double bound) {
    return std::abs(bound) < 1e20 ? bound : std::copysign(infinity, bound);
  }

  void read_unknown(Row& row, Index i) {
    const double weight = view_->weight[i];
    if (!(weight > 0.0 && std::isfinite(weight))) return;
    row.column = view_->columns[static_cast<size_t>(i)];
    row.entry = row.inverse_norm = 1.0;
    row.root_weight = weight == 1.0 ? 1.0 : std::sqrt(weight);
    set_bounds(row, i);
  }

  void set_bounds(Row& row, Index i) {
    double shift = 0.0;
    if (view_->center && view_->is_unknown(i)) {
      shift = view_->center[row.column];
    } else if (view_->center) {
      shift = entries(i).dot(RowView(view_->center + row.begin, view_->variables - row.begin));
    }
    row.lower = (unbounded(view_->lower[i]) - shift) * row.inverse_norm;
    row.upper = (unbounded(view_->upper[i]) - shift) * row.inverse_norm;
    if (std::isfinite(row.lower)) row.magnitude = std::abs(row.lower);
    if (std::isfinite(row.upper)) row.magnitude = std::max(row.magnitude, std::abs(row.upper));
    if (std::isfinite(row.lower) || std::isfinite(row.upper))
      row.kind = row.lower == row.upper ? Kind::equality : Kind::inequality;
  }

  void read_level(Index level) {
    double max_root_weight = 0.0;
    for (Index i = begin(level); i < end(level); ++i) {
      Row& row = rows_[static_cast<size_t>(i)];
      row = Row{};
      row.level = static_cast<int>(level);
      if (view_->is_unknown(i)) {
        read_unknown(row, i);
        max_root_weight = std::max(max_root_weight, row.root_weight);
        continue;
      }
      const RowView whole = raw(i);
      Index at = 0;
      while (at < whole.size() && whole[at] == 0.0) ++at;
      const double weight = view_->weight[i];
      if (at == whole.size() || !(weight > 0.0)) continue;
      row.begin = static_cast<int>(at / detail::lanes * detail::lanes);  // whole packets, as in a complete row
      const RowView a = entries(i);
      double squared = a.squaredNorm();
      double norm = std::sqrt(squared);
      if (!(squared < 1e280 && squared > 1e-280)) {
        // Scaling by the largest entry keeps the norm finite for entries of any size.
        const double largest = a.cwiseAbs().maxCoeff();
        norm = largest * (a / largest).norm();
      }
      row.inverse_norm = 1.0 / norm;
      if (norm == std::abs(whole[at]) && (a.array() != 0.0).count() == 1) {
        row.column = static_cast<int>(at);
        row.entry = whole[at] * row.inverse_norm;
      }
      row.root_weight = weight == 1.0 ? norm : std::sqrt(weight) * norm;
      if (!std::isfinite(row.inverse_norm) || !std::isfinite(row.root_weight)) continue;
      max_root_weight = std::max(max_root_weight, row.root_weight);
      set_bounds(row, i);
    }
    for (Index i = begin(level); i < end(level); ++i)
      if (max_root_weight > 0.0) rows_[static_cast<size_t>(i)].root_weight /= max_root_weight;
    const auto at = static_cast<size_t>(level);
    max_root_weight_[at] = max_root_weight;
    damping_[at] = max_root_weight > 0.0 ? view_->damping[at] / max_root_weight : 0.0;
    singularity_damping_[at] = max_root_weight > 0.0 ? view_->singularity_damping[at] / max_root_weight : 0.0;
  }

  const ProgramView* view_ = nullptr;
  std::vector<Row> rows_;
  std::vector<double> damping_, singularity_damping_, max_root_weight_;  // of each level
};

}  // namespace poise
