// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>

#include "base/bytes.h"
#include "heap/host_allocator.h"
#include "support/fake_clock.h"

namespace ebb::support {

/// A heap in numbers: what is live, what a light and a deep give-back can reach, and what they
/// cost on a clock of the test's own.
class FakeAllocator final : public heap::HostAllocator {
 public:
  explicit FakeAllocator(FakeClock& clock) : clock_(clock) {}

  std::atomic<std::uint64_t> live{100 * base::kMiB};
  std::atomic<std::uint64_t> light_reaches{0};
  std::atomic<std::uint64_t> deep_reaches{0};
  std::atomic<std::uint64_t> nobody_reaches{0};
  std::atomic<double> seconds_per_give_back{0.001};
  std::atomic<int> light_calls{0};
  std::atomic<int> deep_calls{0};
  bool tells_live = true;
  bool has_calls = true;
  heap::AllocatorKind says = heap::AllocatorKind::glibc;
  std::function<void()> during_give_back;

  std::uint64_t rss() const { return live + light_reaches + deep_reaches + nobody_reaches; }

  heap::AllocatorKind kind() const override { return says; }
  std::string version() const override { return "fake"; }
  bool controllable() const override { return has_calls; }

  heap::HeapReading read() override {
    heap::HeapReading reading;
    if (!tells_live) return reading;
    reading.live = live.load();
    reading.retained = rss() - live;
    return reading;
  }

  std::string set_pressure(bool on) override {
    if (under_pressure_.exchange(on) == on) return {};
    return on ? "pressure on" : "pressure off";
  }

  heap::GiveBack give_back(fact::Depth depth) override {
    heap::GiveBack done;
    done.depth = depth;
    if (!has_calls) return done;
    done.attempted = true;
    clock_.advance_seconds(seconds_per_give_back);
    if (during_give_back) during_give_back();
    const bool released = light_reaches > 0;
    light_reaches = 0;
    if (depth == fact::Depth::deep) {
      ++deep_calls;
      deep_reaches = 0;
      done.notes.emplace_back("deep has a side effect");
    } else {
      ++light_calls;
    }
    if (says == heap::AllocatorKind::glibc) done.native_result = released ? 1 : 0;
    done.steps.emplace_back("fake give-back");
    return done;
  }

 private:
  FakeClock& clock_;
  std::atomic<bool> under_pressure_{false};
};

}  // namespace ebb::support
