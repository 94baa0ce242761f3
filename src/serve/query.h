// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ebb::serve {

/// What stands behind '?' in an address: names and values in their order, decoded. A '%' that
/// begins no two digits stands for itself.
using Query = std::vector<std::pair<std::string, std::string>>;
Query read_query(std::string_view text);

/// Whether each '%' begins two digits.
bool is_well_formed(std::string_view text);

/// A value as it stands in a query.
std::string encoded(std::string_view value);

/// The first value under a name; empty where there is none.
std::string value_of(const Query& query, std::string_view name);

}  // namespace ebb::serve
