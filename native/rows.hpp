// The program as the kernel sees it: rows  lower <= A x <= upper  sorted by level, each row scaled to unit
// norm so that tolerances mean the same on every row. The matrix itself is never copied.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <vector>

#include "reflector.hpp"

namespace poise {

using RowView = Eigen::Map<const Eigen::VectorXd>;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Which bound holds a row: 0 when it is inside its interval.
enum Side : signed char { lower_side = -1, inside = 0, upper_side = 1, equality = 2 };

struct ProgramView {
  Index variables = 0;
  Index rows = 0;
  const double* A = nullptr;  // those rows that are not known to be single unknowns, row major
  const double* lower = nullptr;
  const double* upper = nullptr;
  const double* weight = nullptr;
  const double* center = nullptr;  // where x is pulled to: the kernel's unknowns are x - center; null: zero
  std::vector<Index> level_begin;  // levels + 1 entries
  std::vector<double> damping;     // one per level, in units of the level's cost per squared x
  std::vector<double> caution;     // likewise, of levels that turn out to be nearly singular
  std::vector<int> columns;        // per row the unknown that it is, or -1 for a row of A; empty: all are rows of A
  std::vector<Index> lines;        // per row its line in A

  Index levels() const { return static_cast<Index>(level_begin.size()) - 1; }
  bool is_unknown(Index i) const { return !columns.empty() && columns[static_cast<size_t>(i)] >= 0; }
  RowView raw(Index i) const { return RowView(A + lines[static_cast<size_t>(i)] * variables, variables); }
  double value(Index i, const RowView& x) const {
    return is_unknown(i) ? x[columns[static_cast<size_t>(i)]] : raw(i).dot(x);
  }
};

enum class Kind : signed char { free, equality, inequality };

// One row scaled to unit norm: value(x) = a.x / norm, its bounds, and `pull`, the square root of its
// weight in the level's cost (relative to `strongest`, that of the strongest row of the level).
struct Row {
  double inverse_norm = 0.0;
  double lower = -infinity;
  double upper = infinity;
  double pull = 1.0;
  double magnitude = 0.0;  // of its finite bounds, for tolerances
  double entry = 0.0;      // of its only column that is not zero, scaled: 1 or -1
  int column = -1;         // that column, or -1
  int begin = 0;           // columns before this one are zero: rows on forces have no entries in those of the motion
  int level = 0;
  Kind kind = Kind::free;
};

class Rows {
 public:
  void read(const ProgramView& view) {
    view_ = &view;
    rows_.resize(static_cast<size_t>(view.rows));
    damping_.resize(static_cast<size_t>(view.levels()));
    caution_.resize(static_cast<size_t>(view.levels()));
    strongest_.resize(static_cast<size_t>(view.levels()));
    for (Index level = 0; level < view.levels(); ++level) read_level(level);
  }

  const Row& operator[](Index i) const { return rows_[static_cast<size_t>(i)]; }
  Index begin(Index level) const { return view_->level_begin[static_cast<size_t>(level)]; }
  Index end(Index level) const { return view_->level_begin[static_cast<size_t>(level) + 1]; }
  double damping(Index level) const { return damping_[static_cast<size_t>(level)]; }
  double caution(Index level) const { return caution_[static_cast<size_t>(level)]; }
  double strongest(Index level) const { return strongest_[static_cast<size_t>(level)]; }
  RowView raw(Index i) const { return view_->raw(i); }
  // A row without the zeros that it begins with.
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
  // Bounds of 1e20 and more mean "none", as in most solvers.
  static double unbounded(double bound) {
    return std::abs(bound) < 1e20 ? bound : std::copysign(infinity, bound);
  }

  void read_unknown(Row& row, Index i) {
    const double weight = view_->weight[i];
    if (!(weight > 0.0 && std::isfinite(weight))) return;
    row.column = view_->columns[static_cast<size_t>(i)];
    row.entry = row.inverse_norm = 1.0;
    row.pull = weight == 1.0 ? 1.0 : std::sqrt(weight);
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
    double strongest = 0.0;
    for (Index i = begin(level); i < end(level); ++i) {
      Row& row = rows_[static_cast<size_t>(i)];
      row = Row{};
      row.level = static_cast<int>(level);
      if (view_->is_unknown(i)) {
        read_unknown(row, i);
        strongest = std::max(strongest, row.pull);
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
        // Scaling by the largest entry first keeps the norm finite for entries of any size.
        const double largest = a.cwiseAbs().maxCoeff();
        norm = largest * (a / largest).norm();
      }
      row.inverse_norm = 1.0 / norm;
      if (norm == std::abs(whole[at]) && (a.array() != 0.0).count() == 1) {
        row.column = static_cast<int>(at);
        row.entry = whole[at] * row.inverse_norm;
      }
      row.pull = weight == 1.0 ? norm : std::sqrt(weight) * norm;
      if (!std::isfinite(row.inverse_norm) || !std::isfinite(row.pull)) continue;
      strongest = std::max(strongest, row.pull);
      set_bounds(row, i);
    }
    for (Index i = begin(level); i < end(level); ++i)
      if (strongest > 0.0) rows_[static_cast<size_t>(i)].pull /= strongest;
    const auto at = static_cast<size_t>(level);
    strongest_[at] = strongest;
    damping_[at] = strongest > 0.0 ? view_->damping[at] / strongest : 0.0;
    caution_[at] = strongest > 0.0 ? view_->caution[at] / strongest : 0.0;
  }

  const ProgramView* view_ = nullptr;
  std::vector<Row> rows_;
  std::vector<double> damping_, caution_, strongest_;  // of each level
};

}  // namespace poise
