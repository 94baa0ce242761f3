// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb.h"
#include "fact/diagnosis.h"

namespace ebb::cli {

// --fail-on VERDICT, of snapshots, processes and runs.

/// Code::bad_input where something was asked for that is none of these verdicts. `such_as` names
/// two.
inline base::Status check_fail_on(const std::string& asked, std::span<const fact::Verdict> among,
                                  const char* such_as) {
  if (asked.empty() || fact::verdict_of(asked, among)) return {};
  return base::error(base::Code::bad_input, "--fail-on '%s': expected a verdict such as %s",
                     asked.c_str(), such_as);
}

/// kFailed where what was asked for is the verdict or one of the others.
inline int status_on(const std::string& asked, fact::Verdict verdict,
                     const std::vector<fact::Verdict>& also = {}) {
  const auto is_asked = [&](fact::Verdict one) { return asked == name_of(one); };
  return is_asked(verdict) || std::any_of(also.begin(), also.end(), is_asked) ? kFailed : kDone;
}

}  // namespace ebb::cli
