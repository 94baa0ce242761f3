// SPDX-License-Identifier: Apache-2.0
#include "trace/snapshot_reader.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"
#include "trace/builder.h"
#include "trace/summary.h"

namespace ebb::trace {
namespace {

using namespace pickled;
using Strings = std::vector<std::string>;

constexpr const char* kData = EBB_TEST_DATA "/torch-2.11/";

Snapshot parsed(const std::string& value) {
  auto snapshot = parse_snapshot(file(value), "file");
  EXPECT_TRUE(snapshot) << snapshot.error().message;
  return snapshot ? std::move(*snapshot) : Snapshot{};
}

std::string snapshot_refusal(const std::string& value) {
  const auto snapshot = parse_snapshot(file(value), "file");
  EXPECT_FALSE(snapshot);
  if (snapshot) return "";
  EXPECT_EQ(snapshot.error().code, base::Code::bad_input);
  return snapshot.error().message;
}

std::string only_segments(const Strings& segments) {
  return dict({{"segments", list(segments)}});
}

/// Recorded files, written again by Python in another shape: both readers must agree on it.
void expect_agreement(const Strings& shape) {
  const support::TemporaryDirectory directory;
  for (const char* name :
       {"vectors/ctx.pickle", "vectors/ctx2.pickle", "frames/prefetch_streams.default.dump.pickle",
        "runs/prefetch_streams.expandable.pickle.gz"}) {
    const std::string path = directory / "again.pickle";
    Strings command = {EBB_PYTHON, std::string(EBB_TOOLS) + "/snapshot_files.py"};
    command.insert(command.end(), shape.begin(), shape.end());
    command.insert(command.end(), {std::string(kData) + name, path});
    const auto written = support::run(command);
    ASSERT_EQ(written.status, 0) << written.error;
    const auto snapshot = read_snapshot(path);
    ASSERT_TRUE(snapshot) << name << ": " << snapshot.error().message;
    const auto python =
        support::run({EBB_PYTHON, std::string(EBB_TOOLS) + "/snapshot_summary.py", path});
    EXPECT_EQ(summary_of(*snapshot), python.output) << name;
  }
}

TEST(SnapshotReader, ReadsEveryProtocolThatPythonWrites) {
  for (const char* protocol : {"2", "3", "4", "5"}) {
    expect_agreement({"protocol", protocol});
  }
}

TEST(SnapshotReader, RefusesProtocols0And1Clearly) {
  const support::TemporaryDirectory directory;
  for (const char* protocol : {"0", "1"}) {
    const std::string path = directory / "old.pickle";
    const auto written =
        support::run({EBB_PYTHON, std::string(EBB_TOOLS) + "/snapshot_files.py", "protocol",
                      protocol, std::string(kData) + "vectors/ctx.pickle", path});
    ASSERT_EQ(written.status, 0) << written.error;
    const auto snapshot = read_snapshot(path);
    ASSERT_FALSE(snapshot);
    EXPECT_EQ(snapshot.error().code, base::Code::bad_input);
    EXPECT_NE(snapshot.error().message.find("is it one of protocol 0 or 1?"), std::string::npos);
  }
}

TEST(SnapshotReader, ReadsWhatPyTorchsOwnPicklerWritesForEmbedders) {
  expect_agreement({"embedder"});
}

TEST(SnapshotReader, ReadsTheHistoriesOfPyTorch20) {
  expect_agreement({"old"});
}

TEST(SnapshotReader, ReadsTheBareListOfSegments) {
  expect_agreement({"segments"});
  EXPECT_TRUE(parsed("]").segments.empty());
}

TEST(SnapshotReader, NeedsNoOrderOfKeysAndIgnoresUnknownOnes) {
  expect_agreement({"reversed"});
}

TEST(SnapshotReader, KeepsEachTextFrameAndStackOnce) {
  const auto snapshot =
      read_snapshot(std::string(kData) + "frames/prefetch_streams.default.pickle.gz");
  ASSERT_TRUE(snapshot);
  Strings texts = snapshot->texts;
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end());
  auto stacks = snapshot->stacks;
  std::sort(stacks.begin(), stacks.end());
  EXPECT_EQ(std::adjacent_find(stacks.begin(), stacks.end()), stacks.end());
  EXPECT_LT(stacks.size(), 200U) << "1003 lists in the file";
}

TEST(SnapshotReader, KeepsEveryFieldOfAnEvent) {
  const std::string frames = list({dict({{"name", text("f")},
                                         {"filename", text("a.py")},
                                         {"line", number(7)},
                                         {"fx_node_op", text("x")}})});
  const Snapshot snapshot =
      parsed(dict({{"segments", "]"},
                   {"device_traces",
                    list({"]", list({dict({{"action", text("alloc")},
                                           {"addr", number(-4096)},
                                           {"size", number(5)},
                                           {"stream", number(0x55)},
                                           {"time_us", number(1794704525149261)},
                                           {"compile_context", text("0/0")},
                                           {"user_metadata", text("layer 3")},
                                           {"pool_id", pair(0, 2)},
                                           {"forward_frames", list({text("line"), text("line")})},
                                           {"frames", frames}})})})}}));
  ASSERT_EQ(snapshot.traces.size(), 2U);
  EXPECT_TRUE(snapshot.traces[0].empty());
  ASSERT_EQ(snapshot.traces[1].size(), 1U);
  const Event& event = snapshot.traces[1][0];
  EXPECT_EQ(event.action, Action::alloc);
  EXPECT_EQ(event.address, 0xFFFFFFFFFFFFF000U) << "signed in PyTorch's own pickler";
  EXPECT_EQ(event.size, 5U);
  EXPECT_EQ(snapshot.streams[event.stream], 0x55U);
  EXPECT_EQ(event.time_us, 1794704525149261);
  EXPECT_EQ(snapshot.texts[event.text], "layer 3");
  EXPECT_EQ(snapshot.pools[event.pool], (PoolId{0, 2}));
  ASSERT_EQ(snapshot.stacks[event.stack].size(), 1U);
  const Frame& frame = snapshot.frames[snapshot.stacks[event.stack][0]];
  EXPECT_EQ(snapshot.texts[frame.name], "f");
  EXPECT_EQ(snapshot.texts[frame.file], "a.py");
  EXPECT_EQ(frame.line, 7);
  EXPECT_TRUE(snapshot.has_pool_ids);
  EXPECT_TRUE(snapshot.has_times);
  EXPECT_EQ(snapshot.oldest_minor, 12);
}

TEST(SnapshotReader, InfersTheReleaseFromTheFieldsThatAreThere) {
  const auto minors = [](const std::string& value) {
    const Snapshot snapshot = parsed(value);
    return std::pair(snapshot.oldest_minor, snapshot.newest_minor);
  };
  EXPECT_EQ(minors("]"), std::pair(0, 99)) << "nothing to tell by";
  EXPECT_EQ(minors(snapshot({}, {event("alloc", 0, 5)})), std::pair(0, 1));
  EXPECT_EQ(minors(snapshot({}, {event("segment_map", 0, 5)})), std::pair(1, 1));
  EXPECT_EQ(minors(list({segment(0, 512, {block(0, 512)})})), std::pair(1, 99));
  EXPECT_EQ(
      minors(dict({{"segments", "]"}, {"allocator_settings", "}"}, {"external_annotations", "]"}})),
      std::pair(5, 13));
  EXPECT_EQ(minors(dict({{"segments", "]"},
                         {"device_traces", "]"},
                         {"allocator_settings", "}"},
                         {"external_annotations", "]"},
                         {"host_segments", "]"},
                         {"host_traces", list({"]"})}})),
            std::pair(14, 99));
}

TEST(SnapshotReader, LeavesOutEventsOfUnknownKindsAndSaysSo) {
  const Snapshot snapshot = parsed(pickled::snapshot(
      {}, {event("alloc", 0, 5), event("sing", 0, 6), event("free_requested", 0, 5)}));
  ASSERT_EQ(snapshot.traces[0].size(), 2U);
  EXPECT_EQ(snapshot.traces[0][1].action, Action::free_requested);
  EXPECT_EQ(snapshot.notes,
            Strings{"1 events of kinds that PyTorch 2.15 does not know were left out"});
}

TEST(SnapshotReader, SkipsHostMemoryAndSaysSo) {
  const Snapshot snapshot =
      parsed(dict({{"device_traces", list({list({event("alloc", 0, 5)})})},
                   {"host_traces", list({list({event("alloc", 8, 5), event("alloc", 16, 5)})})},
                   {"host_segments", list({segment(0, 512, {block(0, 512)})})}}));
  EXPECT_TRUE(snapshot.segments.empty());
  ASSERT_EQ(snapshot.traces.size(), 1U);
  ASSERT_EQ(snapshot.traces[0].size(), 1U);
  EXPECT_EQ(snapshot.traces[0][0].address, 0U);
  const Strings note = {
      "pinned memory of the host was recorded too and left out: it has another allocator"};
  EXPECT_EQ(snapshot.notes, note);
  const std::string some = list({event("alloc", 8, 5)});
  EXPECT_EQ(parsed(dict({{"segments", "]"}, {"host_traces", some}})).notes, note);
  EXPECT_EQ(parsed(dict({{"segments", "]"}, {"host_traces", list({"]", some})}})).notes, note);
  EXPECT_EQ(
      parsed(dict({{"segments", "]"}, {"host_segments", list({segment(0, 512, {block(0, 512)})})}}))
          .notes,
      note);
}

TEST(SnapshotReader, SaysNothingOfHostMemoryThatWasNotRecorded) {
  for (const std::string& traces : {std::string("]"), list({"]"}), list({"]", "]"})}) {
    EXPECT_TRUE(parsed(dict({{"segments", "]"}, {"host_segments", "]"}, {"host_traces", traces}}))
                    .notes.empty());
  }
}

TEST(SnapshotReader, ReadsSnapshotsWithoutTraces) {
  expect_agreement({"untraced"});
}

TEST(SnapshotReader, ReportsProgressUpToTheEnd) {
  const std::string path = std::string(kData) + "frames/fl_resnet18.default.pickle.gz";
  std::uint64_t last = 0;
  std::uint64_t size = 0;
  std::size_t calls = 0;
  ReadOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GE(done, last);
    last = done;
    size = total;
    ++calls;
  };
  ASSERT_TRUE(read_snapshot(path, options));
  EXPECT_EQ(last, size);
  EXPECT_EQ(size, std::filesystem::file_size(path));
  EXPECT_GT(calls, 20U);
}

TEST(SnapshotReader, ChecksThatBlocksFillTheirSegment) {
  EXPECT_TRUE(parse_snapshot(
      file(only_segments({segment(0, 1024, {block(0, 512), block(512, 512)})})), "file"));
  EXPECT_NE(snapshot_refusal(only_segments({segment(0, 1024, {block(0, 512), block(513, 511)})}))
                .find("segment 0: block 1 begins at 513, expected 512, where the one before ends"),
            std::string::npos);
  EXPECT_NE(snapshot_refusal(only_segments({segment(0, 1024, {block(0, 512)})}))
                .find("segment 0: its blocks have 512 bytes, expected its total_size, 1024"),
            std::string::npos);
  EXPECT_NE(snapshot_refusal(only_segments({segment(0, 1024, {block(0, 2048)})}))
                .find("block 0 goes beyond the segment's 1024 bytes"),
            std::string::npos);
  EXPECT_NE(snapshot_refusal(only_segments({segment(0, 1024, {})})).find("not a list of blocks"),
            std::string::npos);
  EXPECT_NE(snapshot_refusal(only_segments({segment(0, 0, {block(0, 0)})}))
                .find("'size' of a block is not a positive number of bytes"),
            std::string::npos);
  const std::string at_the_end = segment(0, 1024, {block(0, 1024)});
  EXPECT_NE(snapshot_refusal(only_segments({segment(~0ULL, 1024, {block(~0ULL, 1024)})}))
                .find("address and size go beyond 64 bits"),
            std::string::npos);
}

TEST(SnapshotReader, ChecksThatSegmentsDoNotOverlapAndSortsThem) {
  const Snapshot snapshot = parsed(
      only_segments({segment(4096, 512, {block(4096, 512)}), segment(0, 512, {block(0, 512)})}));
  ASSERT_EQ(snapshot.segments.size(), 2U);
  EXPECT_EQ(snapshot.segments[0].address, 0U);
  EXPECT_EQ(snapshot_refusal(only_segments(
                {segment(0, 1024, {block(0, 1024)}), segment(512, 512, {block(512, 512)})})),
            "file: the segments at 0 and 512 of device 0 overlap");
}

TEST(SnapshotReader, ChecksTheTypesOfFields) {
  const auto with = [](const char* key, const std::string& value) {
    std::vector<std::pair<std::string, std::string>> items = {
        {"action", text("alloc")}, {"addr", number(0)}, {"size", number(5)}, {"stream", number(0)}};
    for (auto& item : items) {
      if (item.first == key) item.second = "";
    }
    std::erase_if(items, [](const auto& item) { return item.second.empty(); });
    if (!value.empty()) items.emplace_back(key, value);
    return dict({{"segments", "]"}, {"device_traces", list({list({dict(items)})})}});
  };
  const std::pair<std::string, const char*> faults[] = {
      {with("action", number(3)), "'action' of an event is not a text"},
      {with("addr", text("x")), "'addr' of an event is not an integer of 64 bits"},
      {with("addr", bytes("\x8a\x09\1\1\1\1\1\1\1\1\1")),
       "'addr' of an event is not an integer of 64 bits"},
      {with("addr", ""), "an event has no 'addr'"},
      {with("size", number(-1)), "'size' of an event is not a number of bytes"},
      {with("size", ""), "an event has no 'size'"},
      {with("stream", "N"), "'stream' of an event is not an integer of 64 bits"},
      {with("time_us", text("now")), "'time_us' of an event is not a time in microseconds"},
      {with("pool_id", number(1)), "'pool_id' of an event is not a pair of integers"},
      {with("frames", list({number(1)})), "'frames' of an event is not a list of frames"},
  };
  for (const auto& [value, expected] : faults) {
    const std::string message = snapshot_refusal(value);
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_EQ(message.find("file: byte "), 0U) << message;
  }
  EXPECT_EQ(snapshot_refusal(dict({{"segments", number(1)}})),
            "file: 'segments' is not a list of segments");
  EXPECT_EQ(snapshot_refusal(dict({{"device_traces", list({event("alloc", 0, 1)})}})),
            "file: 'device_traces' is not a list with a list of events for each device");
  EXPECT_EQ(snapshot_refusal(dict({{"segments", "]"}, {"external_annotations", number(1)}})),
            "file: 'external_annotations' is not a list of annotations");
}

TEST(SnapshotReader, CaresForMalformedDictsOnlyWhereTheyAreNeeded) {
  const std::string odd = dict({{"action", number(1)}, {"state", text("of mind")}});
  parsed(dict({{"segments", "]"}, {"my own", list({odd, odd})}, {"mine too", odd}}));
  EXPECT_NE(snapshot_refusal(dict({{"segments", "]"}, {"device_traces", list({list({odd})})}}))
                .find("'action' of an event is not a text"),
            std::string::npos);
}

TEST(SnapshotReader, RefusesKeysThatComeTwice) {
  EXPECT_NE(snapshot_refusal(dict({{"segments", "]"}, {"segments", "]"}}))
                .find("a snapshot has the key 'segments' twice"),
            std::string::npos);
}

TEST(SnapshotReader, RefusesPicklesOfSomethingElse) {
  for (const std::string& value : {number(1), text("x"), std::string("}"), std::string("N"),
                                   dict({{"model", list({number(1)})}}),
                                   list({number(1), number(2)}), list({event("alloc", 0, 1)})}) {
    EXPECT_EQ(snapshot_refusal(value),
              "file: no snapshot, expected a dict with 'segments' and 'device_traces' or a list of "
              "segments");
  }
}

}  // namespace
}  // namespace ebb::trace
