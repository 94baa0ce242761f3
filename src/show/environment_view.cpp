// SPDX-License-Identifier: Apache-2.0
#include "show/environment_view.h"

#include "base/text.h"

namespace ebb::show {

std::string environment_text(const keep::EnvironmentCheck& check, const term::Style& style) {
  if (!check.trouble.empty()) return "\nenvironment  " + check.trouble + "\n";
  std::string text = base::format_text("\nenvironment  of a %s%s on %s", keep::name_of(check.role),
                                       check.role_is_told ? "" : " (assumed: EBB_ROLE is not set)",
                                       heap::name_of(check.allocator));
  if (check.missing.empty()) return text + ": nothing is missing\n";
  text += ", without\n";
  for (const keep::EnvironmentVariable& variable : check.missing)
    text += "             " +
            style.paint(variable.name + "=" + variable.value, term::Colour::bold) + ": " +
            variable.why + "\n";
  return text;
}

}  // namespace ebb::show
