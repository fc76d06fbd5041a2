// Which bound a row is at or beyond, from its value.
#pragma once

#include "rows.hpp"

namespace poise {

// value: of the unit row; of rows without a direction it is zero, whatever x. A row is at a bound when its distance is
// within 1e-9 of the size of the value. Rows of weight zero are inside.
inline signed char side_of(const ProgramView& view, const Row& row, Index i, double value) {
  const bool stands = row.inverse_norm == 0.0;
  const double low = stands ? view.lower[i] : row.lower, high = stands ? view.upper[i] : row.upper;
  const double reach = 1e-9 * (1.0 + std::abs(value));
  const bool below = value <= low + reach, above = value >= high - reach;
  const bool nearer = std::abs(value - low) < std::abs(value - high);
  return !(view.weight[i] > 0.0)          ? inside
         : view.lower[i] == view.upper[i] ? equality
         : below && (nearer || !above)    ? lower_side
         : above                          ? upper_side
                                          : inside;
}

}  // namespace poise
