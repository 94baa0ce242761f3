// SPDX-License-Identifier: Apache-2.0
// The functions that PyTorch calls, over the fake libcuda.so.1: two devices of 1 GiB. What they
// serve is the process's own, so that every test gives back what it took.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "base/dynamic_library.h"
#include "base/json.h"
#include "conformance/cuda_workbench.h"
#include "ebb/ebb.h"
#include "ebb/ebb.hpp"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

// An allocator that lives for ever keeps its blocks, and the lists of streams that go with them, in
// pages of its own, which the leak checker does not look into.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
  return "leak:ebb::cache::Core::record_stream";
}

namespace {

using ebb::base::Json;
using ebb::conformance::CudaWorkbench;

constexpr std::size_t kMiB = 1 << 20;

const bool environment_is_set = [] {
  setenv("EBB_TORCH_DRIVER", "cuda:" EBB_FAKE_CUDA, 1);
  setenv("EBB_TORCH_VERSION", "2.11", 1);
  unsetenv("PYTORCH_CUDA_ALLOC_CONF");
  unsetenv("PYTORCH_ALLOC_CONF");
  return true;
}();

std::int64_t stat(const std::string& key, int device = 0) {
  const auto parsed = ebb::base::parse_json(ebb::torch::stats(device));
  const Json* value = parsed ? parsed->find(key) : nullptr;
  EXPECT_NE(value, nullptr) << key;
  return value == nullptr ? -1 : value->as_int().value_or(-1);
}

std::uint64_t calls_of(const char* function) {
  static auto* library = new auto(ebb::base::DynamicLibrary::open(EBB_FAKE_CUDA));
  return (*library)->function<std::uint64_t (*)(const char*)>("fake_cuda_calls")(function);
}

/// In percent of the device, of which nothing else takes anything.
ebb_bounds card_bounds(std::uint64_t round) {
  ebb_bounds bounds = ebb::bounds();
  bounds.warn_percent = bounds.critical_percent = 100;
  bounds.gpu_warn_percent = 40;
  bounds.gpu_critical_percent = 50;
  bounds.round = round;
  return bounds;
}

class Torch : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(ebb_torch_record_history(0, 0), EBB_OK);
    EXPECT_EQ(ebb_torch_empty_cache(), EBB_OK) << ebb_last_error();
    for (int device : {0, 1}) {
      EXPECT_EQ(stat("reserved_bytes.all.current", device), 0);
      EXPECT_EQ(ebb_torch_reset_peak_stats(device), EBB_OK);
    }
  }
};

TEST_F(Torch, CachesByPyTorchsRules) {
  void* first = ebb_torch_alloc(1, 0, nullptr);
  void* second = ebb_torch_alloc(1000, 0, nullptr);
  EXPECT_EQ(static_cast<char*>(second) - static_cast<char*>(first), 512);
  EXPECT_EQ(stat("reserved_bytes.all.current"), std::int64_t{2 * kMiB});
  const std::uint64_t segments = calls_of("cuMemAlloc");
  ebb_torch_free(first, 1, 0, nullptr);
  EXPECT_EQ(ebb_torch_alloc(100, 0, nullptr), first) << "from the cache";
  EXPECT_EQ(calls_of("cuMemAlloc"), segments);
  ebb_torch_free(first, 100, 0, nullptr);
  ebb_torch_free(second, 1000, 0, nullptr);
  EXPECT_EQ(stat("allocated_bytes.all.current"), 0);
  EXPECT_EQ(stat("allocated_bytes.all.peak"), 1536);
  ebb_torch_reset();
  EXPECT_EQ(stat("reserved_bytes.all.current"), 0);
}

TEST_F(Torch, DevicesAreSeparate) {
  const ebb::torch::Memory there(3 * kMiB, 1);
  EXPECT_EQ(stat("reserved_bytes.all.current", 0), 0);
  EXPECT_EQ(stat("reserved_bytes.all.current", 1), std::int64_t{20 * kMiB});
  const ebb::torch::Memory here(3 * kMiB, 0);
  EXPECT_NE(here.get(), there.get());
  char* json = nullptr;
  EXPECT_EQ(ebb_torch_stats(2, &json), EBB_BAD_INPUT);
  EXPECT_STREQ(ebb_last_error(), "device 2: expected 0 to 1, the devices of this process");
  EXPECT_EQ(ebb_torch_stats(0, nullptr), EBB_BAD_INPUT);
}

TEST_F(Torch, SafeAllocationTriesAgainAfterACleanup) {
  // A cache of the program's own, which a hook drops.
  static void* held = nullptr;
  held = ebb_torch_alloc(900 * kMiB, 0, nullptr);
  const ebb_hook drop = [](void*, std::uint64_t*) {
    ebb_torch_free(held, 0, 0, nullptr);
    held = nullptr;
    return 0;
  };
  std::uint64_t hook = 0;
  ASSERT_EQ(ebb_hook_add("drop", EBB_STAGE_CACHE, drop, nullptr, &hook), EBB_OK);
  void* memory = nullptr;
  char* report = nullptr;
  ASSERT_EQ(ebb_torch_safe_allocate(800 * kMiB, 0, nullptr, &memory, &report), EBB_OK)
      << ebb_last_error();
  ASSERT_EQ(ebb_hook_remove(hook), EBB_OK);
  const auto told = ebb::base::parse_json(report);
  ebb_free(report);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->find("served")->as_bool(), true);
  EXPECT_EQ(told->find("retried")->as_bool(), true);
  EXPECT_EQ(*told->find("let_go_bytes")->as_unsigned(), 900 * kMiB);
  EXPECT_EQ(*told->find("diagnosis")->find("verdict")->as_string(), "capacity");
  ebb_torch_free(memory, 0, 0, nullptr);
  ASSERT_EQ(ebb_torch_safe_allocate(kMiB, 0, nullptr, &memory, nullptr), EBB_OK);
  ebb_torch_free(memory, 0, 0, nullptr);
  EXPECT_EQ(ebb_torch_safe_allocate(kMiB, 0, nullptr, nullptr, nullptr), EBB_BAD_INPUT);
}

TEST_F(Torch, TellsWhyTheLastRequestFailed) {
  char* json = nullptr;
  EXPECT_EQ(ebb_torch_oom_diagnostic(1, &json), EBB_NOT_FOUND) << "none has failed there";
  void* memory = nullptr;
  ASSERT_EQ(ebb_torch_safe_allocate(2048 * kMiB, 0, nullptr, &memory, nullptr), EBB_OUT_OF_MEMORY);
  ASSERT_EQ(ebb_torch_oom_diagnostic(0, &json), EBB_OK) << ebb_last_error();
  const auto told = ebb::base::parse_json(json);
  ebb_free(json);
  ASSERT_TRUE(told);
  EXPECT_EQ(*told->find("verdict")->as_string(), "capacity");
  EXPECT_EQ(*told->find("evidence")->find("requested_bytes")->as_unsigned(), 2048 * kMiB);
  char* from_numbers = nullptr;
  ASSERT_EQ(ebb_call("shortage",
                     R"({"requested_bytes": 10, "device_total_bytes": 100, "device_free_bytes": 50,
                         "reserved_bytes": 20, "in_use_bytes": 20, "limit_bytes": 25})",
                     &from_numbers),
            EBB_OK)
      << ebb_last_error();
  EXPECT_NE(std::string(from_numbers).find(R"("verdict":"self_limit")"), std::string::npos);
  ebb_free(from_numbers);
  EXPECT_EQ(ebb_call("shortage", R"({"requested_bytes": "many"})", &from_numbers), EBB_BAD_INPUT);
}

TEST_F(Torch, OutOfMemoryIsThrownWithNumbers) {
  EXPECT_EQ(ebb_torch_alloc(0, 0, nullptr), nullptr);
  const std::int64_t before = stat("num_ooms");
  try {
    ebb_torch_alloc(2048 * kMiB, 0, nullptr);
    ADD_FAILURE() << "two GiB of one";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
                        "capacity of 1024.00 MiB"),
              0U)
        << text;
    EXPECT_NE(text.find(" Ebb: device 0: no memory for 2.0 GiB"), std::string::npos) << text;
    EXPECT_EQ(text, ebb_last_error());
  }
  EXPECT_EQ(stat("num_ooms"), before + 1);
  void* memory = &memory;
  EXPECT_EQ(ebb_torch_try_alloc(2048 * kMiB, 0, nullptr, &memory), EBB_OUT_OF_MEMORY);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(ebb_torch_try_alloc(1, 0, nullptr, nullptr), EBB_BAD_INPUT);
  EXPECT_THROW(ebb::torch::Memory(2048 * kMiB), ebb::Error);
}

TEST_F(Torch, AFailingDriverIsThrownAsWhatItIs) {
  auto library = ebb::base::DynamicLibrary::open(EBB_FAKE_CUDA);
  library->function<void (*)(const char*, std::uint64_t, std::uint64_t, int)>("fake_cuda_fail")(
      "cuMemAlloc", 0, 1, 700);
  try {
    ebb_torch_alloc(64 * kMiB, 0, nullptr);
    ADD_FAILURE() << "an illegal address";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()).find("cuda device 0: cuMemAlloc of 64.0 MiB: "), 0U)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("700"), std::string::npos) << error.what();
  }
}

TEST_F(Torch, FreedMemoryWaitsForARecordedStream) {
  auto bench = CudaWorkbench::open(EBB_FAKE_CUDA);
  ASSERT_TRUE(bench) << bench.error().message;
  const auto traits = (*bench)->traits(false);
  void* side = (*bench)->stream;
  void* memory = ebb_torch_alloc(kMiB, 0, nullptr);
  traits.hold(0, reinterpret_cast<std::uintptr_t>(side));
  ebb_torch_record_stream(memory, side);
  ebb_torch_record_stream(nullptr, side);
  int elsewhere = 0;
  ebb_torch_record_stream(&elsewhere, side);
  ebb_torch_free(memory, kMiB, 0, nullptr);
  EXPECT_EQ(stat("active.all.current"), 1);
  void* other = ebb_torch_alloc(kMiB, 0, nullptr);
  EXPECT_NE(other, memory) << "the side stream still uses it";
  traits.let_go(0, reinterpret_cast<std::uintptr_t>(side));
  ebb_torch_free(other, kMiB, 0, nullptr);
  void* again = ebb_torch_alloc(kMiB, 0, nullptr);
  EXPECT_EQ(stat("active.all.current"), 1);
  ebb_torch_free(again, kMiB, 0, nullptr);
}

TEST_F(Torch, BaseAllocIsTheSegment) {
  void* first = ebb_torch_alloc(512, 1, nullptr);
  void* second = ebb_torch_alloc(512, 1, nullptr);
  std::size_t size = 0;
  EXPECT_EQ(ebb_torch_base_alloc(second, &size), first);
  EXPECT_EQ(size, 2 * kMiB);
  EXPECT_EQ(ebb_torch_base_alloc(second, nullptr), first);
  size = 7;
  EXPECT_EQ(ebb_torch_base_alloc(&size, &size), &size) << "not ours: its own base";
  EXPECT_EQ(size, 7U);
  ebb_torch_free(first, 512, 1, nullptr);
  ebb_torch_free(second, 512, 1, nullptr);
}

TEST_F(Torch, SegmentsForAMemPoolComeFromTheDriver) {
  void* segment = ebb_torch_segment_alloc(20 * kMiB, 0, nullptr);
  ASSERT_NE(segment, nullptr) << ebb_last_error();
  EXPECT_EQ(stat("reserved_bytes.all.current"), 0) << "not in Ebb's cache";
  EXPECT_EQ(ebb_torch_segment_alloc(4096 * kMiB, 0, nullptr), nullptr) << "PyTorch's to handle";
  EXPECT_EQ(ebb_torch_segment_alloc(0, 0, nullptr), nullptr);
  const std::uint64_t freed = calls_of("cuMemFree");
  ebb_torch_segment_free(segment, 20 * kMiB, 0, nullptr);
  ebb_torch_segment_free(nullptr, 0, 0, nullptr);
  EXPECT_EQ(calls_of("cuMemFree"), freed + 1);
}

TEST_F(Torch, AFractionOfOneLiftsTheLimitAgain) {
  ebb_torch_memory_fraction(0.125, 0);
  EXPECT_THROW(ebb_torch_alloc(200 * kMiB, 0, nullptr), std::runtime_error);
  ebb_torch_memory_fraction(1, 0);
  ebb_torch_free(ebb_torch_alloc(200 * kMiB, 0, nullptr), 200 * kMiB, 0, nullptr);
}

TEST_F(Torch, StatisticsHavePyTorchsKeys) {
  const auto parsed = ebb::base::parse_json(ebb::torch::stats());
  ASSERT_TRUE(parsed && parsed->is_object());
  EXPECT_EQ(parsed->as_object()->size(), 122U) << "of 2.11";
  for (const char* key :
       {"active.all.allocated", "allocated_bytes.large_pool.peak", "allocation.small_pool.freed",
        "inactive_split_bytes.all.current", "max_split_size", "num_alloc_retries",
        "num_device_alloc", "num_ooms", "num_sync_all_streams", "oversize_segments.peak",
        "requested_bytes.all.current", "reserved_bytes.all.peak", "segment.large_pool.current"}) {
    EXPECT_NE(parsed->find(key), nullptr) << key;
  }
  EXPECT_TRUE(std::is_sorted(parsed->as_object()->begin(), parsed->as_object()->end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; }));
  EXPECT_NE(ebb::torch::summary().find("PyTorch CUDA memory summary, device ID 0"),
            std::string::npos);
}

TEST_F(Torch, PeaksStartAgainFromWhatIsInUse) {
  { const ebb::torch::Memory big(100 * kMiB); }
  const ebb::torch::Memory small(512);
  EXPECT_GE(stat("allocated_bytes.all.peak"), std::int64_t{100 * kMiB});
  ASSERT_EQ(ebb_torch_reset_peak_stats(0), EBB_OK);
  EXPECT_EQ(stat("allocated_bytes.all.peak"), 512);
}

TEST_F(Torch, ACleanupThatAsksForItEmptiesTheCache) {
  { const ebb::torch::Memory cached(100 * kMiB); }
  ASSERT_EQ(ebb_cleanup(0, nullptr), EBB_OK);
  EXPECT_EQ(stat("reserved_bytes.all.current"), std::int64_t{100 * kMiB});
  char* report = nullptr;
  ASSERT_EQ(ebb_call("cleanup", R"({"cuda_empty_cache":true})", &report), EBB_OK);
  EXPECT_EQ(stat("reserved_bytes.all.current"), 0);
  EXPECT_NE(std::string(report).find("ebb torch cache"), std::string::npos) << report;
  EXPECT_NE(std::string(report).find("100.0 MiB of device memory given back"), std::string::npos)
      << report;
  EXPECT_NE(std::string(report).find(R"("devices":[{"device":0,"before_bytes":104857600,)"
                                     R"("after_bytes":0,"returned_bytes":104857600}])"),
            std::string::npos)
      << report;
  ebb_free(report);
}

TEST_F(Torch, ASnapshotIsAPickleWithPyTorchsStructure) {
  ebb::torch::record_history(1000);
  const ebb::torch::Memory small(1000);
  const ebb::torch::Memory large(30 * kMiB, 1);
  const ebb::support::TemporaryDirectory folder;
  const std::string path = folder / "snapshot.pickle";
  ebb::torch::snapshot(path);
  const auto checked = ebb::support::run({"python3", EBB_SNAPSHOT_CHECK, path});
  EXPECT_EQ(checked.status, 0) << checked.output << checked.error;
  EXPECT_EQ(checked.output,
            "segment 0 2097152 small inactive,active_allocated\n"
            "segment 1 31457280 large active_allocated\n"
            "trace 0 segment_alloc,alloc\n"
            "trace 1 segment_alloc,alloc\n");
  EXPECT_EQ(ebb_torch_snapshot((folder / "no/such/folder/x").c_str()), EBB_NOT_FOUND);
  EXPECT_EQ(ebb_torch_snapshot(nullptr), EBB_BAD_INPUT);
}

TEST_F(Torch, ManyThreadsMayCallAtOnce) {
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    threads.emplace_back([seed] {
      std::mt19937 random(seed);
      const int device = static_cast<int>(seed % 2);
      std::vector<std::pair<unsigned char*, std::size_t>> live;
      for (int i = 0; i < 2000; ++i) {
        if (live.size() < 20 && random() % 2 == 0) {
          const std::size_t size = 1 + random() % (64 << 10);
          auto* memory = static_cast<unsigned char*>(ebb_torch_alloc(size, device, nullptr));
          std::memset(memory, static_cast<int>(seed), size);
          live.emplace_back(memory, size);
        } else if (!live.empty()) {
          const auto [memory, size] = live.back();
          live.pop_back();
          EXPECT_TRUE(std::all_of(memory, memory + size, [seed](unsigned char byte) {
            return byte == seed;
          })) << "two owners of one block";
          ebb_torch_free(memory, size, device, nullptr);
        }
        if (i % 500 == 0) {
          EXPECT_EQ(ebb_cleanup(1, nullptr), EBB_OK);
        }
      }
      for (const auto& [memory, size] : live) {
        ebb_torch_free(memory, size, device, nullptr);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(Torch, TellsItsDevicesToGuardsWhichEmptyTheCache) {
  const std::size_t size = 700 * kMiB;
  void* memory = ebb_torch_alloc(size, 0, nullptr);
  const ebb_levels levels = ebb::memory_levels(card_bounds(EBB_NO_ROUND));
  ASSERT_EQ(levels.gpu_count, 1U) << "the other device is not in use";
  EXPECT_EQ(levels.gpus[0].device, 0U);
  EXPECT_GT(levels.gpus[0].percent, 60);
  EXPECT_GE(levels.gpus[0].held_bytes, size);
  EXPECT_EQ(levels.gpus[0].cached_bytes, levels.gpus[0].held_bytes - size);
  EXPECT_FALSE(ebb::guard(card_bounds(0)).report) << "all of it is in use";
  ebb_torch_free(memory, size, 0, nullptr);
  const ebb::GuardedLevels guarded = ebb::guard(card_bounds(1));
  EXPECT_EQ(guarded.levels.level, EBB_LEVEL_CRITICAL);
  ASSERT_TRUE(guarded.report);
  EXPECT_GE(guarded.report->device_returned_bytes, size);
  EXPECT_EQ(stat("reserved_bytes.all.current"), 0);
}

}  // namespace
