// SPDX-License-Identifier: Apache-2.0
// Files that somebody made to break the reader: one clear line, never more.
#include <gtest/gtest.h>

#include "base/file.h"
#include "support/effort.h"
#include "trace/builder.h"
#include "trace/initial_state.h"
#include "trace/snapshot_reader.h"
#include "trace/steps.h"

namespace ebb::trace {
namespace {

using namespace pickled;

std::string refusal(const std::string& content) {
  const auto snapshot = parse_snapshot(content, "file");
  if (snapshot) return "accepted";
  EXPECT_EQ(snapshot.error().code, base::Code::bad_input);
  const std::string& message = snapshot.error().message;
  EXPECT_EQ(message.find("file: "), 0U) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 300U) << message;
  return message;
}

TEST(Hostile, FilesCutAtAnyByteAreRefused) {
  const std::string whole =
      file(snapshot({segment(4096, 1024, {block(4096, 512), block(4608, 512)})},
                    {event("alloc", 4096, 500), event("free_requested", 4096, 500)}));
  ASSERT_TRUE(parse_snapshot(whole, "file"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << size;
  }
}

TEST(Hostile, RecordingsWithOneByteChangedAreReadOrRefused) {
  const auto whole = base::read_file(EBB_TEST_DATA "/torch-2.11/vectors/ctx.pickle");
  ASSERT_TRUE(whole);
  const std::size_t stride = support::is_thorough() ? 13 : 61;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole->size(); at += stride) {
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string content = *whole;
      content[at] = static_cast<char>(content[at] ^ change);
      const auto snapshot = parse_snapshot(content, "file");
      if (!snapshot) {
        refusal(content);
        ++refused;
      } else if (!snapshot->traces.empty()) {
        static_cast<void>(initial_state(*snapshot, 0));
        static_cast<void>(find_steps(*snapshot, 0));
      }
    }
  }
  EXPECT_GT(refused, whole->size() / stride);
}

TEST(Hostile, DeepNestingIsRefused) {
  std::string marks = "]";
  for (int i = 0; i < 2000; ++i) {
    marks += "(]";
  }
  EXPECT_NE(refusal(file(marks)).find("nested more than 1000 deep"), std::string::npos);
  // Lists in lists without marks take no more than a place on the stack each.
  const std::string lists(100000, ']');
  EXPECT_NE(refusal(file(lists + std::string(99999, 'a'))).find("no snapshot"), std::string::npos);
}

TEST(Hostile, ListsThatDoubleAgainAndAgainCostNothing) {
  // [[…], […]] of the list before, forty times over: 2^40 items for who unfolds them.
  std::string laughs = bytes("]q\x00(K\x01K\x02") + "e";
  for (char level = 1; level <= 40; ++level) {
    const std::string before(1, static_cast<char>(level - 1));
    laughs += "]q" + std::string(1, level) + "(h" + before + "h" + before + "e";
  }
  const std::string value = "}(" + text("segments") + "]" + text("joke") + "](" + laughs + "eu";
  EXPECT_EQ(refusal(file(value)), "accepted");
  EXPECT_NE(refusal(file("}(" + text("segments") + "](" + laughs + "eu")).find("'segments' is not"),
            std::string::npos);
}

TEST(Hostile, SharedStacksDoNotMultiply) {
  // One frame, a stack of it a thousand times, and a hundred events with that stack.
  std::string frame = dict({{"name", text("f")}, {"filename", text("f.py")}, {"line", number(1)}});
  std::string value = "}(" + text("segments") + "]" + text("device_traces") + "](](";
  for (int i = 0; i < 100; ++i) {
    std::string stack = bytes("h\x01");
    if (i == 0) {
      stack = bytes("]q\x01(") + frame + bytes("q\x02");
      for (int j = 0; j < 999; ++j) {
        stack += bytes("h\x02");
      }
      stack += "e";
    }
    value += "}(" + text("action") + text("alloc") + text("addr") + number(i) + text("size") +
             number(1) + text("frames") + stack + "u";
  }
  const auto snapshot = parse_snapshot(file(value + "eeu"), "file");
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(snapshot->stacks.size(), 1U);
  EXPECT_EQ(snapshot->stacks[0].size(), 1000U);
  EXPECT_EQ(snapshot->traces[0][99].stack, 0U);
}

TEST(Hostile, EventsAndListsOfThemCannotBeUsedTwice) {
  const std::string shared = "refers back to an event, block, segment or a list of them";
  const std::string event = pickled::event("alloc", 0, 5);
  const std::string trace = "](" + event + "e";
  EXPECT_NE(
      refusal(file("}(" + text("device_traces") + "](](" + event + bytes("q\x00h\x00") + "eeu"))
          .find(shared),
      std::string::npos);
  EXPECT_NE(refusal(file("}(" + text("device_traces") + "](" + trace + bytes("q\x00h\x00") + "eu"))
                .find(shared),
            std::string::npos);
}

TEST(Hostile, ContainersThatHoldThemselvesAreRefused) {
  EXPECT_NE(refusal(file(bytes("]q\x00h\x00") + "a")).find("a list changes after it was used"),
            std::string::npos);
  EXPECT_NE(refusal(file(bytes("}q\x00(") + text("k") + bytes("h\x00") + "u"))
                .find("a dict changes after it was used"),
            std::string::npos);
}

TEST(Hostile, BrokenStackMachinesAreRefused) {
  const std::pair<std::string, const char*> programs[] = {
      {"u", "items for a dict without one"},
      {"e", "items for a list without one"},
      {"s", "items for a dict without one"},
      {"a", "items for a list without one"},
      {"(u", "items for a dict without one"},
      {"](u", "items for something that is not a new dict"},
      {"}(e", "items for something that is not a new list"},
      {"](]](a", "items for a list without one"},
      {"}(Nu", "a key of a dict without its value"},
      {"]NNs", "items for something that is not a new dict"},
      {"t", "a tuple without its beginning"},
      {"N\x86", "a tuple of 2 values without that many"},
      {"N(\x85", "a tuple of 1 values without that many"},
      {"\x94", "nothing there to refer back to"},
      {"]\x94\x94", "the same dict or list is to be referred to by two numbers"},
      {"h\x05", "refers back to number 5, which was never given"},
      {"j\xff\xff\xff\xff", "refers back to number 4294967295, which was never given"},
      {"NN", "the pickle ends with 2 values, expected one"},
      {"", "the pickle ends with 0 values, expected one"},
      {"N(", "the pickle ends with 1 values, expected one"},
      {"\x8c\x02\xc3\x28", "a text is not UTF-8: the file is damaged"},
  };
  for (const auto& [program, expected] : programs) {
    const std::string message = refusal(file(program));
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
}

TEST(Hostile, NamesOfObjectsAreRefusedWithTheirPlace) {
  EXPECT_EQ(
      refusal(file(dict({{"segments", "]"}, {"x", "cos\nsystem\n(S'true'\ntR"}}))),
      "file: byte 18: GLOBAL names an object; a snapshot holds only dicts, lists, numbers and "
      "text");
}

TEST(Hostile, NumbersForStreamsRunOutWithAMessage) {
  std::string value = "}(" + text("device_traces") + "](](";
  for (int i = 0; i < 70000; ++i) {
    value += "}(" + text("action") + text("alloc") + text("addr") + number(0) + text("size") +
             number(1) + text("stream") + number(i) + "u";
  }
  EXPECT_NE(refusal(file(value + "eeu")).find("more than 65536 streams"), std::string::npos);
}

TEST(Hostile, FilesThatAreNoSnapshotsAtAll) {
  EXPECT_NE(refusal(""), "accepted");
  EXPECT_NE(refusal("#!/bin/sh\necho hello\n"), "accepted");
  EXPECT_NE(refusal("{\"segments\": []}"), "accepted");
  EXPECT_NE(refusal(std::string(100000, '\0')), "accepted");
  EXPECT_NE(refusal("\x1f\x8b"), "accepted");
  const auto folder = read_snapshot(std::string("/"));
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "/: is a directory, expected a snapshot file");
}

}  // namespace
}  // namespace ebb::trace
