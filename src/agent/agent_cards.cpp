// SPDX-License-Identifier: Apache-2.0
// What the job's language holds of cards.
#include "agent/agent.h"
#include "base/clock.h"
#include "sense/process.h"

namespace ebb::agent {

wire::Cards Agent::read_cards() {
  static_cast<void>(collector_.take_cards());  // a late answer to an earlier question
  if (collector_.collect(Collector::kCards, Collector::kPatienceSeconds) !=
      Collector::Answer::collected)
    return {};
  return {collector_.take_cards()};
}

fact::Cleanup Agent::empty_device_caches() {
  fact::Cleanup done;
  done.trigger = fact::Trigger::card;
  done.before.rss = sense::rss_now();
  const std::int64_t start = base::system_clock().now_ns();
  done.missed_garbage = collector_.collect(Collector::kDeviceCaches, Collector::kPatienceSeconds) !=
                        Collector::Answer::collected;
  // Not this thread's time: that of the language's, which waits for the device.
  done.seconds = base::seconds_between(start, base::system_clock().now_ns());
  done.after.rss = sense::rss_now();
  done.count_returned();
  for (const base::DeviceChange& change : collector_.take_changes())
    done.add(change);
  return done;
}

}  // namespace ebb::agent
