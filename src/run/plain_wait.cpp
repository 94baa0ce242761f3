// SPDX-License-Identifier: Apache-2.0
#include "run/plain_wait.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/clock.h"
#include "run/own_children.h"

namespace ebb::run {
namespace {

// What has ended is told by a signal; this is for one that was missed.
constexpr double kUsualPause = 1;
// Who was killed leaves children of its own here, which are next.
constexpr double kPauseOfKilling = 0.02;

/// Takes what has ended; whether there is nobody left to wait for.
bool reap_all(pid_t command, std::optional<Ending>& ending) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0)
    if (ended == command) ending = ending_of(status);
  return ended < 0 && errno == ECHILD;
}

}  // namespace

Ending wait_plainly(const PlainWait& wait, const Signals& signals) noexcept {
  std::optional<Ending> ending = wait.ending;
  const auto pass = [&](const Signal& signal) {
    if (!signal.is_for_command) return;
    if (ending) {
      signal_children(signal.number);
    } else {
      pass_on(signal, wait.command);
    }
  };
  const std::int64_t began_ns = base::system_clock().now_ns();
  while (true) {
    const bool is_alone = reap_all(wait.command, ending);
    const double passed = base::seconds_between(began_ns, base::system_clock().now_ns());
    if (is_alone) return ending.value_or(Ending{});
    if (ending && !wait.for_all && !wait.kills_after) return *ending;
    double pause = kUsualPause;
    if (wait.kills_after && passed >= *wait.kills_after) {
      if (ending && passed >= *wait.kills_after + kLongestDying) return *ending;
      // Each that ends leaves what it started to this process, which makes it a child, too.
      signal_children(SIGKILL);
      pause = kPauseOfKilling;
    } else if (wait.kills_after) {
      pause = std::min(pause, *wait.kills_after - passed);
    }
    pollfd source{signals.descriptor(), POLLIN, 0};
    if (::poll(&source, 1, static_cast<int>(pause * 1000) + 1) < 0) ::usleep(20'000);
    signals.take(std::cref(pass));  // a copy might ask for memory
  }
}

}  // namespace ebb::run
