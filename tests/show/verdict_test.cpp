// SPDX-License-Identifier: Apache-2.0
#include "show/verdict.h"

#include <gtest/gtest.h>

namespace ebb::show {
namespace {

using Lines = std::vector<std::string>;

TEST(Verdict, ToneAndColourSayTheSame) {
  EXPECT_EQ(colour_of(tone_of(fact::Verdict::healthy)), term::Colour::green);
  EXPECT_EQ(colour_of(tone_of(fact::Verdict::leak)), term::Colour::red);
  EXPECT_EQ(colour_of(tone_of(fact::Verdict::retention)), term::Colour::yellow);
  EXPECT_EQ(colour_of(tone_of(fact::Verdict::not_enough_data)), term::Colour::dim);
  EXPECT_EQ(colour_of(tone_of(fact::Verdict::capacity)), term::Colour::red);
  EXPECT_EQ(colour_of(tone_of(fact::Verdict::fragmentation)), term::Colour::yellow);
}

TEST(Verdict, OfAProcessComesWithItsSlopeAndWhatItRestsOn) {
  keep::ProcessDiagnosis diagnosis;
  diagnosis.verdict = fact::Verdict::leak;
  diagnosis.also = {fact::Verdict::file_cache};
  diagnosis.confidence = fact::Confidence::high;
  diagnosis.headline = "live bytes grow";
  diagnosis.findings = {"one", "two"};
  diagnosis.rss_slope = "+1 MiB/h";
  diagnosis.fix.text = "free them";
  EXPECT_EQ(diagnosis_lines(diagnosis, {}),
            (Lines{"slope      +1 MiB/h", "verdict    leak (confidence high)",
                   "           live bytes grow", "also       file_cache", "           - one",
                   "           - two", "fix        free them"}));
}

TEST(Verdict, OfAProcessHasNothingToPaste) {
  keep::ProcessDiagnosis diagnosis;
  EXPECT_FALSE(card_of(diagnosis).fix);
  diagnosis.fix.text = "clean up";
  EXPECT_EQ(card_of(diagnosis).fix->text, "clean up");
  EXPECT_EQ(card_of(diagnosis).fix->paste, "");
}

TEST(Verdict, OfASnapshotOffersTheSettingsThatHelp) {
  fact::Diagnosis diagnosis;
  diagnosis.verdict = fact::Verdict::fragmentation;
  diagnosis.headline = "free, but in pieces";
  diagnosis.confidence = fact::Confidence::high;
  diagnosis.fix = {fact::FixKind::settings, "use expandable segments", "expandable_segments:True",
                   0};
  const page::Verdict card = card_of(diagnosis);
  EXPECT_EQ(card.name, "fragmentation");
  EXPECT_EQ(card.tone, page::Tone::warning);
  EXPECT_EQ(card.fix->paste, "expandable_segments:True");
  EXPECT_EQ(verdict_lines(card, 12, {}),
            (Lines{"verdict     fragmentation (confidence high)", "            free, but in pieces",
                   "fix         use expandable segments"}));
}

}  // namespace
}  // namespace ebb::show
