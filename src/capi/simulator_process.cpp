// SPDX-License-Identifier: Apache-2.0
#include "capi/simulator_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "capi/simulator_command.h"
#include "capi/simulator_spawn.h"

namespace ebb::capi {
namespace {

using base::Code;
using base::FileDescriptor;
using base::Json;

/// Of stderr, in which only the last line counts.
constexpr std::size_t kMostSaid = 8192;
/// How often it is looked whether the process is still there: another one, forked at a bad moment,
/// may keep the pipes open.
constexpr int kLookEveryMs = 500;
/// Between the end of its output and its own.
constexpr int kEndingMs = 2;
/// What programs end with that cannot be run: a shell's, and the dynamic linker's.
constexpr int kCannotRun = 126;
constexpr int kCannotLoad = 127;

/// Everything that can be read now; the descriptor is closed at its end.
void read_now(FileDescriptor& from, std::string& into) {
  char buffer[16384];
  while (from.is_open()) {
    const ssize_t got = ::read(from.get(), buffer, sizeof buffer);
    if (got > 0) {
      into.append(buffer, static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      from.close();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

/// Not so long that the end of the process is missed; rounded up, so as not to turn in circles.
int milliseconds(double seconds) {
  return static_cast<int>(std::clamp(std::ceil(seconds * 1000), 0.0, double{kLookEveryMs}));
}

/// The last line that holds anything, as people should read it.
std::string last_line(const std::string& text) {
  std::string_view last;
  for (const std::string_view line : base::split(text, '\n'))
    if (const std::string_view words = base::trimmed(line); !words.empty()) last = words;
  if (last.starts_with("ebb: ")) last.remove_prefix(5);
  return std::string(last);
}

/// Holds a flag that only one thread may have.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& taken) : taken_(taken), has_(!taken.exchange(true)) {}
  ~Turn() {
    if (has_) taken_ = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return has_; }

 private:
  std::atomic<bool>& taken_;
  const bool has_;
};

}  // namespace

base::Result<std::unique_ptr<SimulatorProcess>> SimulatorProcess::start(std::string_view verb,
                                                                        const Json& options) {
  auto words = simulator_words(verb, options);
  if (!words) return words.error();
  const auto program = simulator_program();
  if (!program) return program.error();
  auto spawned = spawn_simulator(*program, *std::move(words));
  if (!spawned) return spawned.error();
  return std::unique_ptr<SimulatorProcess>(
      new SimulatorProcess(spawned->pid, std::move(spawned->output), std::move(spawned->error)));
}

SimulatorProcess::SimulatorProcess(pid_t pid, FileDescriptor output, FileDescriptor error)
    : pid_(pid), owner_(::getpid()), output_(std::move(output)), error_(std::move(error)) {}

SimulatorProcess::~SimulatorProcess() {
  // In a forked child another thread may have held the lock.
  if (!check_owner() || reap()) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

base::Status SimulatorProcess::check_owner() const {
  if (::getpid() == owner_) return {};
  return base::error(Code::unavailable,
                     "this simulation was started by process %d, of which this is a forked child",
                     static_cast<int>(owner_));
}

base::Result<std::optional<std::string>> SimulatorProcess::next(double seconds) {
  if (const auto ours = check_owner(); !ours) return ours.error();
  const Turn turn(is_asked_);
  if (!turn)
    return base::error(Code::bad_input, "another thread waits for this simulation already");
  const std::int64_t start = base::system_clock().now_ns();
  double left = seconds;
  do {
    if (!lines_.empty() || ended_) break;
    wait_for_more(seconds < 0 ? kLookEveryMs : milliseconds(left));
    left = seconds - base::seconds_between(start, base::system_clock().now_ns());
  } while (seconds < 0 || left > 0);
  if (lines_.empty()) return std::optional<std::string>();
  std::optional<std::string> line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

void SimulatorProcess::wait_for_more(int milliseconds) {
  const bool reads = output_.is_open() || error_.is_open();
  pollfd places[] = {{output_.get(), POLLIN, 0}, {error_.get(), POLLIN, 0}};
  const int ready =
      ::poll(places, std::size(places), reads ? milliseconds : std::min(milliseconds, kEndingMs));
  read_all();
  if (ready > 0 && (output_.is_open() || error_.is_open())) return;
  if (!reap()) return;
  read_all();
  if (!unread_.empty()) answer_ += std::exchange(unread_, {});
  ended_ = true;
}

void SimulatorProcess::read_all() {
  read_now(output_, unread_);
  take_lines();
  read_now(error_, said_);
  if (said_.size() > kMostSaid) said_.erase(0, said_.size() - kMostSaid);
}

void SimulatorProcess::take_lines() {
  std::size_t from = 0;
  for (std::size_t end = 0; (end = unread_.find('\n', from)) != std::string::npos; from = end + 1) {
    std::string line = unread_.substr(from, end - from);
    if (line.starts_with("{\"event\":\"round\"")) ++rounds_;
    if (line.starts_with("{\"event\":")) {
      lines_.push_back(std::move(line));
    } else {
      answer_ += line + "\n";
    }
  }
  unread_.erase(0, from);
}

bool SimulatorProcess::reap() {
  const base::Lock lock(mutex_);
  if (reaped_) return true;
  int status = 0;
  const pid_t got = ::waitpid(pid_, &status, WNOHANG);
  if (got == pid_) status_ = status;
  // ECHILD: the program around us ignores SIGCHLD, or waits for all its children.
  reaped_ = got == pid_ || (got < 0 && errno == ECHILD);
  return reaped_;
}

base::Status SimulatorProcess::stop(bool at_once) {
  if (const auto ours = check_owner(); !ours) return ours.error();
  if (reap()) return {};
  const base::Lock lock(mutex_);
  // A second SIGTERM would end it at once.
  if (!reaped_ && (at_once || !stop_asked_)) ::kill(pid_, at_once ? SIGKILL : SIGTERM);
  stop_asked_ = true;
  return {};
}

base::Error SimulatorProcess::failure(int status) const {
  const std::string words = last_line(said_);
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    std::string line =
        base::format_text("ebb-simulate (process %d) was ended by signal %d (%s) after %llu rounds",
                          static_cast<int>(pid_), number, ::strsignal(number),
                          static_cast<unsigned long long>(rounds_));
    if (number == SIGKILL) line += ", as the kernel does where memory runs out";
    if (!words.empty()) line += "; it last said: " + words;
    return {Code::io, line, 0};
  }
  const int exit = WEXITSTATUS(status);
  const std::string line =
      words.empty() ? base::format_text("ebb-simulate ended with status %d after %llu rounds", exit,
                                        static_cast<unsigned long long>(rounds_))
                    : words;
  switch (exit) {
    case 2:
      return {Code::bad_input, line, 0};
    case 3:
    case kCannotRun:
    case kCannotLoad:
      return {Code::unavailable, line, 0};
    default:
      return {Code::io, line, 0};
  }
}

base::Result<Json> SimulatorProcess::result() const {
  const base::Lock lock(mutex_);
  auto parsed = base::parse_json(answer_);
  const Json* stopped = parsed ? parsed->find("stopped") : nullptr;
  const bool is_stopped = stopped != nullptr && stopped->as_bool().value_or(false);
  // It ends with status 1 where it was stopped, which is no failure here.
  if (parsed && parsed->is_object() && (status_.value_or(0) == 0 || is_stopped)) return parsed;
  if (stop_asked_ && (!status_ || WIFSIGNALED(*status_))) return Json::object({{"stopped", true}});
  if (status_ && *status_ != 0) return failure(*status_);
  return base::error(Code::io, "ebb-simulate (process %d) ended without a result%s%s",
                     static_cast<int>(pid_), said_.empty() ? "" : ": ", last_line(said_).c_str());
}

}  // namespace ebb::capi
