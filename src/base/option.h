// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"

/// Options that are written down once. What can be configured lists its members as a table of
/// Option; the command line, JSON and --help all walk that table. A default is what stands in the
/// member before anything is set.
namespace ebb::base {

/// An enumerator, written as its name. Made by choice().
struct Choice {
  void* value;
  const char* (*name)(const void* value);
  Status (*set)(void* value, std::string_view name);
};

/// `from` is the function that knows the names; name_of() gives them.
template <auto from, class T>
Choice choice(T& value) {
  return {&value, [](const void* of) { return name_of(*static_cast<const T*>(of)); },
          [](void* to, std::string_view name) -> Status {
            const Result<T> found = from(name);
            if (!found) return found.error();
            *static_cast<T*>(to) = *found;
            return {};
          }};
}

/// Bytes, written as "24GiB"; JSON may also give their number.
struct Bytes {
  std::optional<std::uint64_t>* value;
};

/// A number of things; 0 is written "auto".
struct CountOrAuto {
  std::uint32_t* value;
};

/// The numbers that an option may be.
struct Range {
  const char* expected;  ///< in words
  double least = -std::numeric_limits<double>::infinity();
  bool least_is_in = true;
  double most = std::numeric_limits<double>::infinity();
  bool most_is_in = true;

  /// Not-a-number and infinities are in no range.
  bool has(double number) const;
};
inline constexpr Range kOneOrMore = {"at least 1", 1};
inline constexpr Range kNotNegative = {"0 or more", 0};
inline constexpr Range kAboveZero = {"a number above 0", 0, false};
inline constexpr Range kShare = {"0 or more and below 1", 0, true, 1, false};

struct Option {
  using Numbers = std::vector<std::pair<std::string, double>>;
  using Place =
      std::variant<bool*, int*, std::uint32_t*, std::uint64_t*, double*, std::string*,
                   std::optional<bool>*, std::optional<int>*, std::optional<std::uint64_t>*,
                   std::optional<double>*, std::optional<std::string>*, std::vector<std::string>*,
                   Numbers*, Choice, Bytes, CountOrAuto>;

  std::string_view key;  ///< in JSON: "per_round"
  Place place;           ///< whoever owns it outlives the option
  std::string help;      ///< "": not for the command line
  /// On the command line, names with commas between them; a word by itself has no dashes. "": the
  /// key as --per-round.
  std::string_view written = {};
  const Range* range = nullptr;
  bool required = false;
  /// Given twice on the command line, the last one counts; else that is an error.
  bool last_counts = false;
  /// On the command line it may stand alone, which is this word; another one stands behind "=".
  std::string_view alone = {};
  std::string shown = {};  ///< default that --help shows; "": what stands in its place
  std::vector<std::string_view> choices = {};  ///< the words that it may be; none: any
  std::string_view group = {};  ///< heading of its part of a form; "": no form has it

  /// The names on the command line: "--aggregation,--rule".
  std::string names() const;
  /// The first of them.
  std::string name() const;
};
using Options = std::vector<Option>;

/// The option under `key`, or null.
const Option* find(const Options& options, std::string_view key);

Json to_json(const Option& option);

/// Its help, with its choices as a shell takes them.
std::string help_text(const Option& option);

/// What stands in its place, for --help; "" where that is nothing or would say nothing.
std::string default_text(const Option& option);

/// Code::bad_input says which option, what it was given and what was expected. The range is for
/// check(): an option may be set twice, and what counts is what it comes to.
Status set(const Option& option, const Json& json);
Status set_text(const Option& option, std::string_view text);

/// Code::bad_input names the first option that is out of its range.
Status check(const Options& options);

/// The same option, kept as it is written, to be set later: over what a file says.
Option written_down(Option option, std::optional<std::string>& to);

}  // namespace ebb::base
