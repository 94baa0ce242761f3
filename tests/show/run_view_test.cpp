// SPDX-License-Identifier: Apache-2.0
#include "show/run_view.h"

#include <gtest/gtest.h>

#include "show/trials_view.h"

namespace ebb::show {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

run::Trial trial(const char* name, std::vector<std::string> arguments, bool manage,
                 std::uint64_t steady) {
  run::Trial trial;
  trial.setting.name = name;
  trial.setting.arguments = std::move(arguments);
  trial.setting.manage = manage;
  trial.steady_rss = steady;
  return trial;
}

TEST(RunView, ARunThatIsNotRecordedHasNoNumber) {
  run::Summary summary;
  summary.peak_rss = 3 * kMiB;
  EXPECT_EQ(summary_line(summary, 0).find("run "), std::string::npos);
  EXPECT_EQ(summary_line(summary, 7).rfind("run 7: ", 0), 0u);
  EXPECT_EQ(summary_line(summary, 0, "runs.db").find("ebb report"), std::string::npos);
  EXPECT_NE(summary_line(summary, 7).find("(ebb report 7)"), std::string::npos);
}

TEST(RunView, TheHintCanBePastedWhereTheRecordHasAPlaceOfItsOwn) {
  const run::Summary summary;
  EXPECT_NE(summary_line(summary, 7, "my/runs.db").find("(ebb report 7 --db my/runs.db)"),
            std::string::npos);
  EXPECT_NE(
      summary_line(summary, 7, "it's mine.db").find(R"((ebb report 7 --db 'it'\''s mine.db'))"),
      std::string::npos);
}

TEST(RunView, APeakThatWasOnlySampledIsCalledAtLeast) {
  run::Summary summary;
  summary.peak_rss = 3 * kMiB;
  EXPECT_NE(summary_line(summary, 0).find("peak at least 3.0 MiB"), std::string::npos);
  summary.peak_group = 5 * kMiB;
  EXPECT_NE(summary_line(summary, 0).find("peak 5.0 MiB"), std::string::npos);
}

TEST(RunView, APeakThatNobodySawIsNoNumber) {
  EXPECT_NE(summary_line({}, 0).find("peak not known, "), std::string::npos);
}

TEST(RunView, CleanupsAreCountedInWords) {
  run::Summary summary;
  EXPECT_NE(summary_line(summary, 0).find("no cleanup was needed"), std::string::npos);
  summary.cleanups = 1;
  EXPECT_NE(summary_line(summary, 0).find("1 cleanup returned"), std::string::npos);
  summary.cleanups = 2;
  EXPECT_NE(summary_line(summary, 0).find("2 cleanups returned"), std::string::npos);
}

TEST(RunView, NamesTheLibraryWhoseAllocatorHadKeptTheMost) {
  run::Summary summary;
  summary.cleanups = 2;
  summary.returned = 400 * kMiB;
  summary.beside = {{"jemalloc", "small.so", "", true}, {"mimalloc", "libarrow.so.2600", "", true}};
  EXPECT_EQ(summary_line(summary, 0).find("of it from"), std::string::npos);
  summary.beside[1].returned = 350 * kMiB;
  EXPECT_NE(summary_line(summary, 0).find("350.0 MiB of it from libarrow.so.2600 (mimalloc)"),
            std::string::npos)
      << summary_line(summary, 0);
}

TEST(TrialsView, TheLineToKeepStartsTheCommandUnderTheBestSetting) {
  Trials trials{{"python3", "train.py"},
                {trial("as it is", {}, false, 100 * kMiB),
                 trial("jemalloc", {"--allocator", "jemalloc"}, true, 50 * kMiB)},
                1};
  EXPECT_EQ(*trials_json(trials).find("run")->as_string(),
            "ebb run --allocator jemalloc -- python3 train.py");
  EXPECT_NE(trials_text(trials, {}).find("-50 %"), std::string::npos);
  trials.best = 0;
  EXPECT_EQ(*trials_json(trials).find("run")->as_string(), "python3 train.py");
  EXPECT_NE(trials_text(trials, {}).find("nothing holds clearly less"), std::string::npos);
}

}  // namespace
}  // namespace ebb::show
