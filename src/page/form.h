// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace ebb::page {

/// One thing that a form asks for.
struct Field {
  enum class Kind : std::uint8_t { text, number, choice, flag };

  std::string name;  ///< in the page's address
  std::string label;
  std::string help;
  Kind kind = Kind::text;
  std::string value;                 ///< as it was given; empty: it was not. Of a flag: "true"
  std::string otherwise;             ///< what holds where it is not given; may be empty
  std::vector<std::string> choices;  ///< of Kind::choice
  bool required = false;             ///< of Kind::choice: the first one holds, not none
};

/// Fields that belong together, under a heading.
struct FieldGroup {
  std::string name;
  bool folded = false;  ///< closed while none of its fields has a value or is what is wrong
  std::vector<Field> fields;
};

/// One of several things that are asked for, each with fields of its own.
struct FormKind {
  std::string name;  ///< in the page's address, under "kind"
  std::string label;
  std::vector<FieldGroup> groups;
};

/// A form that stands beside its answer: each change has the page show the document of the new
/// values. The values that are not the usual ones are the query of the page's address.
struct Form {
  std::vector<FormKind> kinds;
  std::string kind;      ///< the one that is asked for
  std::string document;  ///< where the document of a query is asked for, seen from the page
  std::string said;      ///< what came of it, in one line
  bool failed = false;   ///< `said` is why there is no answer
  std::string command;   ///< that prints the same; may be empty
};

base::Json to_json(const Form& form);

}  // namespace ebb::page
