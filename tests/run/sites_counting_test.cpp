// SPDX-License-Identifier: Apache-2.0
// What --sites=objects says of how much is held, in each Python. An estimate from a few samples: by
// itself it may be off, three times in a row hardly.
#include <cstdio>
#include <filesystem>

#include "run/pythons.h"
#include "run/site_objects_fixture.h"

namespace ebb::run {
namespace {

constexpr int kTries = 3;
constexpr int kEnoughReports = 3;

TEST_F(SiteObjects, CountOnceInEveryPythonThatIsHere) {
  const std::map<int, std::string> all = pythons();
  ASSERT_FALSE(all.empty());
  // Were their arenas counted too, these would hold as much, for look_through().
  const auto is_most = [](const Json& said) {
    return remembered(said, "bytes") > 16 << 20 && remembered(said, "share") > 0.65;
  };
  const std::string held = stop_file() + ".held";
  for (const auto& [minor, program] : all) {
    std::printf("Python 3.%d: %s\n", minor, program.c_str());
    Json said;
    for (int i = 0; i < kTries && !is_most(said); ++i) {
      std::filesystem::remove(held);
      int reports = 0;
      said = report_once({"--sites=objects"}, job(program, "hold"), [&](const Json& now) {
        return is_most(now) || (std::filesystem::exists(held) && ++reports >= kEnoughReports);
      });
    }
    EXPECT_TRUE(is_most(said)) << program << "\n" << said.text(true);
  }
}

}  // namespace
}  // namespace ebb::run
