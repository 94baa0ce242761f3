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

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "sense/process.h"

namespace ebb::fl {
namespace {

constexpr const char* kTrial = "EBB_SIMULATE_TRIAL";
constexpr const char* kChecked = "checked";
constexpr double kLongestTrial = 60;
constexpr int kLookEveryMs = 50;
// A trial so close to the limit that has never mapped more does not get what it asks for, again and
// again, if it computes for so long, and waits for threads that could not start, if it sleeps.
constexpr std::uint64_t kCloseToLimit = 256 * base::kMiB;
constexpr double kLongestComputing = 3;
constexpr double kLongestSleep = 2;
// The thread that writes the record: its stack, and the arena that malloc reserves for it.
constexpr std::uint64_t kBeside = 80 * base::kMiB;

/// What is known of a trial.
struct TrialOutcome {
  std::optional<std::uint64_t> need;
  bool ended = false;
};

[[noreturn]] void become_trial(const char* simulator, char** words, int descriptor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // More than the limit is needed to tell how much more.
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  const rlimit highest{limit.rlim_max, limit.rlim_max};
  if (::setrlimit(RLIMIT_AS, &none) != 0) ::setrlimit(RLIMIT_AS, &highest);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(null, stream);
  ::fcntl(descriptor, F_SETFD, 0);
  ::setenv(kTrial, std::to_string(descriptor).c_str(), 1);
  ::execv(simulator, words);
  ::_exit(127);
}

/// Whether it takes time without getting anywhere.
class Standstill {
 public:
  bool lasts(const sense::ProcessReading& now, double seconds, std::uint64_t limit) {
    const std::uint64_t peak = now.virtual_peak.value_or(now.virtual_size);
    const bool moves = peak > peak_ || peak + kCloseToLimit < limit;
    if (moves) computing_since_ = now.cpu_seconds;
    if (moves || now.state != 'S' || now.cpu_seconds > cpu_) asleep_since_ = seconds;
    peak_ = peak;
    cpu_ = now.cpu_seconds;
    return now.cpu_seconds - computing_since_ > kLongestComputing ||
           seconds - asleep_since_ > kLongestSleep;
  }

 private:
  std::uint64_t peak_ = 0;
  double cpu_ = 0;
  double computing_since_ = 0;  ///< of its CPU time
  double asleep_since_ = 0;
};

TrialOutcome follow(pid_t pid, int descriptor, std::uint64_t limit) {
  TrialOutcome outcome;
  Standstill standstill;
  const std::int64_t start = base::system_clock().now_ns();
  while (true) {
    const double seconds = base::seconds_between(start, base::system_clock().now_ns());
    if (seconds >= kLongestTrial) break;
    pollfd source{descriptor, POLLIN, 0};
    if (::poll(&source, 1, kLookEveryMs) > 0) {
      // Its end, with or without a word.
      char text[32] = {};
      const ssize_t got = ::read(descriptor, text, sizeof text - 1);
      if (got > 0) outcome.need = base::parse_unsigned(base::trimmed(text));
      outcome.ended = true;
      break;
    }
    const auto reading = sense::read_process(pid);
    if (!reading) continue;
    if (standstill.lasts(*reading, seconds, limit)) break;
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return outcome;
}

base::Error refusal(const TrialOutcome& outcome, std::uint64_t limit) {
  const std::string limited =
      "the address space is limited to " + base::bytes_text(limit) + " (ulimit -v), ";
  if (outcome.need) {
    return base::error(base::Code::bad_input,
                       "%sbut this simulation needs %s of it: expected a higher limit or fewer "
                       "--threads",
                       limited.c_str(), base::bytes_text(*outcome.need).c_str());
  }
  return base::error(base::Code::bad_input,
                     "%sand this simulation needs more than that: a trial of one step %s; expected "
                     "a higher limit",
                     limited.c_str(), outcome.ended ? "failed" : "did not end");
}

}  // namespace

base::Status check_address_space(const char* simulator, char** words) {
  const char* trial = std::getenv(kTrial);
  rlimit limit{};
  if (trial != nullptr || ::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      ::access(simulator, X_OK) != 0)
    return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error(errno, "cannot make a pipe");
  const base::FileDescriptor from(ends[0]);
  base::FileDescriptor to(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return base::system_error(errno, "cannot start a process");
  if (pid == 0) become_trial(simulator, words, to.get());
  to.close();
  const TrialOutcome outcome = follow(pid, from.get(), limit.rlim_cur);
  if (!outcome.need || *outcome.need > limit.rlim_cur) return refusal(outcome, limit.rlim_cur);
  ::setenv(kTrial, kChecked, 1);
  return {};
}

std::optional<int> trial_descriptor() {
  const char* trial = std::getenv(kTrial);
  const auto number = trial != nullptr ? base::parse_unsigned(trial) : std::nullopt;
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

void tell_need(int descriptor, const base::Result<std::uint64_t>& need) {
  if (!need && need.error().code == base::Code::out_of_memory) return;
  const std::string text = std::to_string((need ? *need : 0) + kBeside) + "\n";
  if (::write(descriptor, text.data(), text.size()) < 0) {
    // Nobody waits for it any more.
  }
}

}  // namespace ebb::fl
