// SPDX-License-Identifier: Apache-2.0
#include "cache/snapshot.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "cache/device_set.h"
#include "cache/fixture.h"
#include "trace/pickle_writer.h"
#include "cache/snapshot_pickle.h"
#include "support/temporary_directory.h"

namespace ebb::cache {
namespace {

/// What Python makes of a pickle: repr() of `expression` over the loaded value `v`.
std::string python(const std::string& pickle, const std::string& expression) {
  const support::TemporaryDirectory directory;
  const std::string path = directory.write("value.pickle", pickle);
  const std::string command = std::string(EBB_PYTHON) +
                              " -c \"import pickle; v = pickle.load(open('" + path +
                              "', 'rb')); print((" + expression + "), end='')\"";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot run python";
  std::string out;
  for (char buffer[4096]; const std::size_t count = fread(buffer, 1, sizeof buffer, pipe);) {
    out.append(buffer, count);
  }
  return pclose(pipe) == 0 ? out : "python failed";
}

TEST(PickleWriter, WritesEveryKindOfValueThatPythonReadsBack) {
  trace::PickleWriter writer;
  writer.begin_list();
  for (const std::uint64_t value :
       {0ULL, 255ULL, 256ULL, 65536ULL, 0x7FFFFFFFULL, 0x80000000ULL, 0x7FFF12345678ULL,
        0x8000000000000000ULL, 0xFFFFFFFFFFFFFFFFULL}) {
    writer.natural(value);
  }
  for (const std::int64_t value : {-1LL, -2147483648LL, -2147483649LL}) {
    writer.integer(value);
  }
  writer.real(0.6);
  writer.boolean(true);
  writer.boolean(false);
  writer.text("twice");
  writer.text("twice");
  writer.text(std::string(300, 'x'));
  writer.natural(3);
  writer.natural(4);
  writer.end_pair();
  writer.begin_dict();
  writer.text("k");
  writer.begin_list();
  writer.end_list();
  writer.end_dict();
  writer.end_list();
  EXPECT_EQ(python(std::move(writer).finish(), "v"),
            "[0, 255, 256, 65536, 2147483647, 2147483648, 140733498807928, 9223372036854775808, "
            "18446744073709551615, -1, -2147483648, -2147483649, 0.6, True, False, 'twice', "
            "'twice', '" +
                std::string(300, 'x') + "', (3, 4), {'k': []}]");
}

TEST(PickleWriter, RefersBackToMoreThan256Strings) {
  trace::PickleWriter writer;
  writer.begin_list();
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int i = 0; i < 300; ++i) {
      writer.text("s" + std::to_string(i));
    }
  }
  writer.end_list();
  EXPECT_EQ(python(std::move(writer).finish(), "v[:300] == v[300:], v[599]"), "(True, 's299')");
}

std::string keys_of(int minor, const std::string& expression) {
  World world("", minor);
  world.allocate(100);
  Snapshot snapshot;
  add_device(snapshot, *world.core);
  return python(pickle_of(snapshot), expression);
}

TEST(Snapshot, HasTheFieldsOfItsVersion) {
  EXPECT_EQ(keys_of(1, "list(v)"), "['segments', 'device_traces']");
  EXPECT_EQ(keys_of(15, "list(v)"),
            "['segments', 'device_traces', 'allocator_settings', 'external_annotations', "
            "'host_segments', 'host_traces']");
  EXPECT_EQ(keys_of(1, "list(v['device_traces'][0][0])"), "['action', 'addr', 'size', 'stream']");
  EXPECT_EQ(keys_of(12, "list(v['device_traces'][0][0])"),
            "['action', 'addr', 'size', 'stream', 'time_us', 'compile_context', 'user_metadata', "
            "'pool_id']");
  EXPECT_EQ(keys_of(12, "v['device_traces'][0][0]['pool_id']"), "(0, 0)");
}

TEST(Snapshot, OutOfMemoryEntriesTellTheFreeDeviceMemory) {
  World world;
  world.set_limit(kMiB);
  world.allocate(100);
  Snapshot snapshot;
  add_device(snapshot, *world.core);
  EXPECT_EQ(python(pickle_of(snapshot),
                   "[(e['action'], e['device_free']) for e in v['device_traces'][0]]"),
            "[('oom', 85899345920)]");
}

TEST(Snapshot, ItsOwnEntryShowsInLaterSnapshotsOnly) {
  World world;
  world.allocate(100);
  Snapshot first;
  add_device(first, *world.core);
  EXPECT_EQ(first.device_traces[0].size(), 2U);
  Snapshot second;
  add_device(second, *world.core);
  ASSERT_EQ(second.device_traces[0].size(), 3U);
  EXPECT_EQ(second.device_traces[0][2].action, Action::snapshot);
  EXPECT_EQ(second.device_traces[0][2].size, 512U);
}

TEST(Snapshot, OfSeveralDevicesHoldsOneTraceForEach) {
  device::SimOptions sim;
  sim.devices = 3;
  device::SimDriver driver(sim);
  auto set = DeviceSet::create(driver, {});
  ASSERT_TRUE(set);
  (*set)->record_history({});
  const Address on_two = (**set)[2].try_allocate(5 * kMiB, 0);
  const Address on_zero = (**set)[0].try_allocate(100, 0);
  Snapshot snapshot = (*set)->snapshot();
  snapshot.annotations.push_back({"epoch", true, 2, 77});
  ASSERT_EQ(snapshot.segments.size(), 2U);
  EXPECT_EQ(snapshot.segments[0].device, 0);
  EXPECT_EQ(snapshot.segments[1].device, 2);
  EXPECT_EQ(snapshot.device_traces[1].size(), 0U);
  EXPECT_EQ(python(pickle_of(snapshot), "len(v['device_traces']), v['external_annotations']"),
            "(3, [{'device': 2, 'time_us': 77, 'stage': 'START', 'name': 'epoch'}])");
  EXPECT_TRUE((**set)[2].free(on_two));
  EXPECT_TRUE((**set)[0].free(on_zero));
  EXPECT_TRUE((*set)->empty_cache());
  EXPECT_EQ((**set)[2].reserved(), 0U);
}

TEST(Snapshot, DumpFailsWhereNoFileCanBe) {
  EXPECT_FALSE(dump_snapshot({}, "/nowhere/at/all.pickle"));
}

}  // namespace
}  // namespace ebb::cache
