// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <optional>

#include "cli/answer.h"
#include "cli/verb.h"
#include "sense/process_number.h"
#include "show/info_view.h"

namespace ebb::cli {
namespace {

struct InfoOptions {
  std::optional<std::string> process;
  std::optional<std::string> pid;
  bool json = false;
};

base::Options options_of(InfoOptions& o) {
  return {
      {"process", &o.process,
       "The number of another process instead of this one; it is not touched", "process"},
      {"pid", &o.pid, "The same as an option"},
      {"json", &o.json, "One JSON object (docs/info.md)"},
  };
}

int run_info(const InfoOptions& options) {
  base::Result<pid_t> pid = 0;
  if (options.process && options.pid) {
    return complain(base::error(base::Code::bad_input,
                                "process '%s' and --pid '%s': expected one of the two",
                                options.process->c_str(), options.pid->c_str()));
  }
  if (options.process) pid = sense::parse_pid(*options.process, "process");
  if (options.pid) pid = sense::parse_pid(*options.pid, "--pid");
  if (!pid) return complain(pid.error());
  const base::Result<keep::Info> info = *pid == 0 ? keep::info_here() : keep::info_of(*pid);
  if (!info) return complain(info.error());
  if (options.json) {
    answer_json(keep::to_json(*info), true);
    return kDone;
  }
  answer(show::info_text(*info, term::Style::of_stream(STDOUT_FILENO)));
  return kDone;
}

}  // namespace

void add_info(Verb program) {
  program.add({"info", "Which allocator, and rss, live, retained, limit, percent and GPUs, now",
               "Examples:\n"
               "  ebb info                                  this program on this machine's malloc\n"
               "  LD_PRELOAD=libjemalloc.so.2 ebb info      the same on jemalloc\n"
               "  ebb info 4242                             a running job"},
              run_info);
}

}  // namespace ebb::cli
