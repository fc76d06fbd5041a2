// Strict lexicographic least squares by a hierarchical dual active-set method.
//
// Levels are solved in order. A level is first solved exactly: its equalities and the rows guessed active are held,
// then the rows found violated; if all of them are independent, the level has no slack and is finished. Otherwise it is
// solved by weighted least squares of its rows in the null space of the rows held by the levels above, with a dual
// active set over both (rows with multipliers of the wrong sign leave, the most violated row enters), and with a primal
// one if that takes long. Rows with nonzero multipliers are frozen for all later levels; the others stay held, but a
// later level may release them.
#pragma once

#include "damped_fit.hpp"
#include "deadline.hpp"
#include "posture_fit.hpp"
#include "least_squares_fit.hpp"

namespace poise {

enum class Status { optimal, budget, iterations };

struct Counters {
  Index iterations = 0;      // active-set iterations over all levels
  Index factorizations = 0;  // blocks of rows of a level that were decomposed
  Index updates = 0;         // rows that entered or left an existing decomposition
  Index fits = 0;            // least-squares fits of levels with conflicts
  Index levels_solved = 0;
  Index descents = 0;             // iterations of the primal fallback
  Index ignored = 0;              // violated rows that rounding does not allow to exchange
  Index first_damped_level = -1;  // first level damped near a singularity
};

class Lexicographic {
 public:
  // The first required_levels are solved to their end, whatever the budget.
  Status solve(const ProgramView& view, double budget_seconds, Index required_levels, bool warm);

  const Vector& x() const { return x_; }
  const std::vector<signed char>& sides() const { return side_; }
  const Counters& counters() const { return count_; }

 private:
  enum class RowState : signed char { inactive, held, soft, fixed, ignored };
  enum class Outcome { done, conflict, budget, iterations };

  // A row held exactly: one of the program, or (row < 0) a combination of rows of a least-squares level.
  struct Held {
    Index row;
    double target;
    bool frozen;
    Index combination = -1;
  };

  // Whether a level had slack (or was damped), and the rows that had a multiplier then.
  struct Guess {
    std::vector<signed char> sides;
    std::vector<int> life;  // solves in which a row may still be guessed without a multiplier
    bool known = false, conflict = false;
  };

  struct Removal {
    Index at = -1;       // position in held_ or soft_
    bool soft = false;   // which of the two lists
    double step = 0.0;   // fraction of the dual step before its multiplier changes sign
    double wrong = 0.0;  // how wrong the sign is
  };

  // Levels in order (lexicographic.cpp).
  void prepare(const ProgramView& view, bool warm);
  Status solve_levels();
  Outcome solve_level(Index level);
  Index use_guess(Index level);
  void store_guess(Index level);
  Outcome solve_exactly(Index level);
  void finish(Index level);
  void freeze_fit();
  double level_cost(Index level, const Vector& x) const;

  // Held rows, and steps of x onto them (held_rows.cpp).
  bool hold_rows(Index begin, Index end);
  void hold_directions();
  bool depends_on_releasable_rows();
  void freeze_soft_rows_first();
  void hold_projected_row(Index row);
  void release(Index position);
  Index first_free() const;
  void move_to_targets();
  bool off_target() const;
  bool restart_if_far();
  double project_row(Index row);

  // Levels with conflicts (least_squares_level.cpp).
  Outcome solve_least_squares(Index level);
  Outcome solve_dual(Index level, Index limit);
  void fit_level(Index level);
  bool fit_damped();
  bool fit_posture();
  void factor_level(double damping, double tolerance);
  Index frozen_count() const;
  Outcome decide_singularity_damping(Index level);
  void multipliers(Index level);
  Removal wrong_multiplier(bool smallest_index) const;
  bool drop_wrong_guesses();
  void drop(const Removal& removal);
  Index most_violated(Index level);
  bool enter(Index row, Index level);
  bool exchange(Index row);

  // If the dual active set takes long (primal_descent.cpp).
  Outcome descend(Index level, Index limit);
  bool at_minimum(Index level);
  bool select_violated(Index level);
  double longest_step(Index level, Index& blocking);
  double line_search(Index level, double longest);

  // Out of time or iterations (early_stop.cpp).
  void stop_early(Index level);
  void keep_guesses(Index level);
  void shorten_step(Index level);
  void follow_posture(Index level);

  // Number of inequalities of this level and the levels above.
  Index inequalities_up_to(Index level) const {
    return inequalities_begin_[static_cast<size_t>(std::min(level + 1, view_->levels()))];
  }
  bool least_norm(Index level) const { return level == view_->levels(); }
  double tolerance(Index row) const { return feasibility_ * (1.0 + rows_[row].magnitude) + 5e-15 * x_norm_; }
  // Whether a row of the fitted level has a nonzero multiplier, so that later levels must not move it.
  bool has_multiplier(Index row) const {
    return conflict_ && (side(row) * slack_[row] > tolerance(row) || side(row) * force_[row] > strength_ * scale_);
  }
  // Force of the wrong sign that a row of the fitted level may have. A row of large weight shows a wrong sign in its
  // force, one of small weight in its slack.
  double allowed_force(Index row) const {
    return -side(row) * slack_[row] > tolerance(row) ? 0.0 : strength_ * scale_;
  }
  bool has_wrong_force(Index row) const { return -side(row) * force_[row] > allowed_force(row); }
  double bound(Index row) const {
    return side_[static_cast<size_t>(row)] == lower_side ? rows_[row].lower : rows_[row].upper;
  }
  signed char& side(Index row) { return side_[static_cast<size_t>(row)]; }
  signed char side(Index row) const { return side_[static_cast<size_t>(row)]; }
  RowState& state(Index row) { return state_[static_cast<size_t>(row)]; }
  double value(const Held& held) const {
    return held.row >= 0 ? rows_.value(held.row, x_) : combinations_.col(held.combination).dot(x_);
  }
  bool out_of_time() const { return level_ >= required_levels_ && deadline_.passed(); }

  static constexpr double rank_ = 1e-9;          // smallest independent part of a unit row
  static constexpr double guess_rank_ = 1e-6;    // the same for guessed rows: a wrong guess must not move x far away
  static constexpr double rounding_ = 1e-13;     // smallest part of a unit row that is not rounding
  static constexpr double feasibility_ = 1e-11;  // of unit rows, relative to their bounds
  // Iterations of the dual active-set method before the primal one takes over. The points of a damped level are not far
  // away.
  static constexpr Index first_dual_iterations_ = 8, first_damped_iterations_ = 24;
  // Bounds that block the last step towards the posture are met in so many rounds, of a few microseconds.
  static constexpr int posture_passes_ = 3;
  // Solves in which a row without a multiplier is guessed after it has entered.
  static constexpr int guess_life_ = 20;
  // Largest threshold of significant multipliers, relative to the largest force.
  static constexpr double smallest_multiplier_ = 1e-9;

  const ProgramView* view_ = nullptr;
  Index level_ = 0;  // level that is being solved
  Index n_ = -1, m_ = -1;
  Rows rows_;
  Basis basis_;
  LeastSquaresFit fit_;
  DampedFit damped_fit_;
  PostureFit posture_fit_;
  std::vector<Held> held_;          // in the order of the rows of the basis
  std::vector<Index> soft_;         // active rows of the current level
  std::vector<Index> batch_;        // rows being appended to the basis
  std::vector<signed char> side_;   // of every row, as far as known
  std::vector<signed char> last_side_, next_side_;   // of the last solution, and for the next solve
  std::vector<signed char> first_side_;              // after the first pass
  std::vector<Index> entered_, last_entered_;        // level at which a row became active, also in the last solution
  std::vector<Guess> guesses_;                       // of every level, and of the last step
  std::vector<RowState> state_;
  std::vector<Index> levels_before_;       // layout of the last program
  std::vector<Index> inequalities_;        // rows that can be violated, by level
  std::vector<Index> inequalities_begin_;  // first entry of each level, and the end
  Vector x_, first_, start_;               // current; after the first pass; at the optimum of the level above
  Vector before_, direction_;              // one step of the primal descent
  Vector values_, rates_;                  // of the rows of the level, at before_ and along direction_
  Vector checked_, safe_;                  // where rows were checked; path length up to which a row cannot be violated
  Vector above_, change_;                  // the same of the inequalities of the levels above
  Vector step_, gradient_, projected_;     // work space
  Vector tails_;                           // work space of hold_rows
  Vector multiplier_;                      // of the held rows
  Vector dual_, slack_, force_;            // of every row, for the current level
  Matrix block_, combinations_, directions_;
  Index combined_ = 0;
  double moved_ = 0.0;                                           // length of the path of x between checks
  double x_norm_ = 0.0, start_norm_ = 0.0, largest_norm_ = 0.0;  // norms of x
  double scale_ = 0.0;                                           // largest force of the level
  double strength_ = 1e-14;                                      // smallest significant multiplier, relative to scale_
  bool conflict_ = false;                                        // the current level has slack
  double damping_ = 0.0;                                         // damping of the current level
  bool second_pass_ = false;                                     // all levels are solved a second time
  std::vector<double> first_pass_damping_;                       // damping of each level in the first pass
  bool complete_ = false;                                        // no freedom is left
  Deadline deadline_;
  Index required_levels_ = 0;
  Counters count_;
};

}  // namespace poise
