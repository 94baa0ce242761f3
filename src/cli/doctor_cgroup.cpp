// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/plain_text.h"
#include "cli/answer.h"
#include "cli/doctor.h"
#include "run/outside_group.h"
#include "show/memory_view.h"

namespace ebb::cli {

int diagnose_group(const GroupQuestion& question) {
  const auto split = run::look_at_group(question.path);
  if (!split) return complain(split.error());
  if (question.json) {
    base::Json json = base::Json::object({{"group", question.path}});
    const base::Json parts = fact::to_json(*split);
    for (const base::Json::Member& member : *parts.as_object())
      json.set(member.first, member.second);
    answer_json(json);
  } else {
    answer("group      " + base::plain_line(question.path) + "\n" +
           show::split_text(*split, term::Style::of_stream(STDOUT_FILENO)));
  }
  return kDone;
}

}  // namespace ebb::cli
