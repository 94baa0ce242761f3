// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "page/form.h"
#include "plan/plan.h"
#include "serve/query.h"

namespace ebb::serve {

/// A step that is to be planned, and the bytes of a device that it should fit into.
struct PlanRequest {
  std::variant<plan::TransformerRequest, plan::NetworkRequest> step;
  std::optional<std::uint64_t> cap;
};

/// What a query asks of `ebb plan`: "kind=transformer&preset=gpt2&batch=4". It has the options that
/// are on forms, by the names that JSON has for them; none of them names a file.
class PlanForm {
 public:
  /// An empty query is an example. Code::bad_input, in one line, for what no form sends: a query
  /// that is not well-formed, another kind, names that are unknown or repeated, long values.
  static base::Result<PlanForm> read(std::string_view query);

  /// The same for whatever asks the same.
  std::string query() const;

  /// Code::bad_input where the values are none, contradict each other or say too little. Sizes that
  /// are too large for a plan are found by plan().
  base::Result<PlanRequest> request() const;

  /// What prints the plan in a shell. Requires: there is one.
  std::string command() const;

  /// The fields of all kinds with the values that were given, without an answer.
  page::Form shown() const;

 private:
  enum class Kind : std::uint8_t { transformer, model };

  static const char* word_of(Kind kind);
  static page::FormKind form_of(Kind kind, const Query& values);
  static base::Options options_of(Kind kind);

  Kind kind_ = Kind::transformer;
  Query values_;  ///< in the order of the options, none empty
};

}  // namespace ebb::serve
