// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "ebb/ebb.h"
#include "ebb/ebb.hpp"

namespace {

ebb_cleanup_report empty_report() {
  ebb_cleanup_report report{};
  report.struct_size = sizeof report;
  return report;
}

TEST(Capi, NamesTheAllocatorOnceAndForAll) {
  const std::set<std::string> all{"glibc", "jemalloc", "tcmalloc", "mimalloc", "musl", "unknown"};
  EXPECT_TRUE(all.contains(ebb_allocator()));
  EXPECT_EQ(ebb_allocator(), ebb_allocator()) << "the same text, not looked up again";
  EXPECT_TRUE(
      (std::set<std::string>{"glibc", "jemalloc", "unknown"}.contains(ebb_allocator_nvflare())));
}

TEST(Capi, TrimAnswersOneZeroOrMinusOne) {
  const int answer = ebb_trim();
  EXPECT_TRUE(answer == 1 || answer == 0 || answer == -1) << answer;
  EXPECT_EQ(answer == -1, std::string(ebb_allocator()) == "unknown");
}

TEST(Capi, CleanupReportsWhatItMeasured) {
  ebb_cleanup_report report = empty_report();
  ASSERT_EQ(ebb_cleanup(0, &report), EBB_OK);
  EXPECT_EQ(report.struct_size, sizeof report);
  EXPECT_GT(report.rss_before_bytes, 0U);
  EXPECT_GT(report.rss_after_bytes, 0U);
  EXPECT_GE(report.seconds, 0.0);
  EXPECT_EQ(report.disabled, 0);
  EXPECT_EQ(ebb_cleanup(1, nullptr), EBB_OK) << "a report is not demanded";
}

TEST(Capi, WritesOnlyWhatTheCallersStructHas) {
  struct {
    ebb_cleanup_report report;
    unsigned char behind[64];
  } memory;
  std::memset(&memory, 0xAB, sizeof memory);
  memory.report.struct_size = offsetof(ebb_cleanup_report, rss_after_bytes);
  ASSERT_EQ(ebb_cleanup(0, &memory.report), EBB_OK);
  EXPECT_GT(memory.report.rss_before_bytes, 0U);
  EXPECT_EQ(memory.report.rss_after_bytes, 0xABABABABABABABABU)
      << "an older caller has no such field";
  EXPECT_EQ(memory.report.struct_size, offsetof(ebb_cleanup_report, rss_after_bytes));
  memory.report.struct_size = 4096;
  ASSERT_EQ(ebb_cleanup(0, &memory.report), EBB_OK);
  EXPECT_EQ(memory.behind[0], 0xAB) << "a newer caller's extra fields are left alone";
}

TEST(Capi, AForgottenStructSizeIsAnErrorThatSaysSo) {
  ebb_cleanup_report report{};
  EXPECT_EQ(ebb_cleanup(0, &report), EBB_BAD_INPUT);
  EXPECT_NE(std::string(ebb_last_error()).find("struct_size"), std::string::npos);
  ebb_memory_info info{};
  EXPECT_EQ(ebb_read_memory(&info), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_read_memory(nullptr), EBB_BAD_INPUT);
}

TEST(Capi, LastErrorBelongsToTheThread) {
  ASSERT_EQ(ebb_hook_remove(987654321), EBB_NOT_FOUND);
  EXPECT_STREQ(ebb_last_error(), "no hook with id 987654321");
  std::thread([] { EXPECT_STREQ(ebb_last_error(), ""); }).join();
}

TEST(Capi, ReadsMemoryAndLevel) {
  ebb_memory_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(ebb_read_memory(&info), EBB_OK) << ebb_last_error();
  EXPECT_GT(info.rss_bytes, 0U);
  EXPECT_GT(info.limit_bytes, info.rss_bytes);
  EXPECT_GT(ebb_rss(), 0U);
  int level = -1;
  ASSERT_EQ(ebb_memory_level(85, 90, &level), EBB_OK);
  EXPECT_TRUE(level >= EBB_LEVEL_NORMAL && level <= EBB_LEVEL_CRITICAL);
  EXPECT_EQ(ebb_memory_level(90, 85, &level), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_memory_level(0, 85, &level), EBB_BAD_INPUT);
}

TEST(Capi, ReadsCpuUseSinceThePreviousReading) {
  ebb_memory_info first{};
  first.struct_size = sizeof first;
  ASSERT_EQ(ebb_read_memory(&first), EBB_OK) << ebb_last_error();
  ASSERT_TRUE((first.known & EBB_KNOWS_CPU) != 0 && (first.known & EBB_KNOWS_MACHINE_CPU) != 0);
  const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 5;
  while (std::clock() < end) {
  }
  ebb_memory_info busy{};
  busy.struct_size = sizeof busy;
  ASSERT_EQ(ebb_read_memory(&busy), EBB_OK);
  EXPECT_GT(busy.cpu_percent, 0);
  EXPECT_GE(busy.machine_cpu_percent, 0);
  EXPECT_LE(busy.machine_cpu_percent, 100);
}

TEST(Capi, AnEarlierCallersStructIsNotOverrun) {
  ebb_memory_info info;
  std::memset(&info, 0x5a, sizeof info);
  info.struct_size = offsetof(ebb_memory_info, cpu_percent);
  ASSERT_EQ(ebb_read_memory(&info), EBB_OK) << ebb_last_error();
  EXPECT_GT(info.limit_bytes, 0U);
  EXPECT_LE(info.percent, 100);
  std::uint64_t after = 0;
  std::memcpy(&after, &info.cpu_percent, sizeof after);
  EXPECT_EQ(after, 0x5a5a5a5a5a5a5a5aU) << "what it has no room for is not written";
}

TEST(Capi, GuardCleansWhenMemoryIsCritical) {
  int level = -1;
  ebb_cleanup_report report = empty_report();
  ASSERT_EQ(ebb_guard(1e-9, 1e-9, &level, &report), EBB_OK) << ebb_last_error();
  EXPECT_EQ(level, EBB_LEVEL_CRITICAL);
  EXPECT_GT(report.rss_before_bytes, 0U);
  ASSERT_EQ(ebb_guard(99.99, 100, &level, &report), EBB_OK);
  EXPECT_EQ(level, EBB_LEVEL_NORMAL);
  EXPECT_EQ(report.rss_before_bytes, 0U) << "nothing was cleaned";
  EXPECT_EQ(ebb_guard(50, 40, &level, &report), EBB_BAD_INPUT);
}

/// A GPU of 100 GiB, 1 GiB of which is free: told by a hook, emptied by another.
struct FullGpu {
  static constexpr std::uint64_t kGiB = 1ULL << 30;

  FullGpu() {
    EXPECT_EQ(ebb_hook_add("gpu", EBB_STAGE_DEVICE_READING, &tell, this, &ids[0]), EBB_OK);
    EXPECT_EQ(ebb_hook_add("gpu cache", EBB_STAGE_DEVICE_CACHE, &empty, this, &ids[1]), EBB_OK);
  }
  ~FullGpu() {
    for (const std::uint64_t id : ids)
      EXPECT_EQ(ebb_hook_remove(id), EBB_OK);
  }
  static int tell(void* self, std::uint64_t*) {
    const std::uint64_t held = static_cast<FullGpu*>(self)->held;
    return ebb_hook_device_memory(3, 100 * kGiB, 100 * kGiB - held, held, held - 60 * kGiB);
  }
  static int empty(void* self, std::uint64_t*) {
    auto* gpu = static_cast<FullGpu*>(self);
    const std::uint64_t before = std::exchange(gpu->held, 60 * kGiB);
    ++gpu->emptied;
    return ebb_hook_device(3, before, gpu->held);
  }

  std::uint64_t held = 99 * kGiB;
  int emptied = 0;
  std::uint64_t ids[2] = {};
};

ebb_bounds bounds_of_a_round(std::uint64_t round) {
  ebb_bounds bounds = ebb::bounds();
  bounds.warn_percent = 99.9;
  bounds.critical_percent = 100;
  bounds.round = round;
  return bounds;
}

TEST(Capi, DefaultBoundsAreThoseOfTheDocumentation) {
  const ebb_bounds bounds = ebb::bounds();
  EXPECT_EQ(bounds.warn_percent, 85);
  EXPECT_EQ(bounds.critical_percent, 90);
  EXPECT_EQ(bounds.gpu_warn_percent, 90);
  EXPECT_EQ(bounds.gpu_critical_percent, 97);
  EXPECT_EQ(bounds.headroom_bytes, 0U);
  EXPECT_EQ(bounds.round, EBB_NO_ROUND);
  ebb_bounds small{};
  EXPECT_EQ(ebb_default_bounds(&small), EBB_BAD_INPUT);
}

TEST(Capi, LevelsAreThoseOfRamAndGpus) {
  const FullGpu gpu;
  ebb_bounds bounds = bounds_of_a_round(EBB_NO_ROUND);
  const ebb_levels levels = ebb::memory_levels(bounds);
  EXPECT_EQ(levels.ram_level, EBB_LEVEL_NORMAL);
  EXPECT_GT(levels.ram_percent, 0);
  EXPECT_EQ(levels.level, EBB_LEVEL_CRITICAL) << "the highest";
  ASSERT_EQ(levels.gpu_count, 1U);
  EXPECT_EQ(levels.gpus[0].device, 3U);
  EXPECT_EQ(levels.gpus[0].level, EBB_LEVEL_CRITICAL);
  EXPECT_DOUBLE_EQ(levels.gpus[0].percent, 99);
  EXPECT_EQ(levels.gpus[0].known, EBB_KNOWS_DEVICE_CACHE);
  EXPECT_EQ(levels.gpus[0].cached_bytes, 39 * FullGpu::kGiB);
  EXPECT_STREQ(levels.gpu_trouble, "");
  bounds.gpu_critical_percent = 99.5;
  EXPECT_EQ(ebb::memory_levels(bounds).level, EBB_LEVEL_WARN);
  EXPECT_EQ(gpu.emptied, 0) << "reading changes nothing";
}

TEST(Capi, AGpuThatIsNotKnownHasNoNumbers) {
  const ebb_levels levels = ebb::memory_levels();
  for (std::uint32_t i = 0; i < levels.gpu_count; ++i)
    EXPECT_EQ(levels.gpus[i].known, 0U) << "this process holds nothing of it";
  if (levels.gpu_count == 0) {
    EXPECT_STRNE(levels.gpu_trouble, "");
    EXPECT_EQ(levels.level, levels.ram_level);
  }
}

TEST(Capi, GuardEmptiesDeviceCachesAtTheEndOfRounds) {
  FullGpu gpu;
  EXPECT_FALSE(ebb::guard(bounds_of_a_round(EBB_NO_ROUND)).report);
  const ebb::GuardedLevels guarded = ebb::guard(bounds_of_a_round(7));
  EXPECT_EQ(guarded.levels.level, EBB_LEVEL_CRITICAL);
  ASSERT_TRUE(guarded.report);
  EXPECT_EQ(guarded.report->device_returned_bytes, 39 * FullGpu::kGiB);
  EXPECT_EQ(gpu.emptied, 1);
  EXPECT_FALSE(ebb::guard(bounds_of_a_round(8)).report);
  ebb_bounds room = bounds_of_a_round(9);
  room.headroom_bytes = 20 * FullGpu::kGiB;
  gpu.held = 90 * FullGpu::kGiB;
  EXPECT_TRUE(ebb::guard(room).report) << "headroom";
  gpu.held = 90 * FullGpu::kGiB;
  room.round = EBB_NO_ROUND;
  EXPECT_FALSE(ebb::guard(room).report) << "not between rounds";
}

TEST(Capi, RefusesBoundsThatAreNotInOrder) {
  ebb_bounds bounds = ebb::bounds();
  bounds.gpu_warn_percent = 98;
  EXPECT_THROW(ebb::memory_levels(bounds), ebb::Error);
  EXPECT_THROW(ebb::guard(bounds), ebb::Error);
  EXPECT_NE(std::string(ebb_last_error()).find("GPU"), std::string::npos) << ebb_last_error();
  bounds.struct_size = 8;
  ebb_levels levels{};
  levels.struct_size = sizeof levels;
  EXPECT_EQ(ebb_memory_levels(&bounds, &levels), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_memory_levels(nullptr, &levels), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_memory_levels(&bounds, nullptr), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_hook_device_memory(0, 1, 1, 1, 1), EBB_BAD_INPUT) << "outside of a hook";
}

int count_calls(void* context, std::uint64_t* count) {
  ++*static_cast<int*>(context);
  *count = 7;
  return 0;
}

TEST(Capi, FreedMemoryGoesBackAtOnceUntilThatEnds) {
  int changed = -1;
  ASSERT_EQ(ebb_give_back_at_once(1, &changed), EBB_OK);
  const bool has_switch = std::string(ebb_allocator()) != "unknown";
  EXPECT_EQ(changed, has_switch ? 1 : 0);
  ASSERT_EQ(ebb_give_back_at_once(1, &changed), EBB_OK);
  EXPECT_EQ(changed, 0) << "it was so already";
  ASSERT_EQ(ebb_guard(99.9, 100, nullptr, nullptr), EBB_OK);
  ASSERT_EQ(ebb_give_back_at_once(1, &changed), EBB_OK);
  EXPECT_EQ(changed, 0) << "a level that is normal does not end it";
  ASSERT_EQ(ebb_give_back_at_once(0, &changed), EBB_OK);
  EXPECT_EQ(changed, has_switch ? 1 : 0);
  EXPECT_EQ(ebb_give_back_at_once(0, nullptr), EBB_OK);
}

TEST(Capi, SumsTensorsInAnyOrder) {
  const float first[] = {1, 1e30F, -3};
  const double second[] = {2, -1e30F, 0.5};
  float means[2][3];
  for (int order = 0; order < 2; ++order) {
    ebb_sum* sum = nullptr;
    ASSERT_EQ(ebb_sum_create(3, &sum), EBB_OK);
    for (int i = 0; i < 2; ++i) {
      const int code = (i == 0) == (order == 0) ? ebb_sum_add(sum, EBB_FLOAT32, first, 2)
                                                : ebb_sum_add(sum, EBB_FLOAT64, second, 1);
      ASSERT_EQ(code, EBB_OK);
    }
    ebb_sum_report report{};
    report.struct_size = sizeof report;
    ASSERT_EQ(ebb_sum_info(sum, &report), EBB_OK);
    EXPECT_EQ(report.elements, 3U);
    EXPECT_EQ(report.additions, 2U);
    EXPECT_EQ(report.weight, 3);
    EXPECT_GE(report.bytes, 24U);
    ASSERT_EQ(ebb_sum_mean(sum, EBB_FLOAT32, means[order], 1), EBB_OK);
    ebb_sum_destroy(sum);
  }
  EXPECT_EQ(std::memcmp(means[0], means[1], sizeof means[0]), 0);
  EXPECT_EQ(means[0][0], static_cast<float>(4.0 / 3));
  EXPECT_EQ(means[0][2], static_cast<float>(-5.5 / 3));
}

TEST(Capi, RefusesSumsThatCannotBe) {
  ebb_sum* sum = nullptr;
  ASSERT_EQ(ebb_sum_create(2, &sum), EBB_OK);
  const float values[] = {1, std::numeric_limits<float>::infinity()};
  float mean[2];
  EXPECT_EQ(ebb_sum_check(EBB_FLOAT32, 1, values), EBB_OK);
  EXPECT_EQ(ebb_sum_check(EBB_FLOAT32, 2, values), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_sum_add(sum, EBB_FLOAT32, values, 1), EBB_BAD_INPUT);
  EXPECT_NE(std::string(ebb_last_error()).find("element 1 is inf"), std::string::npos);
  EXPECT_EQ(ebb_sum_add(sum, 17, values, 1), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_sum_add(sum, EBB_FLOAT32, nullptr, 1), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_sum_add(nullptr, EBB_FLOAT32, values, 1), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_sum_mean(sum, EBB_FLOAT32, mean, 0), EBB_BAD_INPUT) << "no weight yet";
  EXPECT_EQ(ebb_sum_mean(sum, EBB_INT8, mean, 0), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_sum_info(sum, nullptr), EBB_BAD_INPUT);
  ebb_sum_report small{};
  EXPECT_EQ(ebb_sum_info(sum, &small), EBB_BAD_INPUT) << "struct_size is not set";
  EXPECT_EQ(ebb_sum_create(1, nullptr), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_sum_create(std::numeric_limits<uint64_t>::max(), &sum), EBB_BAD_INPUT);
  ebb_sum_destroy(sum);
  ebb_sum_destroy(nullptr);
}

TEST(Capi, HooksRunAndGo) {
  int collected = 0;
  int emptied = 0;
  std::uint64_t collector = 0;
  std::uint64_t cache = 0;
  ASSERT_EQ(ebb_hook_add("gc", EBB_STAGE_COLLECTOR, count_calls, &collected, &collector), EBB_OK);
  ASSERT_EQ(ebb_hook_add("cuda", EBB_STAGE_DEVICE_CACHE, count_calls, &emptied, &cache), EBB_OK);
  ebb_cleanup(0, nullptr);
  ebb_cleanup(1, nullptr);
  EXPECT_EQ(collected, 2);
  EXPECT_EQ(emptied, 1);
  EXPECT_EQ(ebb_hook_remove(collector), EBB_OK);
  EXPECT_EQ(ebb_hook_remove(cache), EBB_OK);
  ebb_cleanup(1, nullptr);
  EXPECT_EQ(collected, 2);
  EXPECT_EQ(ebb_hook_add(nullptr, 0, count_calls, nullptr, nullptr), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_hook_add("x", 9, count_calls, nullptr, nullptr), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_hook_add("x", 0, nullptr, nullptr, nullptr), EBB_BAD_INPUT);
}

TEST(Capi, HooksTellWhatTheyGaveBackOfDevices) {
  const ebb_hook empty_two = [](void*, std::uint64_t*) {
    return ebb_hook_device(1, 500, 100) == EBB_OK && ebb_hook_device(0, 30, 10) == EBB_OK ? 0 : 1;
  };
  std::uint64_t hook = 0;
  ASSERT_EQ(ebb_hook_add("cuda", EBB_STAGE_DEVICE_CACHE, empty_two, nullptr, &hook), EBB_OK);
  ebb_cleanup_report report = empty_report();
  ASSERT_EQ(ebb_cleanup(1, &report), EBB_OK);
  EXPECT_EQ(report.device_returned_bytes, 420U);
  char* json = nullptr;
  ASSERT_EQ(ebb_call("cleanup", R"({"cuda_empty_cache": true})", &json), EBB_OK);
  EXPECT_NE(std::string(json).find(R"("devices":[{"device":0,"before_bytes":30,"after_bytes":10,)"
                                   R"("returned_bytes":20},{"device":1,)"),
            std::string::npos)
      << json;
  ebb_free(json);
  ASSERT_EQ(ebb_cleanup(0, &report), EBB_OK);
  EXPECT_EQ(report.device_returned_bytes, 0U) << "nobody asked for device caches";
  EXPECT_EQ(ebb_hook_remove(hook), EBB_OK);
  EXPECT_EQ(ebb_hook_device(0, 1, 0), EBB_BAD_INPUT) << "outside of a hook";
}

TEST(Capi, KeeperFiresOnItsRounds) {
  ebb_keeper_options options{};
  options.struct_size = sizeof options;
  options.role = "server";
  options.rounds = EBB_ROUNDS_EVERY;
  options.every = 2;
  ebb_keeper* keeper = nullptr;
  ASSERT_EQ(ebb_keeper_create(&options, &keeper), EBB_OK) << ebb_last_error();
  int fired = 0;
  for (int i = 0; i < 4; ++i) {
    int cleaned = -1;
    ebb_cleanup_report report = empty_report();
    ASSERT_EQ(ebb_keeper_round_done(keeper, &cleaned, &report), EBB_OK);
    fired += cleaned;
    EXPECT_EQ(report.rss_before_bytes > 0, cleaned == 1);
  }
  EXPECT_EQ(fired, 2);
  ebb_keeper_destroy(keeper);
  ebb_keeper_destroy(nullptr);
}

TEST(Capi, KeeperRefusesWhatNvflareRefuses) {
  ebb_keeper* keeper = nullptr;
  ebb_keeper_options options{};
  options.struct_size = sizeof options;
  options.role = "server";
  options.rounds = EBB_ROUNDS_EVERY;
  options.every = -1;
  EXPECT_EQ(ebb_keeper_create(&options, &keeper), EBB_BAD_INPUT);
  EXPECT_NE(std::string(ebb_last_error()).find("-1"), std::string::npos);
  options.every = 1;
  options.role = "chef";
  EXPECT_EQ(ebb_keeper_create(&options, &keeper), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_keeper_round_done(nullptr, nullptr, nullptr), EBB_BAD_INPUT);
  EXPECT_EQ(keeper, nullptr);
  options.role = nullptr;
  EXPECT_EQ(ebb_keeper_create(&options, &keeper), EBB_OK) << "this process's own";
  ebb_keeper_destroy(keeper);
}

TEST(Capi, AKeeperWithoutARoleTakesTheEnvironments) {
  ebb_keeper* keeper = nullptr;
  ebb_keeper_options options{};
  options.struct_size = sizeof options;
  options.cuda_empty_cache = -1;
  ASSERT_EQ(ebb_keeper_create(&options, &keeper), EBB_OK) << ebb_last_error();
  int cleaned = 0;
  ASSERT_EQ(ebb_keeper_round_done(keeper, &cleaned, nullptr), EBB_OK);
  EXPECT_EQ(cleaned, 1) << "a trainer's: after every round";
  ebb_keeper_destroy(keeper);
}

TEST(Capi, MarksRssInNvflaresFormat) {
  char text[128];
  ASSERT_EQ(ebb_rss_marker("CA", "site-1", nullptr, 3, "recv", text, sizeof text), EBB_OK);
  EXPECT_EQ(std::string(text).find("[RSS] CA s=site-1 r=3 recv: "), 0U);
  EXPECT_EQ(ebb_rss_marker("XX", "s", nullptr, 0, "recv", text, sizeof text), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_rss_marker("CA", "s", nullptr, 0, "recv", text, 5), EBB_BAD_INPUT);
  ASSERT_EQ(ebb_rss_marker("CJ", "s", "train", EBB_NO_ROUND, "relay", text, sizeof text), EBB_OK);
  EXPECT_EQ(std::string(text).find("[RSS] CJ s=s t=train r=None relay: "), 0U);
}

TEST(Capi, MarksNothingThatNobodyAskedFor) {
  char text[128] = "before";
  ASSERT_EQ(ebb_mark_rss("server", "SV", "server", nullptr, 3, "end", text, sizeof text), EBB_OK);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(ebb_mark_rss("chef", "SV", "server", nullptr, 3, "end", text, sizeof text),
            EBB_BAD_INPUT);
  EXPECT_EQ(ebb_mark_rss("server", "SV", "server", nullptr, 3, "end", nullptr, 0), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_memory_profile_of("server"), 0);
  EXPECT_EQ(ebb_memory_profile_of("chef"), 0);
}

TEST(Capi, CallsVerbsWithJson) {
  char* result = nullptr;
  ASSERT_EQ(ebb_call("info", "{}", &result), EBB_OK) << ebb_last_error();
  EXPECT_NE(std::string(result).find("\"rss_bytes\":"), std::string::npos);
  ebb_free(result);
  ASSERT_EQ(ebb_call("cleanup", R"({"deep":true})", &result), EBB_OK);
  EXPECT_NE(std::string(result).find("\"returned_bytes\":"), std::string::npos);
  ebb_free(result);
  ASSERT_EQ(ebb_call("env", R"({"role":"server"})", &result), EBB_OK);
  EXPECT_NE(std::string(result).find("MALLOC_ARENA_MAX"), std::string::npos);
  ebb_free(result);
  for (const auto& [verb, arguments] :
       {std::pair{"nonsense", "{}"}, std::pair{"info", "[]"}, std::pair{"info", "{"},
        std::pair{"info", R"({"pid":"x"})"}, std::pair{"env", R"({"role":"chef"})"},
        std::pair{"cleanup", R"({"deep":1})"},
        std::pair{"cleanup", R"({"collect_garbage":"no"})"}}) {
    EXPECT_EQ(ebb_call(verb, arguments, &result), EBB_BAD_INPUT) << verb << arguments;
  }
}

TEST(Capi, DiagnosesMemoryStats) {
  char* result = nullptr;
  ASSERT_EQ(ebb_call("doctor", R"({"stats": {"allocated_bytes": {"all": {"current": 0, "peak": 0}},
                                   "reserved_bytes": {"all": {"current": 0, "peak": 0}}}})",
                     &result),
            EBB_OK)
      << ebb_last_error();
  EXPECT_NE(std::string(result).find(R"("verdict":"healthy")"), std::string::npos) << result;
  ebb_free(result);
  EXPECT_EQ(ebb_call("doctor", R"({"stats": {}})", &result), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_call("doctor", R"({"stats": {}, "snapshot": "x"})", &result), EBB_BAD_INPUT);
}

TEST(Capi, ReplaysTunesAndDiagnosesARecordedJob) {
  const std::string snapshot = EBB_TEST_DATA "/torch-2.11/runs/prefetch_streams.default.pickle.gz";
  char* result = nullptr;
  const auto call = [&](const char* verb, const std::string& more) {
    const std::string arguments = R"({"snapshot":")" + snapshot + "\"" + more + "}";
    EXPECT_EQ(ebb_call(verb, arguments.c_str(), &result), EBB_OK) << ebb_last_error();
    const std::string text = result;
    ebb_free(result);
    return text;
  };
  EXPECT_NE(call("replay", R"(,"conf":["","expandable_segments:True"],"cap":"1GiB")")
                .find(R"("peak_reserved_bytes":568328192)"),
            std::string::npos);
  EXPECT_NE(call("tune", R"(,"objective":"memory","torch_version":"2.11")")
                .find(R"("lower_bound_bytes":468076032)"),
            std::string::npos);
  EXPECT_NE(call("doctor", R"(,"cap":456130560)").find(R"("verdict":"capacity")"),
            std::string::npos);
  for (const auto& [verb, arguments] :
       {std::pair{"replay", "{}"}, std::pair{"tune", R"({"snapshot":"/no/such/file"})"},
        std::pair{"doctor", R"({"snapshot":7})"},
        std::pair{"replay", R"({"snapshot":"x","cap":"lots"})"},
        std::pair{"replay", R"({"snapshot":"x","torch_version":"9"})"},
        std::pair{"replay", R"({"snapshot":"x","device":-1})"},
        std::pair{"replay", R"({"snapshot":"x","driver_model":"sideways"})"}}) {
    EXPECT_NE(ebb_call(verb, arguments, &result), EBB_OK) << verb << arguments;
  }
}

/// The answer of the verb plan; empty where it has none.
std::string planned(const std::string& arguments) {
  char* result = nullptr;
  if (ebb_call("plan", arguments.c_str(), &result) != EBB_OK) return "";
  std::string text = result;
  ebb_free(result);
  return text;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(Capi, PlansTheMemoryOfATrainingStep) {
  const std::string gpt2 = planned(R"({"transformer": {"preset": "gpt2", "batch": 4}})");
  EXPECT_TRUE(contains(gpt2, R"("weights_bytes":497759232)")) << gpt2 << ebb_last_error();
  EXPECT_TRUE(contains(gpt2, R"("peak_phase":"backward")"));
  const std::string small = planned(
      R"({"transformer": {"arch": "llama", "layers": 2, "d_model": 64, "heads": 4, "kv_heads": 2,
          "vocab": 100, "seq": 32, "dropout": 0.5, "untied": true, "cap": "1GiB", "fit": true}})");
  EXPECT_TRUE(contains(small, R"("fits":true)")) << small << ebb_last_error();
  const std::string network = planned(
      R"({"model": {"name": "ResNet18", "channels": 3, "size": 32, "batch": 8, "cap": 8589934592}})");
  EXPECT_TRUE(contains(network, R"("parameters":11173962)")) << network << ebb_last_error();
  EXPECT_TRUE(contains(network, R"("largest_batch":)"));
}

TEST(Capi, PlansABudgetByTheFormula) {
  const std::string seven = planned(R"({"budget": {"params": 7e9, "overhead": "0%"}})");
  EXPECT_TRUE(contains(seven, R"("total_bytes":112000000000)")) << seven << ebb_last_error();
  EXPECT_TRUE(contains(seven, R"("plan":null)")) << seven;
  const std::string gpt2 = planned(R"({"budget": {"model": "gpt2", "precision": "amp"}})");
  EXPECT_TRUE(contains(gpt2, R"("peak_phase":)")) << gpt2 << ebb_last_error();
}

TEST(Capi, CountsClientsByModelAndCard) {
  const std::string table =
      planned(R"({"clients": {"model": "CNN-MNIST", "card": ["T4", "24GiB"], "batch": 8}})");
  EXPECT_TRUE(contains(table, R"("card":"24GiB")")) << table << ebb_last_error();
}

TEST(Capi, CorrectsAPlanByARecordedStep) {
  const std::string network =
      planned(R"({"model": {"name": "LightCNN", "channels": 3, "size": 32, "batch": 512,
                  "measured": ")" EBB_TEST_DATA R"(/plan/h200-lightcnn-fp32.pickle.gz"}})");
  EXPECT_TRUE(contains(network, R"("measured_peak_bytes":601948160)")) << ebb_last_error();
}

TEST(Capi, RefusesPlansThatCannotBeUnderstood) {
  for (const auto& [arguments, part] :
       {std::pair{"{}", "expected {\"transformer\""},
        std::pair{R"({"transformer": {}, "model": {}})", "expected {\"transformer\""},
        std::pair{R"({"transformer": 7})", "expected {\"transformer\""},
        std::pair{R"({"transformer": {"preset": "gtp2"}})", "did you mean"},
        std::pair{R"({"transformer": {"preset": "gpt2", "bach": 4}})", "bach: no such argument"},
        std::pair{R"({"transformer": {"preset": "gpt2", "batch": "4"}})", "batch: \"4\", expected"},
        std::pair{R"({"transformer": {"preset": "gpt2", "batch": -4}})", "batch: -4, expected"},
        std::pair{R"({"transformer": {"preset": "gpt2", "zero": 99999}})", "zero 99999"},
        std::pair{R"({"transformer": {"preset": "gpt2", "tied": 1}})", "tied: 1, expected"},
        std::pair{R"({"transformer": {"preset": "gpt2", "cap": "lots"}})", "--cap"},
        std::pair{R"({"transformer": {"preset": "gpt2", "measured": "/none"}})", "/none"},
        std::pair{R"({"model": {}})", "name: expected"},
        std::pair{R"({"budget": {}})", "how many parameters?"},
        std::pair{R"({"budget": {"params": "7e9"}})", "params: \"7e9\", expected a number"},
        std::pair{R"({"model": {"name": "LightCNN", "size": 0}})", "picture"}}) {
    EXPECT_EQ(planned(arguments), "") << arguments;
    EXPECT_TRUE(contains(ebb_last_error(), part)) << arguments << ": " << ebb_last_error();
  }
}

TEST(Capi, NothingToWatchWithoutSystemd) {
  int watching = -1;
  ASSERT_EQ(ebb_watch_pressure(&watching), EBB_OK);
  EXPECT_EQ(watching, 0);
}

TEST(Capi, ManyThreadsMayCallAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 20; ++k) {
        EXPECT_EQ(ebb_cleanup(k % 2, nullptr), EBB_OK);
        ebb_trim();
        EXPECT_GT(ebb_rss(), 0U);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST(CapiCpp, OwnsHooksAndKeepers) {
  int calls = 0;
  {
    const ebb::Hook hook("mine", EBB_STAGE_CACHE, [&] {
      ++calls;
      return std::uint64_t{1};
    });
    const ebb_cleanup_report report = ebb::cleanup();
    EXPECT_GT(report.rss_before_bytes, 0U);
  }
  ebb::cleanup();
  EXPECT_EQ(calls, 1) << "the hook went with its owner";
  ebb::RoundKeeper keeper = ebb::RoundKeeper::every("client", 1);
  EXPECT_TRUE(keeper.round_done());
  EXPECT_FALSE(ebb::RoundKeeper::every("client", 0).round_done());
  EXPECT_THROW(ebb::RoundKeeper("chef"), ebb::Error);
  EXPECT_GT(ebb::read_memory().limit_bytes, 0U);
}

TEST(CapiCpp, ReadsGuardsAndTrims) {
  EXPECT_FALSE(ebb::allocator_nvflare().empty());
  EXPECT_EQ(ebb::trim().has_value(), ebb_trim() >= 0);
  EXPECT_THROW(ebb::memory_level(90, 85), ebb::Error);
  EXPECT_EQ(ebb::memory_level(1e-9, 1e-9), ebb::Level::critical);
  EXPECT_EQ(ebb::memory_level(100, 100), ebb::Level::normal);
  const ebb::Guarded calm = ebb::guard(100, 100);
  EXPECT_EQ(calm.level, ebb::Level::normal);
  EXPECT_FALSE(calm.report);
  const ebb::Guarded full = ebb::guard(1e-9, 1e-9);
  EXPECT_EQ(full.level, ebb::Level::critical);
  ASSERT_TRUE(full.report);
  EXPECT_GT(full.report->rss_before_bytes, 0U);
  ebb::guard(100, 100);
  const bool changed = ebb::give_back_at_once(true);
  EXPECT_FALSE(ebb::give_back_at_once(true)) << "it is so already";
  EXPECT_EQ(ebb::give_back_at_once(false), changed);
  EXPECT_FALSE(ebb::watch_pressure());
}

TEST(CapiCpp, KeepsNumberedRoundsAndTheDevicesCache) {
  int device_cache = 0;
  const ebb::Hook hook("device", EBB_STAGE_DEVICE_CACHE, [&] {
    ++device_cache;
    return std::uint64_t{0};
  });
  ebb::RoundKeeper keeper = ebb::RoundKeeper::every("server", 1, ebb::CudaEmptyCache::always);
  EXPECT_TRUE(keeper.round_done(0));
  EXPECT_FALSE(keeper.round_done(0)) << "a round counts once";
  EXPECT_TRUE(keeper.round_done(1));
  EXPECT_EQ(device_cache, 2);
  ebb::RoundKeeper other = ebb::RoundKeeper::every("client", 1, ebb::CudaEmptyCache::never);
  EXPECT_TRUE(other.round_done());
  EXPECT_EQ(device_cache, 2);
  ebb::announce_round(2);
  EXPECT_EQ(ebb::is_supervised(), ebb_is_supervised() != 0);
  EXPECT_EQ(ebb::memory_profile(), ebb_memory_profile() != 0);
  EXPECT_EQ(ebb::rss_marker("CA", "site-1", 3, "recv").find("[RSS] CA s=site-1 r=3 recv: "), 0U);
  EXPECT_THROW(ebb::rss_marker("XX", "s", 0, "recv"), ebb::Error);
}

TEST(CapiCpp, SumsTensors) {
  ebb::Sum sum(2);
  const float first[] = {1, 2};
  const double second[] = {3, 6};
  sum.add(first, 3);
  sum.add(second);
  EXPECT_EQ(sum.info().additions, 2U);
  EXPECT_DOUBLE_EQ(sum.info().weight, 4);
  float mean[2];
  sum.mean(mean);
  EXPECT_FLOAT_EQ(mean[0], 1.5F);
  EXPECT_FLOAT_EQ(mean[1], 3);
  const float wrong[] = {std::numeric_limits<float>::infinity(), 0};
  EXPECT_THROW(sum.add(wrong), ebb::Error);
  EXPECT_THROW(ebb::Sum::check(EBB_FLOAT32, 2, wrong), ebb::Error);
  ebb::Sum moved = std::move(sum);
  double exact[2];
  moved.mean(exact, true);
  EXPECT_DOUBLE_EQ(exact[1], 3);
}

TEST(CapiCpp, CallsVerbs) {
  EXPECT_NE(ebb::call("info").find("\"rss_bytes\":"), std::string::npos);
  EXPECT_THROW(ebb::call("dance"), ebb::Error);
}

}  // namespace
