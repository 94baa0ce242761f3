// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ebb::term {

/// Values as a row of small bars, the lowest to the highest over eight heights, at most `width`
/// columns: of a longer series each column shows the highest value it stands for. Where values
/// differ by less than `least_range` the scale is that wide, so that noise does not look like
/// hills.
std::string sparkline(std::span<const double> values, std::size_t width, double least_range = 0);

}  // namespace ebb::term
