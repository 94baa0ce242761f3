// SPDX-License-Identifier: Apache-2.0
// ebb run --sites: every call, every allocator, every Python, and programs that cannot have them.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "heap/installed.h"
#include "run/pythons.h"
#include "run/sites_fixture.h"
#include "support/effort.h"

namespace ebb::run {
namespace {

TEST_F(Sites, NameTheLineInEveryPythonThatIsHere) {
  const std::map<int, std::string> all = pythons();
  ASSERT_FALSE(all.empty());
  for (const auto& [minor, program] : all) {
    // The layout of frames has changed most between the oldest and the newest.
    if (!support::is_thorough() && minor != all.begin()->first && minor != all.rbegin()->first)
      continue;
    std::printf("Python 3.%d: %s\n", minor, program.c_str());
    Json said;
    const auto is_named = [&] {
      said = report();
      const Json* sites = said.find("sites");
      for (const Json& site :
           sites != nullptr && sites->as_array() != nullptr ? *sites->as_array() : Json::Array())
        if (text(site, "place") == "leaks.py:13 load_batch") return true;
      return false;
    };
    std::size_t next = 5;
    run_job_until({}, {program, EBB_LEAKS_PY, "1"}, [&](const record::RecordedRun& run) {
      if (looks_in(run) < next) return false;
      next += 5;
      return is_named();
    });
    EXPECT_TRUE(is_named()) << program << "\n" << said.text(true);
    const Json* without = said.find("sampling")->find("without_python_frames");
    EXPECT_EQ(without->as_unsigned(), 0U) << program;
  }
}

TEST_F(Sites, OfProgramsThatCannotHaveThemAreToldWhy) {
  const std::vector<std::pair<std::string, std::string>> programs = {
      {EBB_OWN_MALLOC, "no sites: its allocator is linked into the program"},
      {EBB_SANITIZED_JOB, "no sites: it is built with a sanitizer, which has the malloc"},
      {EBB_STATIC_JOB, "no sites: it is static: nothing can be preloaded"}};
  for (const auto& [program, why] : programs) {
    const Finished plan = run({"--sites", "--dry-run"}, {program});
    EXPECT_NE(plan.output.find(why), std::string::npos) << plan.output << plan.error;
  }
  const Finished done = run({"--sites"}, {EBB_OWN_MALLOC});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_NE(done.error.find(programs.front().second), std::string::npos) << done.error;
  EXPECT_TRUE(has_event(last(), "sites"));
  // Where nobody asked for them, the record alone says so.
  const Finished unasked = run({}, {EBB_OWN_MALLOC});
  EXPECT_EQ(unasked.status, 0) << unasked.error;
  EXPECT_EQ(unasked.error.find("no sites"), std::string::npos) << unasked.error;
  EXPECT_TRUE(has_event(last(), "sites"));
}

TEST_F(Sites, HoldWhatAnyCallTookAndEveryByteOnce) {
  std::size_t tried = 0;
  for (const heap::AllocatorKind allocator :
       {heap::AllocatorKind::glibc, heap::AllocatorKind::jemalloc, heap::AllocatorKind::tcmalloc,
        heap::AllocatorKind::mimalloc}) {
    if (allocator != heap::AllocatorKind::glibc && !heap::find_installed(allocator)) continue;
    ++tried;
    const std::string name = heap::name_of(allocator);
    // Large blocks are sampled all but always, also where a busy machine widens the distance; of
    // the small ones some are.
    constexpr double kEach = 384 << 20, kSmall = 32 << 20;
    Json said;
    std::size_t next = 2;
    run_job_until({"--allocator", name}, {EBB_TAKES}, [&](const record::RecordedRun& run) {
      if (looks_in(run) < next || double(run.samplings.back().bytes) < 6 * kEach) return false;
      next = looks_in(run) + 2;
      said = report();
      return said.find("sites")->as_array()->size() >= 7;
    });
    double together = 0;
    double small_samples = 0;
    std::map<std::string, double> held;
    for (const Json& site : *said.find("sites")->as_array()) {
      const std::string place = text(site, "place");
      const std::string function = place.substr(place.rfind(' ') + 1);
      const double bytes = site.find("bytes")->as_double().value_or(0);
      held[function] += bytes;
      if (function == "small") small_samples += site.find("samples")->as_double().value_or(0);
      together += bytes;
    }
    for (const char* function : {"by_posix_memalign", "by_aligned_alloc", "by_memalign",
                                 "by_realloc", "by_mmap", "by_mremap"})
      EXPECT_NEAR(held[function], kEach, kEach / 20) << name << " " << function;
    // Five times the error of as many samples.
    ASSERT_GT(small_samples, 0) << name;
    EXPECT_NEAR(held["small"], kSmall, kSmall / 4 + 5 * kSmall / std::sqrt(small_samples)) << name;
    for (const auto& [function, bytes] : held)
      together -= function == "small" || function.starts_with("by_") ? bytes : 0;
    EXPECT_LT(together, 4 << 20) << name << ": what it maps for them is no site\n"
                                 << said.text(true);
  }
  EXPECT_GE(tried, 1U);
}

}  // namespace
}  // namespace ebb::run
