// SPDX-License-Identifier: Apache-2.0
// The programs with known causes, killed by the kernel in a control group of 256 MiB: who did it,
// what the memory was, and which line.
#include <cstdio>
#include <optional>

#include "heap/installed.h"
#include "run/causes.h"
#include "run/death_fixture.h"
#include "run/kill_together.h"
#include "support/effort.h"
#include "support/process_state.h"

namespace ebb::run {
namespace {

using base::Json;
using heap::AllocatorKind;

class KilledCauses : public EbbRunThatDies {
 protected:
  Words words_of(const Cause& cause, AllocatorKind allocator) const {
    Words options = {"--quiet", "--sites", "--name", cause.name, "--interval", "200ms"};
    if (allocator != AllocatorKind::glibc)
      options.insert(options.end(), {"--allocator", heap::name_of(allocator)});
    Words job = {"/usr/bin/python3", EBB_CAUSES_PY};
    if (!cause.is_python) job = {EBB_CAUSES};
    job.insert(job.end(), {cause.name, stop_file(), cause.fast_pause});
    if (cause.held.empty()) {
      // The kernel is to kill this one, whoever fills the group.
      const Words first = {"sh", "-c", "echo 1000 > /proc/self/oom_score_adj; exec \"$@\"", "sh"};
      job.insert(job.begin(), first.begin(), first.end());
    }
    return group_.inside(command(options, job));
  }

  /// Runs it until the kernel kills it, once; its status.
  int run_once(const Cause& cause, AllocatorKind allocator) const {
    std::filesystem::remove(stop_file());
    const std::int64_t before = so_far().summary.run.id;
    Subprocess child(words_of(cause, allocator));
    std::optional<Subprocess> neighbour;
    if (cause.held.empty()) {
      wait_until([&] {
        const record::RecordedRun run = so_far();
        return run.summary.run.id > before && (run.summary.run.ended || run.samplings.size() >= 12);
      });
      neighbour.emplace(group_.inside({EBB_DIES, "leak"}));
    }
    const int status = child.wait();
    folder_.write("stop", "");  // for workers that are left
    return status;
  }

  void check(const Cause& cause, AllocatorKind allocator) const {
    int status = 0;
    // At times the kernel takes the supervisor too: nobody is left then to say why.
    for (int i = 0; i < 20 && (i == 0 || last().summary.state == record::State::lost); ++i)
      status = run_once(cause, allocator);
    SCOPED_TRACE(cause.language() + " " + cause.name + " on " + heap::name_of(allocator));
    EXPECT_EQ(status, -SIGKILL);
    EXPECT_EQ(death().by, Killer::cgroup);
    EXPECT_TRUE(group_.folder().ends_with(death().group)) << death().group;
    const Json said = checked_memory();
    const std::string held = largest_part(said);
    const std::string verdict = *said.find("verdict")->as_string();
    EXPECT_EQ(held, cause.held.empty() ? "unexplained" : cause.held) << said.text(true);
    // Until cleanups have come back with nothing, pieces look like memory that is kept.
    const bool is_early = verdict == "not_enough_data" ||
                          (verdict == "retention" && cause.verdict == "fragmentation");
    EXPECT_TRUE(verdict == cause.verdict || is_early) << said.text(true);
    const std::string place = largest_site(said);
    if (!cause.place.empty()) {
      EXPECT_TRUE(place.starts_with(cause.place)) << said.text(true);
      EXPECT_NE(fix_of(said).find(" at " + cause.place), std::string::npos) << fix_of(said);
    } else {
      EXPECT_EQ(fix_of(said).find(" live at "), std::string::npos) << fix_of(said);
    }
    std::printf("| %-6s | %-13s | %-8s | %-17s | %-11s | %s |\n", cause.language().c_str(),
                cause.name.c_str(), heap::name_of(allocator), verdict.c_str(), held.c_str(),
                fix_of(said).c_str());
    std::fflush(stdout);
  }

  static const Cause& cause_of(bool is_python, const std::string& name) {
    return *std::find_if(causes().begin(), causes().end(), [&](const Cause& cause) {
      return cause.is_python == is_python && cause.name == name;
    });
  }

  static std::string largest_part(const Json& said) {
    std::string largest;
    double most = 0;
    for (const Json::Member& one : *said.find("memory")->find("parts")->as_object()) {
      if (one.second.as_double().value_or(0) <= most) continue;
      most = one.second.as_double().value_or(0);
      largest = one.first.substr(0, one.first.rfind('_'));
    }
    return largest;
  }

  void check_all(AllocatorKind allocator) const {
    const char* only = getenv("EBB_TEST_CAUSE");  // one alone, such as C++-queue
    for (const Cause& cause : causes()) {
      const bool applies = allocator == AllocatorKind::glibc || cause.on_jemalloc != "-";
      const bool is_brief = cause.name == "queue" && allocator == AllocatorKind::glibc;
      if (only != nullptr && cause.language() + "-" + cause.name != only) continue;
      if (applies && (only != nullptr || is_brief || support::is_thorough()))
        check(cause, allocator);
    }
  }
};

TEST_F(KilledCauses, AreToldOnGlibc) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  check_all(AllocatorKind::glibc);
}

TEST_F(KilledCauses, AreToldOnJemalloc) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  ASSERT_TRUE(heap::find_installed(AllocatorKind::jemalloc));
  check_all(AllocatorKind::jemalloc);
}

TEST_F(KilledCauses, TogetherWithTheirSupervisorLeaveTheirMemoryAndItsPlaces) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const support::TemporaryDirectory runtime;
  const support::ScopedVariable variable("XDG_RUNTIME_DIR", runtime.path());
  for (const bool is_python : {true, false}) {
    if (is_python && !support::is_thorough()) continue;
    const Cause& cause = cause_of(is_python, "cache");
    const std::int64_t before = so_far().summary.run.id;
    Subprocess child(words_of(cause, AllocatorKind::glibc));
    pid_t job = 0;
    wait_until([&] {
      const record::RecordedRun run = so_far();
      if (run.summary.run.id == before || run.processes.empty() || run.place.empty()) return false;
      job = run.processes.front().process.pid;
      return run.summary.run.ended || run.place.back().now.group.usage.value_or(0) > 150U << 20;
    });
    kill_together(child, job);
    const Json said = checked_memory();
    EXPECT_EQ(largest_part(said), "live") << said.text(true);
    EXPECT_EQ(largest_site(said), cause.place) << said.text(true);
    EXPECT_NE(doctor().find("- cut short after "), std::string::npos) << doctor();
  }
}

}  // namespace
}  // namespace ebb::run
