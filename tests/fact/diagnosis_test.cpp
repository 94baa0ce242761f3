// SPDX-License-Identifier: Apache-2.0
#include "fact/diagnosis.h"

#include <gtest/gtest.h>

#include <set>

namespace ebb::fact {
namespace {

TEST(Diagnosis, VerdictsAreReadAsTheyAreWritten) {
  for (const std::span<const Verdict> among :
       {std::span<const Verdict>(kProcessVerdicts), std::span<const Verdict>(kSnapshotVerdicts)}) {
    for (const Verdict verdict : among)
      EXPECT_EQ(verdict_of(name_of(verdict), among), verdict) << name_of(verdict);
    EXPECT_FALSE(verdict_of("leek", among));
    EXPECT_FALSE(verdict_of("", among));
  }
}

TEST(Diagnosis, EveryVerdictIsOfAProcessOrOfASnapshotAndHasANameOfItsOwn) {
  std::set<Verdict> verdicts(kProcessVerdicts.begin(), kProcessVerdicts.end());
  verdicts.insert(kSnapshotVerdicts.begin(), kSnapshotVerdicts.end());
  EXPECT_EQ(verdicts.size(), static_cast<std::size_t>(Verdict::not_enough_data) + 1);
  std::set<std::string> names;
  for (const Verdict verdict : verdicts)
    names.insert(name_of(verdict));
  EXPECT_EQ(names.size(), verdicts.size());
}

TEST(Diagnosis, AVerdictIsReadOnlyWhereItCanBeFound) {
  EXPECT_EQ(verdict_of("retention", kProcessVerdicts), Verdict::retention);
  EXPECT_FALSE(verdict_of("retention", kSnapshotVerdicts));
  EXPECT_EQ(verdict_of("capacity", kSnapshotVerdicts), Verdict::capacity);
  EXPECT_FALSE(verdict_of("capacity", kProcessVerdicts));
}

TEST(Diagnosis, OfNothingIsNotEnoughData) {
  EXPECT_EQ(to_json(Diagnosis{}).text(),
            R"({"verdict":"not_enough_data","also":[],"confidence":"low","headline":"",)"
            R"("findings":[],"evidence":null,"fix":{"kind":"none","text":""}})");
}

TEST(Diagnosis, IsWrittenWithAllThatIsKnown) {
  Diagnosis diagnosis;
  diagnosis.verdict = Verdict::leak;
  diagnosis.also = {Verdict::private_pools, Verdict::cache};
  diagnosis.confidence = Confidence::high;
  diagnosis.headline = "it grows";
  diagnosis.findings = {"one", "two"};
  diagnosis.evidence = base::Json::object({{"steps", 6}});
  diagnosis.fix = {FixKind::code, "Free it", std::nullopt, 0};
  EXPECT_EQ(to_json(diagnosis).text(),
            R"({"verdict":"leak","also":["private_pools","cache"],"confidence":"high",)"
            R"("headline":"it grows","findings":["one","two"],"evidence":{"steps":6},)"
            R"("fix":{"kind":"code","text":"Free it"}})");
}

TEST(Diagnosis, TheFixNamesSettingsAndALimitWhereItHasThem) {
  const auto fix_text = [](Fix fix) {
    Diagnosis diagnosis;
    diagnosis.fix = std::move(fix);
    return to_json(diagnosis).find("fix")->text();
  };
  EXPECT_EQ(fix_text({FixKind::settings, "Use the default", "", 0}),
            R"({"kind":"settings","text":"Use the default","conf":""})")
      << "the default is settings too";
  EXPECT_EQ(
      fix_text({FixKind::memory, "Give it more", "max_split_size_mb:64", 4096}),
      R"({"kind":"memory","text":"Give it more","conf":"max_split_size_mb:64","bytes":4096})");
}

TEST(Diagnosis, KindsOfFixesAndDegreesOfConfidenceHaveNames) {
  std::set<std::string> kinds;
  for (int kind = 0; kind <= static_cast<int>(FixKind::time); ++kind)
    kinds.insert(name_of(static_cast<FixKind>(kind)));
  EXPECT_EQ(kinds, (std::set<std::string>{"none", "probe", "cleanup", "settings", "limit", "memory",
                                          "code", "time"}));
  EXPECT_STREQ(name_of(Confidence::low), "low");
  EXPECT_STREQ(name_of(Confidence::medium), "medium");
  EXPECT_STREQ(name_of(Confidence::high), "high");
}

}  // namespace
}  // namespace ebb::fact
