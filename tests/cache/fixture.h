// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cache/core.h"
#include "cache/stats_keys.h"
#include "device/sim_driver.h"

namespace ebb::cache {

inline constexpr std::uint64_t kKiB = base::kKiB;
using base::kMiB;
inline constexpr std::uint64_t kGiB = base::kGiB;

/// A core on a simulated device, as small tests want it.
struct World {
  explicit World(const char* settings = "", int minor = 11, device::SimOptions sim = {},
                 CoreOptions options = {})
      : driver((sim.events = device::Completion::by_hand, sim)) {
    options.profile = *profile_of(minor);
    const auto parsed = parse_settings(settings, options.profile);
    EXPECT_TRUE(parsed) << parsed.error().message;
    options.settings = *parsed;
    auto made = Core::create(driver, 0, options);
    EXPECT_TRUE(made) << made.error().message;
    core = std::move(*made);
    core->record_history({});
  }
  ~World() {
    core->check_invariants();
    core.reset();
    EXPECT_EQ(driver.used(0), 0U) << "everything goes back to the driver";
  }

  Address allocate(std::uint64_t bytes, StreamId stream = 0) {
    const Address address = core->allocate(bytes, stream);
    core->check_invariants();
    return address;
  }
  void free(Address address) {
    EXPECT_TRUE(core->free(address));
    core->check_invariants();
  }
  void empty_cache() {
    EXPECT_TRUE(core->empty_cache());
    core->check_invariants();
  }
  void set_limit(std::uint64_t bytes) {
    const auto total = static_cast<double>(core->info().total_memory);
    // Half a byte more, so that neither truncation nor rounding loses one.
    EXPECT_TRUE(core->set_memory_fraction((static_cast<double>(bytes) + 0.5) / total));
  }
  std::int64_t current(Metric metric) const { return core->stats().current(metric); }

  /// "segment_alloc 2097152" and the like, of the entries since the last call.
  std::vector<std::string> happened() {
    std::vector<std::string> lines;
    for (const TraceEntry& entry : core->history()) {
      lines.push_back(std::string(name_of(entry.action)) + " " + std::to_string(entry.size));
    }
    core->record_history({.clear = true});
    return lines;
  }

  device::SimDriver driver;
  std::unique_ptr<Core> core;
};

using Lines = std::vector<std::string>;

}  // namespace ebb::cache
