#include "quadratic_program.hpp"

#include <algorithm>

#include "bound_side.hpp"

namespace poise {

namespace {

// Codes of daqp.
constexpr int hard_inequality = 0, hard_equality = 5, soft_row = 8;
constexpr double no_bound = 1e30;

double finite_bound(double bound) { return std::clamp(bound, -no_bound, no_bound); }

}  // namespace

bool QuadraticProgram::read(const ProgramView& view, const double* weights) {
  const Index n = view.variables, before = bounds_;
  view_ = &view;
  rows_.read(view);
  first_ = view.levels() > 0 ? view.level_begin[1] : 0;
  weight_.resize(view.rows);
  bound_.assign(static_cast<size_t>(n), -1);
  general_.clear();
  fitted_.clear();
  before_.swap(sense_);
  sense_.clear();
  max_weight_ = 0.0;
  bounds_ = 0;
  soft_ = false;
  for (Index i = 0; i < view.rows; ++i) {
    const Row& row = rows_[i];
    const double root_weight = row.root_weight * rows_.max_root_weight(row.level);
    weight_[i] = weights[row.level] * root_weight * root_weight;
    if (row.kind == Kind::free) continue;
    if (in_cost(i)) {
      max_weight_ = std::max(max_weight_, weight_[i]);
      soft_ = soft_ || row.kind == Kind::inequality;
      if (row.kind == Kind::equality) fitted_.push_back(i);
    } else if (row.column >= 0 && bound_[static_cast<size_t>(row.column)] < 0) {
      bound_[static_cast<size_t>(row.column)] = i;
      bounds_ = n;
    } else {
      general_.push_back(i);
    }
  }
  for (Index c = 0; c < bounds_; ++c) {
    const Index i = bound_[static_cast<size_t>(c)];
    sense_.push_back(i >= 0 && rows_[i].kind == Kind::equality ? hard_equality : hard_inequality);
  }
  for (Index i : general_) sense_.push_back(rows_[i].kind == Kind::equality ? hard_equality : hard_inequality);
  for (Index i = 0; soft_ && i < view.rows; ++i) {
    if (rows_[i].kind != Kind::inequality || !in_cost(i)) continue;
    general_.push_back(i);
    sense_.push_back(soft_row);
  }
  return bounds_ == before && sense_ == before_;
}

void QuadraticProgram::write(double* H_out, double* f_out, double* A, double* lower, double* upper, int* sense,
                             double* rho) {
  const Index n = variables();
  Eigen::Map<Matrix> H(H_out, n, n);
  Eigen::Map<Vector> f(f_out, n);
  H.setZero();
  H.diagonal().setConstant(max_weight_ > 0.0 ? regularization_ : 1.0);
  f.setZero();
  const auto fitted = static_cast<Index>(fitted_.size());
  if (J_.rows() != n || J_.cols() < fitted) J_.resize(n, fitted);
  Index matrix_rows = 0;
  for (Index i : fitted_) {
    const Row& row = rows_[i];
    const double w = relative(i);
    if (row.column >= 0) {
      H(row.column, row.column) += w;  // times entry^2 = 1
      f[row.column] -= w * row.entry * row.lower;
      continue;
    }
    auto line = J_.col(matrix_rows++);
    const double root_weight = std::sqrt(w);
    line = (root_weight * row.inverse_norm) * rows_.raw(i);
    f -= (root_weight * row.lower) * line;
  }
  if (matrix_rows > 0) {
    H.selfadjointView<Eigen::Lower>().rankUpdate(J_.leftCols(matrix_rows));
    H.triangularView<Eigen::StrictlyUpper>() = H.transpose();
  }
  for (Index c = 0; c < bounds_; ++c) {
    const Index i = bound_[static_cast<size_t>(c)];
    const bool backwards = i >= 0 && rows_[i].entry < 0.0;
    lower[c] = i < 0 ? -no_bound : finite_bound(backwards ? -rows_[i].upper : rows_[i].lower);
    upper[c] = i < 0 ? no_bound : finite_bound(backwards ? -rows_[i].lower : rows_[i].upper);
    rho[c] = 0.0;
  }
  for (size_t g = 0; g < general_.size(); ++g) {
    const Index i = general_[g], at = bounds_ + static_cast<Index>(g);
    rows_.copy_to(i, Eigen::Map<Vector>(A + static_cast<Index>(g) * n, n));
    lower[at] = finite_bound(rows_[i].lower);
    upper[at] = finite_bound(rows_[i].upper);
    rho[at] = in_cost(i) ? 1.0 / std::max(relative(i), 1.0 / no_bound) : 0.0;
  }
  std::copy(sense_.begin(), sense_.end(), sense);
}

double QuadraticProgram::check_solution(const double* answer, double* solution, signed char* sides) const {
  const RowView x(answer, variables());
  double worst = 0.0;
  for (Index i = 0; i < view_->rows; ++i) {
    const Row& row = rows_[i];
    // Rows whose coefficients are all zero have the value zero.
    const bool zero_row = row.inverse_norm == 0.0;
    const double value = zero_row ? 0.0 : rows_.value(i, x);
    const double low = zero_row ? view_->lower[i] : row.lower, high = zero_row ? view_->upper[i] : row.upper;
    if (i < first_ && row.kind != Kind::free) worst = std::max({worst, low - value, value - high});
    sides[i] = side_of(*view_, row, i, value);
  }
  for (Index c = 0; c < variables(); ++c) solution[c] = x[c] + (view_->center ? view_->center[c] : 0.0);
  return worst / (1.0 + (x.size() ? x.cwiseAbs().maxCoeff() : 0.0));
}

}  // namespace poise
