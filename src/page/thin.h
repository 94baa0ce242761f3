// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "page/document.h"

namespace ebb::page {

/// The line with at most about `points` points that looks the same: of each stretch of equal length
/// along x the first, lowest, highest and last point stay, so that no peak is lost. A line that is
/// short enough stays as it is; a longer one loses its band. `points` below 8 count as 8.
Line thinned(Line line, std::size_t points);

/// All lines of a plot, each as above. The parts of a stacked one keep the points that their sum
/// needs, so that they still add up; where their x differ, they keep all.
void thin(Plot& plot, std::size_t points);

/// Neighbouring columns become one, their mean, until at most `points` are left; a value that is
/// not finite counts for nothing. `points` below 8 count as 8.
void thin(HeatMap& map, std::size_t points);

/// All plots and heat maps of a document.
void thin(Document& document, std::size_t points);

}  // namespace ebb::page
