// SPDX-License-Identifier: Apache-2.0
#include "fl/stop_signals.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace ebb::fl {
namespace {

// One that was meant once arrives several times where it is sent to a process and to its group
// (`timeout`), or to a group whose members pass it on (`ebb run`): the latter as fast as they are
// woken. A person is slower than the former.
constexpr std::uint64_t kSameMs = 200;
constexpr std::uint64_t kSamePassedOnMs = 3000;

volatile std::sig_atomic_t stop_was_asked = 0;
bool stopping_is_said = true;  // set before there is a handler

/// A signal in one word, since two threads may take one each at a moment. 0 is none.
class Taken {
 public:
  explicit Taken(std::uint64_t word) : word_(word) {}
  Taken(int number, bool is_passed_on, std::uint64_t ms)
      : word_(ms << 8U | (is_passed_on ? 0x80U : 0U) | static_cast<unsigned>(number)) {}

  std::uint64_t word() const { return word_; }
  std::uint64_t number() const { return word_ & 0x7FU; }
  bool is_passed_on() const { return (word_ & 0x80U) != 0; }
  std::uint64_t ms() const { return word_ >> 8U; }

  /// Whether it says nothing that an earlier one has not said.
  bool repeats(const Taken& earlier) const {
    if (number() != earlier.number()) return false;
    const bool has_other_way = is_passed_on() != earlier.is_passed_on();
    return ms() < earlier.ms() + (has_other_way ? kSamePassedOnMs : kSameMs);
  }

 private:
  std::uint64_t word_;
};

std::atomic<std::uint64_t> first{0};

std::uint64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

extern "C" void take_stop_signal(int number, siginfo_t* about, void* /*context*/) {
  const int error = errno;
  const Taken signal(number, about->si_code <= 0 && about->si_pid == ::getppid(), monotonic_ms());
  std::uint64_t before = 0;
  if (first.compare_exchange_strong(before, signal.word())) {
    stop_was_asked = 1;
    constexpr char kLine[] = "\nebb: stops after this round; once more stops at once\n";
    // Nobody may be reading, and the next signal must not have to wait for that.
    pollfd room{STDERR_FILENO, POLLOUT, 0};
    const bool is_read = stopping_is_said && ::poll(&room, 1, 0) == 1;
    if (is_read && ::write(STDERR_FILENO, kLine, sizeof kLine - 1) < 0) {
      // Not any more.
    }
  } else if (!signal.repeats(Taken(before))) {
    // Whatever the simulation is in, also a loop that it never leaves. Delivered on the way out.
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  errno = error;
}

}  // namespace

void stop_on_signals(bool speaks) {
  stopping_is_said = speaks;
  struct sigaction action {};
  action.sa_sigaction = take_stop_signal;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

void ask_to_stop() {
  stop_was_asked = 1;
}

bool is_asked_to_stop() {
  return stop_was_asked != 0;
}

}  // namespace ebb::fl
