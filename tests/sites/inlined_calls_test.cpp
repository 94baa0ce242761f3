// SPDX-License-Identifier: Apache-2.0
#include "sites/inlined_calls.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sites/dwarf_bytes.h"

namespace ebb::sites {
namespace {

/// Sections with one unit: within a call of line 7 from 0x1000 to 0x1040, one of line 3 of another
/// file, in two parts.
struct Sample {
  std::string info;
  std::string abbreviations;
  std::string ranges;
  std::string lists;
  std::string addresses;

  explicit Sample(int version) {
    abbreviations = std::string("\1\x11\1\x11\1\0\0", 7);  // 1: a unit with low_pc as addr
    // 2: an inlined call: low_pc as addr, high_pc as data4, call_file and call_line as data1
    abbreviations += std::string("\2\x1D\1\x11\1\x12\6\x58\x0B\x59\x0B\0\0", 13);
    // 3: one with ranges as sec_offset, or as rnglistx
    abbreviations += std::string("\3\x1D\0\x55", 4) + (version == 5 ? "\x23" : "\x17");
    abbreviations += std::string("\x58\x0B\x59\x0B\0\0\0", 7);
    std::string body;
    put(body, static_cast<std::uint64_t>(version), 2);
    if (version == 5) body += std::string("\1\x08", 2);
    put(body, 0, 4);
    if (version < 5) put(body, 8, 1);
    put(body, 1, 1);
    put(body, 0x1000, 8);
    put(body, 2, 1);
    put(body, 0x1000, 8);
    put(body, 0x40, 4);
    body += "\1\7";
    put(body, 3, 1);
    put(body, 0, version == 5 ? 1 : 4);
    body += "\2\3";
    body += std::string("\0\0", 2);
    put(info, body.size(), 4);
    info += body;
    for (const std::uint64_t at :
         {0x10U, 0x14U, 0x20U, 0x28U, 0U, 0U})  // beside the unit's beginning
      put(ranges, at, 8);
    put(lists, 0, 8);  // length, version, sizes
    put(lists, 1, 4);  // one list
    put(lists, 4, 4);
    lists += std::string("\4\x10\x14\6", 4);  // an offset pair, a start and an end
    put(lists, 0x1020, 8);
    put(lists, 0x1028, 8);
    put(lists, 0, 1);
  }

  InfoSections sections() const { return {info, abbreviations, ranges, lists, addresses}; }
};

std::string text_of(const std::vector<InlinedCall>& calls) {
  std::string text;
  for (const InlinedCall& call : calls)
    text += std::to_string(call.file) + ":" + std::to_string(call.line) + " ";
  return text;
}

TEST(InlinedCalls, AreFoundFromTheOutsideInwards) {
  for (const int version : {4, 5}) {
    const Sample sample(version);
    InlinedCalls calls{{0xFFF, {}},  {0x1000, {}}, {0x1010, {}}, {0x1014, {}},
                       {0x1027, {}}, {0x1028, {}}, {0x1040, {}}};
    find_inlined_calls(sample.sections(), calls);
    EXPECT_EQ(text_of(calls[0xFFF]), "") << version;
    EXPECT_EQ(text_of(calls[0x1000]), "1:7 ") << version;
    EXPECT_EQ(text_of(calls[0x1010]), "1:7 2:3 ") << version;
    EXPECT_EQ(text_of(calls[0x1014]), "1:7 ") << version;
    EXPECT_EQ(text_of(calls[0x1027]), "1:7 2:3 ") << version;
    EXPECT_EQ(text_of(calls[0x1028]), "1:7 ") << version;
    EXPECT_EQ(text_of(calls[0x1040]), "") << version;
  }
}

TEST(InlinedCalls, DamagedAndCutOnesAreReadWithoutHarm) {
  std::mt19937 random(12);
  for (int round = 0; round < 5000; ++round) {
    Sample sample(round % 2 == 0 ? 4 : 5);
    for (std::string* part : {&sample.info, &sample.abbreviations, &sample.ranges, &sample.lists}) {
      for (int i = 0; i < 2; ++i)
        (*part)[random() % part->size()] = static_cast<char>(random());
      if (round % 3 == 0) part->resize(random() % (part->size() + 1));
    }
    InlinedCalls calls{{0x1000, {}}, {0x1010, {}}};
    find_inlined_calls(sample.sections(), calls);
    EXPECT_EQ(calls.size(), 2U);
  }
}

}  // namespace
}  // namespace ebb::sites
