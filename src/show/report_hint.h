// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/shell_word.h"

namespace ebb::show {

/// How to ask for a run: "ebb report 7", with the record that it is in where `db` names one.
inline std::string report_hint(std::int64_t run, const std::string& db) {
  return "ebb report " + std::to_string(run) + (db.empty() ? "" : " --db " + base::shell_word(db));
}

}  // namespace ebb::show
