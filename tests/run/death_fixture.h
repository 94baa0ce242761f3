// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <string>

#include "base/json.h"
#include "run/limited_group.h"
#include "run/run_fixture.h"

namespace ebb::run {

using fact::Death;
using fact::Killer;
using support::Finished;
using support::Subprocess;

inline constexpr std::uint64_t kLimit = 256U << 20;
inline constexpr double kMostUnexplained = 16 << 20;

class EbbRunThatDies : public EbbRun {
 protected:
  Death death() const {
    const auto found = last().summary.run.death;
    EXPECT_TRUE(found);
    return found.value_or(Death{});
  }

  /// Runs a job in the group until the kernel kills it. At times the kernel takes the supervisor
  /// too, before the memory of the first is back: nobody is left then to say why.
  Finished run_to_kill(Words options, const Words& job) const {
    Finished done;
    // Where a processor is emulated, a look takes so long that there are few: its leaks are slower
    // (dies.c), and looks are asked for more often.
    if (getenv("EBB_TEST_SLOWER") != nullptr && options.empty()) options = {"--interval", "20ms"};
    for (int i = 0; i < 20 && (i == 0 || last().summary.state == record::State::lost); ++i)
      done = support::run(group_.inside(command(options, job)));
    return done;
  }

  /// What `ebb doctor` says of the last run.
  std::string doctor() const {
    const Finished asked = support::run({EBB_PROGRAM, "doctor", "last", "--db", db()});
    EXPECT_EQ(asked.status, 0) << asked.error;
    return asked.output;
  }

  /// One part of the last memory, in bytes.
  static double part(const base::Json& json, const char* name) {
    const base::Json* memory = json.find("memory");
    const base::Json* parts = memory != nullptr ? memory->find("parts") : nullptr;
    const base::Json* found =
        parts != nullptr ? parts->find(std::string(name) + "_bytes") : nullptr;
    return found != nullptr ? found->as_double().value_or(0) : 0;
  }

  /// Runs a job in the group until the kernel kills it; what doctor then says. The parts of its
  /// memory have to add up to what the group held.
  base::Json last_memory_of(const Words& options, const Words& job) const {
    const Finished done = run_to_kill(options, job);
    EXPECT_EQ(done.status, -SIGKILL) << done.error;
    EXPECT_EQ(death().by, Killer::cgroup) << done.error;
    return checked_memory();
  }

  /// The same of a job all of whose memory has a name: what no part explains came since its
  /// allocator was last asked, which is little unless the machine stood still then. That is no
  /// trial.
  base::Json explained_memory_of(const Words& job, const Words& options = {}) const {
    base::Json json;
    for (int i = 0; i < 20 && (i == 0 || part(json, "unexplained") > kMostUnexplained); ++i)
      json = last_memory_of(options, job);
    EXPECT_LE(part(json, "unexplained"), kMostUnexplained) << json.text(true);
    return json;
  }

  base::Json checked_memory() const {
    const Finished asked = support::run({EBB_PROGRAM, "doctor", "last", "--db", db(), "--json"});
    EXPECT_EQ(asked.status, 0) << asked.error;
    const base::Json json = base::parse_json(asked.output).value_or({});
    const base::Json* memory = json.find("memory");
    const base::Json* parts = memory != nullptr ? memory->find("parts") : nullptr;
    if (parts == nullptr || parts->as_object() == nullptr) {
      ADD_FAILURE() << asked.output;
      return json;
    }
    double sum = 0;
    for (const base::Json::Member& one : *parts->as_object())
      sum += one.second.as_double().value_or(0);
    const double usage = memory->find("usage_bytes")->as_double().value_or(0);
    const double most_cached = 64.0 * 4096 * static_cast<double>(sysconf(_SC_NPROCESSORS_CONF));
    EXPECT_NEAR(sum, usage, std::max(usage / 100, most_cached)) << asked.output;
    EXPECT_GT(usage, 0.5 * kLimit) << "the last sample was long before the end: " << asked.output;
    return json;
  }

  static std::string fix_of(const base::Json& json) {
    const base::Json* fix = json.find("memory")->find("fix");
    const base::Json* text = fix != nullptr ? fix->find("text") : nullptr;
    return text != nullptr ? *text->as_string() : "";
  }

  /// The largest place among what the only process of a split holds.
  static std::string largest_site(const base::Json& json) {
    const base::Json* memory = json.find("memory");
    const base::Json* processes = memory != nullptr ? memory->find("processes") : nullptr;
    if (processes == nullptr || processes->as_array()->empty()) return {};
    const base::Json* sites = processes->as_array()->front().find("sites");
    if (sites == nullptr || sites->as_array() == nullptr || sites->as_array()->empty()) return {};
    return *sites->as_array()->front().find("place")->as_string();
  }

  LimitedGroup group_{"268435456"};
};

}  // namespace ebb::run
