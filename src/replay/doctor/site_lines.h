// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "replay/doctor/site_numbers.h"

namespace ebb::replay {

/// Stacks that lead through the same line of the program, the one that a person would look at
/// (fact::telling_frame), are one: the layers of a model are many stacks of one line. Numbers that
/// are no places stay what they are.
class SiteLines {
 public:
  /// Of all numbers so far.
  explicit SiteLines(const SiteNumbers& numbers);

  std::uint32_t line_of(std::uint32_t number) const { return line_of_[number]; }
  /// Of all lines, with the numbers that are none.
  std::size_t size() const { return SiteNumbers::kPlaces + lines_.size(); }

  /// The calls that all of its stacks share, around that line; innermost first.
  const fact::SiteStack& calls_of(std::uint32_t line) const {
    return lines_[line - SiteNumbers::kPlaces].shared;
  }
  /// Whether its stacks differ in who called the outermost of these.
  bool has_other_callers(std::uint32_t line) const {
    return lines_[line - SiteNumbers::kPlaces].has_other_callers;
  }

 private:
  struct Line {
    fact::SiteStack shared;
    std::size_t telling = 0;  ///< its index in there
    bool has_other_callers = false;
  };
  using Key = std::tuple<std::string, std::string, std::uint32_t>;

  std::uint32_t add(fact::SiteStack calls);

  std::map<Key, std::uint32_t> known_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> line_of_;
};

}  // namespace ebb::replay
