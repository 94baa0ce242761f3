// SPDX-License-Identifier: Apache-2.0
#include "show/verdict.h"

#include <gtest/gtest.h>

namespace ebb::show {
namespace {

using Lines = std::vector<std::string>;

TEST(Verdict, ToneAndColourSayTheSame) {
  EXPECT_EQ(colour_of(tone_of(keep::Verdict::healthy)), term::Colour::green);
  EXPECT_EQ(colour_of(tone_of(keep::Verdict::leak)), term::Colour::red);
  EXPECT_EQ(colour_of(tone_of(keep::Verdict::retention)), term::Colour::yellow);
  EXPECT_EQ(colour_of(tone_of(keep::Verdict::not_enough_data)), term::Colour::dim);
  EXPECT_EQ(colour_of(tone_of(replay::Verdict::healthy)), term::Colour::green);
  EXPECT_EQ(colour_of(tone_of(replay::Verdict::capacity)), term::Colour::red);
  EXPECT_EQ(colour_of(tone_of(replay::Verdict::fragmentation)), term::Colour::yellow);
}

TEST(Verdict, OfAProcessComesWithItsSlopeAndWhatItRestsOn) {
  keep::Diagnosis diagnosis;
  diagnosis.verdict = keep::Verdict::leak;
  diagnosis.also = {keep::Verdict::file_cache};
  diagnosis.confidence = "high";
  diagnosis.headline = "live bytes grow";
  diagnosis.findings = {"one", "two"};
  diagnosis.rss_slope = "+1 MiB/h";
  diagnosis.fix = "free them";
  EXPECT_EQ(diagnosis_lines(diagnosis, {}),
            (Lines{"slope      +1 MiB/h", "verdict    leak (confidence high)",
                   "           live bytes grow", "also       file_cache", "           - one",
                   "           - two", "fix        free them"}));
}

TEST(Verdict, OfAProcessHasNothingToPaste) {
  keep::Diagnosis diagnosis;
  EXPECT_FALSE(card_of(diagnosis).fix);
  diagnosis.fix = "clean up";
  EXPECT_EQ(card_of(diagnosis).fix->text, "clean up");
  EXPECT_EQ(card_of(diagnosis).fix->paste, "");
}

TEST(Verdict, OfASnapshotOffersTheSettingsThatHelp) {
  replay::Diagnosis diagnosis;
  diagnosis.verdict = replay::Verdict::fragmentation;
  diagnosis.headline = "free, but in pieces";
  diagnosis.fix = {"settings", "use expandable segments", "expandable_segments:True", 0, {}};
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
