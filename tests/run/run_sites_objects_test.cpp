// SPDX-License-Identifier: Apache-2.0
// ebb run --sites=objects: Python's small objects, one by one.
#include <filesystem>

#include "run/site_objects_fixture.h"

namespace ebb::run {
namespace {

TEST_F(SiteObjects, NameTheLineThatKeepsThemNotTheOneThatNeededAnArena) {
  const auto is_named = [](const Json& said) { return !grower(said).empty(); };
  const Json said = report_once({"--sites=objects"}, job("/usr/bin/python3", "grow"), is_named);
  EXPECT_EQ(grower(said), kRemember);
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
