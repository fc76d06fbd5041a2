// Strict lexicographic least squares by a hierarchical dual active set.
//
// Levels are solved in order. A level is first *settled*: its equalities and the rows guessed active are held
// exactly, rows found violated are held too, and if all of them are independent the level has no slack and
// is done. Otherwise it is a *compromise*: the weighted least-squares fit of its rows in the null space of
// the rows held from above, with a dual active set over both (multipliers of the wrong sign leave, the most
// violated row enters). Rows whose multiplier is not zero are frozen for all later levels; the others stay
// held but may still be released by a later level.
#pragma once

#include <chrono>

#include "even.hpp"
#include "fit.hpp"

namespace poise {

enum class Status { optimal, budget, iterations };

struct Counters {
  Index iterations = 0;      // active-set iterations over all levels
  Index factorizations = 0;  // level blocks decomposed from their rows
  Index updates = 0;         // rows that entered or left an existing decomposition
  Index fits = 0;            // least-squares fits of levels in conflict
  Index levels_solved = 0;
  Index descents = 0;  // iterations of the primal fallback
  Index ignored = 0;   // violated rows left alone because rounding admits no exchange
  Index careful = -1;  // first level that its caution damped
};

class Lexicographic {
 public:
  Status solve(const ProgramView& view, double budget_seconds, bool warm);

  const Vector& x() const { return x_; }
  const std::vector<signed char>& sides() const { return side_; }
  const Counters& counters() const { return count_; }

 private:
  enum class Place : signed char { out, held, soft, fixed, ignored };
  enum class Outcome { done, conflict, budget, iterations };

  // A row held exactly: one of the program's, or (row < 0) a combination of rows settled by a compromise.
  struct Held {
    Index row;
    double target;
    bool frozen;
    Index combination = -1;
  };

  struct Choice {
    Index at = -1;       // position in held_ or soft_
    bool soft = false;   // which of the two lists
    double step = 0.0;   // fraction of the dual step before its multiplier changes sign
    double wrong = 0.0;  // how wrong the sign is
  };

  // Levels in order (lexicographic.cpp).
  void prepare(const ProgramView& view, bool warm);
  Status solve_levels();
  Outcome solve_level(Index level);
  Outcome settle(Index level);
  void finish(Index level);
  void freeze_fit();
  void retreat(Index level);
  double level_cost(Index level, const Vector& x) const;

  // Rows held exactly, and x on them (held.cpp).
  bool hold(Index begin, Index end);
  void hold_directions();
  bool leans_on_weak();
  void rebase();
  void hold_last(Index row);
  void release(Index position);
  Index first_free() const;
  void step_to_held();
  bool drifted() const;
  bool come_back();
  double project_row(Index row);

  // A level in conflict (compromise.cpp).
  Outcome compromise(Index level);
  void fit_level(Index level);
  bool fit_evenly();
  void factor_level(double damping, double tolerance);
  void weigh_up(Index level);
  bool be_careful(Index level, double weakest);
  bool nearly_singular(Index level);
  void multipliers(Index level);
  Choice wrong_dual(bool smallest_index) const;
  void drop(const Choice& choice);
  Index most_violated(Index level);
  bool enter(Index row, Index level);
  bool exchange(Index row);

  // Where the dual active set may cycle (descend.cpp).
  Outcome descend(Index level);
  bool collect_violated(Index level);
  double room_above(Index level, Index& blocking);
  double line_search(Index level, double room);

  // How many of inequalities_ belong to this and the higher levels.
  Index usable(Index level) const {
    return inequalities_begin_[static_cast<size_t>(std::min(level + 1, view_->levels()))];
  }
  bool least_norm(Index level) const { return level == view_->levels(); }
  double tolerance(Index row) const { return feasibility_ * (1.0 + rows_[row].magnitude) + 5e-15 * size_; }
  // A row of the level just fitted that later levels must not move.
  bool strong(Index row) const {
    return conflict_ && (side(row) * slack_[row] > tolerance(row) || side(row) * force_[row] > strength_ * scale_);
  }
  double bound(Index row) const {
    return side_[static_cast<size_t>(row)] == lower_side ? rows_[row].lower : rows_[row].upper;
  }
  signed char& side(Index row) { return side_[static_cast<size_t>(row)]; }
  signed char side(Index row) const { return side_[static_cast<size_t>(row)]; }
  Place& place(Index row) { return place_[static_cast<size_t>(row)]; }
  double value(const Held& held) const {
    return held.row >= 0 ? rows_.value(held.row, x_) : combinations_.col(held.combination).dot(x_);
  }
  bool out_of_time() const { return has_deadline_ && std::chrono::steady_clock::now() >= deadline_; }

  static constexpr double rank_ = 1e-9;                // smallest independent part of a unit row
  static constexpr double rounding_ = 1e-13;           // a unit row with less is an exact combination of others
  static constexpr double feasibility_ = 1e-11;        // of unit rows, relative to their bounds
  static constexpr double weakest_multiplier_ = 1e-9;  // one above this part of the largest force counts

  const ProgramView* view_ = nullptr;
  Index n_ = -1, m_ = -1;
  Rows rows_;
  Basis basis_;
  Fit fit_;
  EvenFit even_;
  std::vector<Held> held_;          // in the order of the rows of the basis
  std::vector<Index> soft_;         // active rows of the level at hand
  std::vector<Index> batch_;        // rows being appended to the basis
  std::vector<signed char> side_;   // of every row, as far as it is known
  std::vector<signed char> guess_;  // the sides of the last solution
  std::vector<Place> place_;
  std::vector<Index> levels_before_;       // layout of the last program
  std::vector<Index> inequalities_;        // rows that can be violated, by level
  std::vector<Index> inequalities_begin_;  // where each level begins in them, and their end
  Vector x_, first_, start_;               // now; after the first pass; at the optimum of the level above
  Vector before_, direction_;              // one step of the descent
  Vector values_, rates_;                  // of the rows of its level, before and along it
  Vector step_, gradient_, projected_;     // work space
  Vector tails_;                           // likewise, of hold
  Vector multiplier_;                      // of the held rows
  Vector dual_, slack_, force_;            // of every row, for the level at hand
  Matrix block_, combinations_, directions_;
  Index combined_ = 0;
  double size_ = 0.0, start_size_ = 0.0, farthest_ = 0.0;  // norms of x
  double scale_ = 0.0;                                     // largest force of the level
  double strength_ = 1e-14;                                // smallest multiplier that counts, relative to scale_
  bool conflict_ = false;                                  // the level at hand has slack
  bool careful_ = true;                                    // its caution has had its say
  double damping_ = 0.0;                                   // what it is damped by
  bool again_ = false;                                     // all levels are being solved a second time
  std::vector<double> decided_;                            // what each level was damped by the first time
  bool complete_ = false;                                  // no freedom is left
  bool has_deadline_ = false;
  std::chrono::steady_clock::time_point deadline_;
  Counters count_;
};

}  // namespace poise
