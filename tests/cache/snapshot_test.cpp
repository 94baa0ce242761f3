// SPDX-License-Identifier: Apache-2.0
#include "cache/snapshot.h"

#include <gtest/gtest.h>

#include "cache/allocator.h"
#include "cache/fixture.h"
#include "cache/snapshot_pickle.h"
#include "support/python_value.h"

namespace ebb::cache {
namespace {

using support::python;

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
  std::vector<std::unique_ptr<Allocator>> allocators;
  for (int device = 0; device < sim.devices; ++device) {
    allocators.push_back(std::move(*Allocator::create(driver, device, {})));
    allocators.back()->record_history({});
  }
  EXPECT_NE(allocators[2]->try_allocate(5 * kMiB, 0), 0U);
  EXPECT_NE(allocators[0]->try_allocate(100, 0), 0U);
  Snapshot snapshot;
  for (const auto& allocator : allocators) {
    allocator->add_to(snapshot);
  }
  snapshot.annotations.push_back({"epoch", true, 2, 77});
  ASSERT_EQ(snapshot.segments.size(), 2U);
  EXPECT_EQ(snapshot.segments[0].device, 0);
  EXPECT_EQ(snapshot.segments[1].device, 2);
  EXPECT_EQ(snapshot.device_traces[1].size(), 0U);
  EXPECT_EQ(python(pickle_of(snapshot), "len(v['device_traces']), v['external_annotations']"),
            "(3, [{'device': 2, 'time_us': 77, 'stage': 'START', 'name': 'epoch'}])");
}

TEST(Snapshot, DumpFailsWhereNoFileCanBe) {
  EXPECT_FALSE(dump_snapshot({}, "/nowhere/at/all.pickle"));
}

}  // namespace
}  // namespace ebb::cache
