// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/plain_text.h"
#include "cli/answer.h"
#include "cli/doctor.h"
#include "cli/verb.h"
#include "run/outside_group.h"
#include "show/memory_view.h"

namespace ebb::cli {

int diagnose_group(const std::string& path, bool json) {
  const auto split = run::look_at_group(path);
  if (!split) return complain(split.error());
  if (json) {
    base::Json object = base::Json::object({{"group", path}});
    const base::Json parts = fact::to_json(*split);
    for (const base::Json::Member& member : *parts.as_object())
      object.set(member.first, member.second);
    answer_json(object);
  } else {
    answer("group      " + base::plain_line(path) + "\n" +
           show::split_text(*split, term::Style::of_stream(STDOUT_FILENO)));
  }
  return kDone;
}

}  // namespace ebb::cli
