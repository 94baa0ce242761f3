// SPDX-License-Identifier: Apache-2.0
#include "fl/address_space.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "fl/standstill.h"
#include "sense/process.h"

namespace ebb::fl {
namespace {

constexpr const char* kTrial = "EBB_SIMULATE_TRIAL";
constexpr const char* kChecked = "checked";
constexpr double kLongestTrial = 60;
constexpr int kLookEveryMs = 50;
// The thread that writes the record: its stack, and the arena that malloc reserves for it.
constexpr std::uint64_t kBeside = 80 * base::kMiB;

/// What is known of a trial.
struct TrialOutcome {
  std::optional<Mappings> need;
  bool ended = false;
};

/// The limits of a process; RLIM_INFINITY where there is none.
Mappings limits_of(pid_t pid) {
  rlimit space{RLIM_INFINITY, RLIM_INFINITY};
  rlimit data = space;
  ::prlimit(pid, RLIMIT_AS, nullptr, &space);
  ::prlimit(pid, RLIMIT_DATA, nullptr, &data);
  return {space.rlim_cur, data.rlim_cur};
}

/// More than the limit is needed to tell how much more.
void lift(__rlimit_resource kind) {
  rlimit limit{};
  ::getrlimit(kind, &limit);
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  const rlimit highest{limit.rlim_max, limit.rlim_max};
  if (::setrlimit(kind, &none) != 0) ::setrlimit(kind, &highest);
}

[[noreturn]] void become_trial(const char* simulator, char** words, int descriptor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  lift(RLIMIT_AS);
  lift(RLIMIT_DATA);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(null, stream);
  ::fcntl(descriptor, F_SETFD, 0);
  ::setenv(kTrial, std::to_string(descriptor).c_str(), 1);
  ::execv(simulator, words);
  ::_exit(127);
}

/// What a trial wrote: two numbers.
std::optional<Mappings> needs_in(std::string_view text) {
  const std::vector<std::string_view> words = base::words(text);
  if (words.size() != 2) return std::nullopt;
  const auto space = base::parse_unsigned(words[0]);
  const auto data = base::parse_unsigned(words[1]);
  if (!space || !data) return std::nullopt;
  return Mappings{*space, *data};
}

TrialOutcome follow(pid_t pid, int descriptor) {
  TrialOutcome outcome;
  Standstill standstill;
  const std::int64_t start = base::system_clock().now_ns();
  while (true) {
    const double seconds = base::seconds_between(start, base::system_clock().now_ns());
    if (seconds >= kLongestTrial) break;
    pollfd source{descriptor, POLLIN, 0};
    if (::poll(&source, 1, kLookEveryMs) > 0) {
      // Its end, with or without a word.
      char text[64] = {};
      const ssize_t got = ::read(descriptor, text, sizeof text - 1);
      if (got > 0) outcome.need = needs_in(text);
      outcome.ended = true;
      break;
    }
    const auto reading = sense::read_process(pid);
    if (!reading) continue;
    if (standstill.lasts(*reading, seconds, limits_of(pid))) break;
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return outcome;
}

std::string limited_text(const Mappings& limits) {
  const std::string space = "the address space is limited to " + base::bytes_text(limits.space);
  const std::string data = "writable memory is limited to " + base::bytes_text(limits.data);
  if (limits.data == RLIM_INFINITY) return space + " (ulimit -v)";
  if (limits.space == RLIM_INFINITY) return data + " (ulimit -d)";
  return space + " (ulimit -v), " + data + " (ulimit -d)";
}

base::Error refusal(const TrialOutcome& outcome, const Mappings& limits) {
  const std::string limited = limited_text(limits);
  if (outcome.need) {
    const bool is_space = outcome.need->space > limits.space;
    return base::error(
        base::Code::bad_input,
        "%s, but this simulation needs %s of it: expected a higher limit or fewer --threads",
        limited_text(is_space ? Mappings{limits.space, RLIM_INFINITY}
                              : Mappings{RLIM_INFINITY, limits.data})
            .c_str(),
        base::bytes_text(is_space ? outcome.need->space : outcome.need->data).c_str());
  }
  return base::error(base::Code::bad_input,
                     "%s, and this simulation needs more than that: a trial of one step %s; "
                     "expected a higher limit",
                     limited.c_str(), outcome.ended ? "failed" : "did not end");
}

}  // namespace

base::Status check_address_space(const char* simulator, char** words) {
  const Mappings limits = limits_of(0);
  const bool is_limited = limits.space != RLIM_INFINITY || limits.data != RLIM_INFINITY;
  if (std::getenv(kTrial) != nullptr || !is_limited || ::access(simulator, X_OK) != 0) return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error(errno, "cannot make a pipe");
  const base::FileDescriptor from(ends[0]);
  base::FileDescriptor to(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return base::system_error(errno, "cannot start a process");
  if (pid == 0) become_trial(simulator, words, to.get());
  to.close();
  const TrialOutcome outcome = follow(pid, from.get());
  if (!outcome.need || outcome.need->space > limits.space || outcome.need->data > limits.data)
    return refusal(outcome, limits);
  ::setenv(kTrial, kChecked, 1);
  return {};
}

std::optional<int> trial_descriptor() {
  const char* trial = std::getenv(kTrial);
  const auto number = trial != nullptr ? base::parse_unsigned(trial) : std::nullopt;
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

void tell_need(int descriptor, const base::Result<Mappings>& need) {
  if (!need && need.error().code == base::Code::out_of_memory) return;
  const Mappings known = need ? *need : Mappings();
  const std::string text =
      std::to_string(known.space + kBeside) + " " + std::to_string(known.data + kBeside) + "\n";
  if (::write(descriptor, text.data(), text.size()) < 0) {
    // Nobody waits for it any more.
  }
}

}  // namespace ebb::fl
