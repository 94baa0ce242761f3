// SPDX-License-Identifier: Apache-2.0
// Processes of the job that run without Ebb, or without a part of it.
#include <utility>

#include "run/supervisor.h"
#include "run/unmanaged.h"

namespace ebb::run {
namespace {

// An agent, or a hook, that may still come has come by then, on a busy machine too.
constexpr double kComesLate = 30;
// A pool may start many.
constexpr std::size_t kMostNamed = 100;

}  // namespace

void Supervisor::note_unmanaged(pid_t pid, const Member* member, const std::string& how,
                                double seconds) {
  if (unmanaged_ >= kMostNamed) return;
  const std::string line = "process " + std::to_string(pid) + " runs " + how;
  std::optional<record::ProcessKey> process;
  if (member != nullptr) process = member->key();
  journal_.add(record::Event{seconds, "agent", line, process});
  if (unmanaged_++ == 0) journal_.note(line);
}

void Supervisor::note_left(pid_t pid, double seconds) {
  Member* member = find_or_add(pid, seconds);  // none where it has ended meanwhile
  if (member != nullptr) member->is_named_without_agent = true;
  note_unmanaged(pid, member, "without Ebb: it was forked while a lock of Ebb's was held", seconds);
}

void Supervisor::watch_unmanaged(Member& member, double seconds) {
  if (preparation_.agent.empty()) return;
  if (member.about.agent) {
    const bool is_late = seconds - member.agent_since >= kComesLate;
    if (member.language != wire::Language::python_without_hook || !is_late) return;
    if (std::exchange(member.is_named_without_hook, true)) return;
    note_unmanaged(member.about.pid, &member,
                   "Python without Ebb's hook: garbage collection takes no part in cleanups",
                   seconds);
    return;
  }
  const double age = seconds - member.about.seconds;
  if (member.is_named_without_agent || age < member.next_look_for_agent) return;
  std::string why = why_no_agent(member.about.pid, preparation_.agent);
  if (why.empty() && age >= kComesLate) why = "its agent has not come";
  member.next_look_for_agent = age < kComesLate / 2 ? kComesLate / 2 : kComesLate;
  if (why.empty()) return;
  member.is_named_without_agent = true;
  member.about.command = command_of(member.about.pid);
  journal_.add(member.about);
  note_unmanaged(member.about.pid, &member, "without Ebb: " + why, seconds);
}

}  // namespace ebb::run
