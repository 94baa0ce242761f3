// SPDX-License-Identifier: Apache-2.0
// ebb run --sites=objects: Python's small objects, one by one.
#include <cstdio>

#include "run/pythons.h"
#include "run/sites_fixture.h"

namespace ebb::run {
namespace {

constexpr const char* kRemember = "small_objects.py:31 remember";

class SiteObjects : public Sites {
 protected:
  static Words job(const std::string& program, const char* what) {
    return {program, EBB_SMALL_OBJECTS_PY, what};
  }

  /// What the report says of all that remember() took: texts and tuples are sites of their own.
  static double remembered(const Json& report, const char* key) {
    const Json* sites = report.find("sites");
    if (sites == nullptr || sites->as_array() == nullptr) return 0;
    double sum = 0;
    for (const Json& site : *sites->as_array())
      if (text(site, "place") == kRemember) sum += site.find(key)->as_double().value_or(0);
    return sum;
  }

  /// The report of a job, at the moment at which `is_so` of it.
  template <class Condition>
  Json report_once(const Words& options, const Words& words, const Condition& is_so) const {
    Json said;
    std::size_t next = 2;
    run_job_until(options, words, [&](const record::RecordedRun& run) {
      if (looks_in(run) < next) return false;
      next = looks_in(run) + 2;
      said = report();
      return is_so(said);
    });
    return said;
  }
};

TEST_F(SiteObjects, NameTheLineThatKeepsThemNotTheOneThatNeededAnArena) {
  const auto is_named = [](const Json& said) { return !grower(said).empty(); };
  const Json said = report_once({"--sites=objects"}, job("/usr/bin/python3", "grow"), is_named);
  EXPECT_EQ(grower(said), kRemember);
}

TEST_F(SiteObjects, CountOnceInEveryPythonThatIsHere) {
  const std::map<int, std::string> all = pythons();
  ASSERT_FALSE(all.empty());
  for (const auto& [minor, program] : all) {
    std::printf("Python 3.%d: %s\n", minor, program.c_str());
    // Were their arenas counted too, these would hold as much, for look_through().
    const auto is_most = [](const Json& said) {
      return remembered(said, "bytes") > 16 << 20 && remembered(said, "share") > 0.65;
    };
    const Json said = report_once({"--sites=objects"}, job(program, "hold"), is_most);
    EXPECT_TRUE(is_most(said)) << program << "\n" << said.text(true);
  }
}

TEST_F(SiteObjects, ThatWereDroppedAreNoLongerHeld) {
  const std::string dropped = stop_file() + ".dropped";
  const Json said =
      report_once({"--sites=objects"}, job("/usr/bin/python3", "drop"), [&](const Json& now) {
        return std::filesystem::exists(dropped) && remembered(now, "bytes") < 16 << 20;
      });
  EXPECT_TRUE(std::filesystem::exists(dropped));
  EXPECT_LT(remembered(said, "bytes"), 16 << 20);
}

TEST_F(SiteObjects, AreHookedWhereTheyCanAndWhereItWasAskedFor) {
  // Whose function CPython calls for an object.
  const std::string ask =
      "import ctypes\n"
      "at = (ctypes.c_size_t * 5)()\n"
      "ctypes.pythonapi.PyMem_GetAllocator(2, at)\n"
      "for line in open('/proc/self/maps'):\n"
      "    start, end = [int(word, 16) for word in line.split()[0].split('-')]\n"
      "    if start <= at[1] < end:\n"
      "        print('hooked' if 'libebb-sites' in line else 'left alone')\n";
  const auto said = [&](const char* sites, Words python) {
    python.insert(python.end(), {"-c", ask});
    return run({sites}, python).output;
  };
  EXPECT_EQ(said("--sites=objects", {"/usr/bin/python3"}), "hooked\n");
  EXPECT_EQ(said("--sites", {"/usr/bin/python3"}), "left alone\n");
  // It would put the hook aside when it stops.
  EXPECT_EQ(said("--sites=objects", {"/usr/bin/python3", "-X", "tracemalloc"}), "left alone\n");
}

TEST_F(SiteObjects, AStormOfForksAndThreadsGoesOnUndisturbed) {
  const Finished done = run({"--sites=objects", "--interval", "50ms"},
                            {"/usr/bin/python3", EBB_FORKS_PY, EBB_LIBRARY});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "done\n") << done.error;
}

TEST_F(SiteObjects, AreAWordOfTheirOwn) {
  const Finished plan = run({"--sites=objects", "--dry-run"}, {"/usr/bin/python3"});
  EXPECT_NE(plan.output.find("EBB_SITES_OBJECTS"), std::string::npos) << plan.output;
  const Finished without = run({"--sites", "--dry-run"}, {"/usr/bin/python3"});
  EXPECT_EQ(without.output.find("EBB_SITES_OBJECTS"), std::string::npos) << without.output;
  const Finished wrong = run({"--sites=arenas"}, {"true"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.error, "ebb: --sites 'arenas': expected --sites or --sites=objects\n");
}

}  // namespace
}  // namespace ebb::run
