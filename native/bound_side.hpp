// The bound that a row is at or beyond, from its value.
#pragma once

#include "rows.hpp"

namespace poise {

// value: of the unit row; zero for rows whose coefficients are all zero. A row is at a bound if its distance is at most
// 1e-9 (1 + |value|). Rows of weight zero are inside.
inline signed char side_of(const ProgramView& view, const Row& row, Index i, double value) {
  const bool zero_row = row.inverse_norm == 0.0;
  const double low = zero_row ? view.lower[i] : row.lower, high = zero_row ? view.upper[i] : row.upper;
  const double reach = 1e-9 * (1.0 + std::abs(value));
  const bool below = value <= low + reach, above = value >= high - reach;
  const bool nearer_lower = std::abs(value - low) < std::abs(value - high);
  return !(view.weight[i] > 0.0)          ? inside
         : view.lower[i] == view.upper[i] ? equality
         : below && (nearer_lower || !above)    ? lower_side
         : above                          ? upper_side
                                          : inside;
}

}  // namespace poise
