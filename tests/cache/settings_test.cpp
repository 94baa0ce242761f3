// SPDX-License-Identifier: Apache-2.0
#include "cache/settings.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ebb::cache {
namespace {

using base::kMiB;

Settings parsed(const char* text, int minor = 11, const Settings& previous = {}) {
  const auto settings = parse_settings(text, *profile_of(minor), previous);
  EXPECT_TRUE(settings) << text << ": " << settings.error().message;
  return settings.value_or({});
}

std::string refused(const char* text, int minor = 11) {
  const auto settings = parse_settings(text, *profile_of(minor));
  EXPECT_FALSE(settings) << text;
  return settings ? "" : settings.error().message;
}

TEST(Settings, AreAllReadFromOneString) {
  const Settings s = parsed(
      " expandable_segments : True, max_split_size_mb:200,garbage_collection_threshold:0.8,"
      "roundup_power2_divisions:4,max_non_split_rounding_mb:50,release_lock_on_cudamalloc:True,"
      "graph_capture_record_stream_reuse:True,per_process_memory_fraction:0.5,backend:native,"
      "pinned_num_register_threads:8,large_segment_size_mb:30");
  EXPECT_TRUE(s.expandable_segments);
  EXPECT_EQ(s.max_split_size, 200 * kMiB);
  EXPECT_EQ(s.garbage_collection_threshold, 0.8);
  EXPECT_EQ(s.roundup_divisions[0], 4U);
  EXPECT_EQ(s.roundup_divisions[15], 4U);
  EXPECT_EQ(s.max_non_split_rounding, 50 * kMiB);
  EXPECT_TRUE(s.release_lock_on_cudamalloc);
  EXPECT_TRUE(s.graph_capture_record_stream_reuse);
  EXPECT_EQ(s.memory_fraction, 0.5);
  EXPECT_EQ(s.pinned_num_register_threads, 8U);
  EXPECT_EQ(s.large_segment_size, 30 * kMiB);
  EXPECT_FALSE(s.async_backend);
}

TEST(Settings, AnEmptyStringGivesTheDefaults) {
  const Settings s = parsed("");
  EXPECT_EQ(s.max_split_size, kUnlimited);
  EXPECT_EQ(s.large_segment_size, 20 * kMiB);
  EXPECT_EQ(s.max_non_split_rounding, 20 * kMiB);
  EXPECT_EQ(s.roundup_divisions[0] + s.roundup_divisions[15], 0U);
  EXPECT_EQ(s.garbage_collection_threshold, 0);
  EXPECT_EQ(s.memory_fraction, 1);
  EXPECT_EQ(s.pinned_num_register_threads, 1U);
  EXPECT_EQ(s.pinned_reserve_segment_size, 0U);
  EXPECT_EQ(s.pinned_max_round_threshold, kUnlimited);
  EXPECT_EQ(s.pinned_max_cached_size, kUnlimited);
  EXPECT_FALSE(s.expandable_segments || s.release_lock_on_cudamalloc ||
               s.graph_capture_record_stream_reuse || s.throw_on_cudamalloc_oom ||
               s.async_backend || s.pinned_use_cuda_host_register ||
               s.pinned_use_background_threads || s.pinned_free_catch_all || s.reserve_fraction ||
               s.reserve_bytes);
  EXPECT_EQ(s.text, "");
}

TEST(Settings, EveryKeyIsReadFromItsReleaseOnAndRefusedBefore) {
  const std::vector<std::pair<const char*, int>> keys = {
      {"backend:native", 1},
      {"max_split_size_mb:200", 1},
      {"roundup_power2_divisions:4", 1},
      {"garbage_collection_threshold:0.5", 1},
      {"expandable_segments:True", 1},
      {"release_lock_on_cudamalloc:True", 2},
      {"pinned_use_cuda_host_register:True", 2},
      {"pinned_num_register_threads:2", 2},
      {"max_non_split_rounding_mb:50", 6},
      {"pinned_use_background_threads:True", 6},
      {"graph_capture_record_stream_reuse:True", 9},
      {"per_process_memory_fraction:0.5", 10},
      {"pinned_reserve_segment_size_mb:16", 10},
      {"large_segment_size_mb:32", 11},
      {"throw_on_cudamalloc_oom:True", 12},
      {"pinned_free_catch_all:True", 12},
      {"pinned_max_round_threshold_mb:64", 13},
      {"pinned_max_cached_size_mb:64", 13},
      {"expandable_segments_reserve:0.5", 15},
      {"expandable_segments_reserve_by_class:[a:0.5]", 15},
  };
  for (const auto& [text, since] : keys) {
    for (const int minor : {since, 15})
      EXPECT_TRUE(parse_settings(text, *profile_of(minor))) << text << " in 2." << minor;
    if (since > 1) {
      EXPECT_NE(refused(text, since - 1).find("from 2." + std::to_string(since) + " on"),
                std::string::npos)
          << text;
    }
  }
}

TEST(Settings, SplitRoundingAndCollectionAreResetByEveryStringTheRestIsKept) {
  const Settings first = parsed(
      "expandable_segments:True,max_split_size_mb:200,garbage_collection_threshold:0.8,"
      "roundup_power2_divisions:4,max_non_split_rounding_mb:50");
  const Settings second = parsed("pinned_use_background_threads:True", 11, first);
  EXPECT_EQ(second.max_split_size, kUnlimited);
  EXPECT_EQ(second.garbage_collection_threshold, 0);
  EXPECT_EQ(second.roundup_divisions[3], 0U);
  EXPECT_EQ(second.max_non_split_rounding, 20 * kMiB) << "reset from 2.11 on";
  EXPECT_TRUE(second.expandable_segments);
  EXPECT_EQ(parsed("", 10, first).max_non_split_rounding, 50 * kMiB) << "kept before";
}

TEST(Settings, ALargeSegmentSizeCountsBeforeTheKeysInFrontOfIt) {
  EXPECT_EQ(parsed("max_split_size_mb:100,large_segment_size_mb:64").max_split_size, 100 * kMiB);
  EXPECT_EQ(refused("max_split_size_mb:50,large_segment_size_mb:64"),
            "allocator settings, column 19: expected at least 64 for max_split_size_mb, got "
            "\"50\"");
  EXPECT_EQ(parsed("large_segment_size_mb:64").max_non_split_rounding, 64 * kMiB);
}

TEST(Settings, ErrorsPointAtTheCharacter) {
  EXPECT_EQ(refused("max_split_sise_mb:100"),
            "allocator settings, column 1: unknown key \"max_split_sise_mb\", did you mean "
            "max_split_size_mb?");
  EXPECT_EQ(refused("expandable_segments:True,max_split_size_mb:5"),
            "allocator settings, column 44: expected at least 20 for max_split_size_mb, got \"5\"");
  EXPECT_EQ(refused("expandable_segments:true"),
            "allocator settings, column 21: expected True or False for expandable_segments, got "
            "\"true\"");
  EXPECT_EQ(refused("garbage_collection_threshold:1.0"),
            "allocator settings, column 30: expected a number between 0 and 1 for "
            "garbage_collection_threshold, got \"1.0\"");
  EXPECT_EQ(refused("max_split_size_mb:"),
            "allocator settings, column 19: expected a value for max_split_size_mb, got the end");
  EXPECT_EQ(refused("max_split_size_mb"),
            "allocator settings, column 18: expected ':', got the end");
  EXPECT_EQ(refused("roundup_power2_divisions:[4:3]"),
            "allocator settings, column 29: expected a power of two for roundup_power2_divisions, "
            "got \"3\"");
  EXPECT_EQ(refused("roundup_power2_divisions:[3:4]"),
            "allocator settings, column 27: expected a power of two for roundup_power2_divisions, "
            "got \"3\"");
  EXPECT_EQ(refused("roundup_power2_divisions:[4:2,"),
            "allocator settings, column 31: expected ']' to end the list of "
            "roundup_power2_divisions, got the end");
  EXPECT_EQ(refused("backend:cuda"),
            "allocator settings, column 9: expected native or cudaMallocAsync for backend, got "
            "\"cuda\"");
  EXPECT_EQ(refused("pinned_num_register_threads:256"),
            "allocator settings, column 29: expected at most 128 for pinned_num_register_threads, "
            "got \"256\"");
}

TEST(Settings, KeysAreKnownFromTheReleaseThatBroughtThem) {
  EXPECT_NE(refused("large_segment_size_mb:32", 10).find("which PyTorch has from 2.11 on"),
            std::string::npos);
  EXPECT_NE(refused("max_non_split_rounding_mb:32", 5).find("from 2.6 on"), std::string::npos);
  EXPECT_TRUE(parsed("throw_on_cudamalloc_oom:True", 12).throw_on_cudamalloc_oom);
  EXPECT_EQ(parsed("pinned_max_cached_size_mb:64", 13).pinned_max_cached_size, 64 * kMiB);
}

TEST(Settings, SeparatorsAreCheckedUpTo29AndIgnoredLater) {
  EXPECT_EQ(refused("expandable_segments:True:max_split_size_mb:100", 9),
            "allocator settings, column 25: expected ',', got \":\"");
  EXPECT_EQ(parsed("expandable_segments:True:max_split_size_mb:100", 10).max_split_size,
            100 * kMiB);
  EXPECT_EQ(refused("max_split_size_mb,100", 9),
            "allocator settings, column 18: expected ':', got \",\"");
  EXPECT_EQ(parsed("max_split_size_mb,100", 10).max_split_size, 100 * kMiB);
}

TEST(Settings, NumbersMayBeFollowedByOtherText) {
  EXPECT_EQ(parsed("max_split_size_mb:128MB").max_split_size, 128 * kMiB);
  EXPECT_EQ(refused("max_split_size_mb:MB"),
            "allocator settings, column 19: expected a number for max_split_size_mb, got \"MB\"");
}

TEST(Settings, LeastSplitSizeMovedFrom21To20) {
  EXPECT_NE(refused("max_split_size_mb:20", 9).find("at least 21"), std::string::npos);
  EXPECT_EQ(parsed("max_split_size_mb:20", 10).max_split_size, 20 * kMiB);
}

TEST(Settings, OldReleasesReadThirtyTwoBits) {
  EXPECT_NE(refused("max_split_size_mb:4294967296", 9).find("expected a number"),
            std::string::npos);
  EXPECT_EQ(parsed("max_split_size_mb:4294967296", 10).max_split_size, 4294967296 * kMiB);
}

TEST(Settings, ADivisionOfZeroIsForListsFrom24On) {
  EXPECT_EQ(parsed("roundup_power2_divisions:[64:0,128:2]", 4).roundup_divisions[7], 2U);
  EXPECT_NE(refused("roundup_power2_divisions:[64:0]", 3).find("power of two"), std::string::npos);
  EXPECT_NE(refused("roundup_power2_divisions:0").find("power of two"), std::string::npos);
}

TEST(Settings, EntriesBetweenTwoBoundariesOfAListStayUnset) {
  const Settings s = parsed("roundup_power2_divisions:[4:2,64:8]");
  EXPECT_EQ(s.roundup_divisions[0], 2U);
  EXPECT_EQ(s.roundup_divisions[2], 2U);
  EXPECT_EQ(s.roundup_divisions[3], 0U);
  EXPECT_EQ(s.roundup_divisions[6], 8U);
  EXPECT_EQ(s.roundup_divisions[7], 0U);
}

TEST(Settings, BlanksOtherThanSpacesAreDroppedFrom210On) {
  EXPECT_TRUE(parsed("expandable_segments:\tTrue\n", 10).expandable_segments);
  EXPECT_NE(refused("expandable_segments:\tTrue", 9).find("column 21"), std::string::npos);
}

TEST(Settings, ExpandableReserveTakesAShareOrASizeAndIgnoresTheRest) {
  EXPECT_EQ(parsed("expandable_segments_reserve:0.5", 15).reserve_fraction, 0.5);
  EXPECT_EQ(parsed("expandable_segments_reserve:40G", 15).reserve_bytes, 40 * base::kGiB);
  const Settings bad = parsed("expandable_segments_reserve:much", 15);
  EXPECT_FALSE(bad.reserve_fraction || bad.reserve_bytes);
  EXPECT_TRUE(
      parsed("expandable_segments_reserve_by_class:[a:0.5,b:1G],expandable_segments:True", 15)
          .expandable_segments);
}

TEST(Settings, TheFirstVariableThatIsSetWinsAlone) {
  const auto both = [](const char* name) -> const char* {
    if (std::strcmp(name, "PYTORCH_CUDA_ALLOC_CONF") == 0) return "expandable_segments:True";
    if (std::strcmp(name, "PYTORCH_ALLOC_CONF") == 0) return "max_split_size_mb:64";
    return nullptr;
  };
  const auto new_only = [](const char* name) -> const char* {
    return std::strcmp(name, "PYTORCH_ALLOC_CONF") == 0 ? "max_split_size_mb:64" : nullptr;
  };
  EXPECT_EQ(settings_variable(*profile_of(11), both)->name, "PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_EQ(settings_variable(*profile_of(11), new_only)->value, "max_split_size_mb:64");
  EXPECT_FALSE(settings_variable(*profile_of(9), new_only));
  const auto without_cuda = [](const char* name) -> const char* {
    return std::strcmp(name, "PYTORCH_CUDA_ALLOC_CONF") == 0 ? nullptr : "max_split_size_mb:64";
  };
  EXPECT_EQ(settings_variable(*profile_of(11), without_cuda)->name, "PYTORCH_HIP_ALLOC_CONF");
}

TEST(Settings, ThereIsOneVariableToPutThemIntoAndTheReleaseReadsIt) {
  EXPECT_STREQ(variable_to_set(*profile_of(9)), "PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_STREQ(variable_to_set(*profile_of(10)), "PYTORCH_ALLOC_CONF");
}

}  // namespace
}  // namespace ebb::cache
