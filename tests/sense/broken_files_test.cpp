// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <random>

#include "base/file.h"
#include "recorded.h"
#include "sense/cgroup_text.h"
#include "sense/cpu.h"
#include "sense/fields.h"
#include "sense/machine.h"
#include "sense/memory_info.h"
#include "sense/pressure.h"
#include "sense/process_text.h"
#include "support/effort.h"

// Whatever a file holds, reading it gives a value or one clear line.

namespace ebb::sense {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Error;

constexpr std::uint32_t kSeed = 20'240'311;

/// A parser as text -> its error, if any.
using Parse = std::function<std::optional<Error>(std::string_view, std::string_view)>;

template <class Function>
Parse parser(Function function) {
  return [function](std::string_view text, std::string_view file) -> std::optional<Error> {
    const auto value = function(text, file);
    if (value) return std::nullopt;
    return value.error();
  };
}

const std::map<std::string, Parse>& parsers() {
  static const Parse keyed = parser(KeyedNumbers::parse);
  static const Parse limit = parser(parse_limit);
  static const Parse number = parser(parse_number);
  static const std::map<std::string, Parse> by_file = {
      {"100/status", parser(parse_status)},
      {"100/stat", parser(parse_stat)},
      {"100/statm", parser(parse_statm)},
      {"100/smaps_rollup", parser(parse_smaps_rollup)},
      {"100/limits", parser(parse_limits)},
      {"100/cgroup", parser(parse_group_names)},
      {"self/mountinfo", parser(parse_cgroup_mounts)},
      {"proc/meminfo", parser(parse_meminfo)},
      {"proc/stat", parser(parse_machine_ticks)},
      {"pressure/memory", parser(parse_pressure)},
      {"cpu/online", parser(parse_cpu_list)},
      {"transparent_hugepage/enabled", parser(parse_thp)},
      {"memory.pressure", parser(parse_pressure)},
      {"memory.stat", keyed},
      {"memory.events", keyed},
      {"memory.oom_control", keyed},
      {"memory.max", limit},
      {"memory.high", limit},
      {"memory.swap.max", limit},
      {"memory.limit_in_bytes", limit},
      {"memory.memsw.limit_in_bytes", limit},
      {"memory.current", number},
      {"memory.usage_in_bytes", number},
      {"memory.kmem.usage_in_bytes", number},
      {"memory.failcnt", number},
  };
  return by_file;
}

const Parse* parser_for(const fs::path& file) {
  const auto& all = parsers();
  const auto plain = all.find(file.filename().string());
  if (plain != all.end()) return &plain->second;
  const auto placed = all.find((file.parent_path().filename() / file.filename()).string());
  return placed != all.end() ? &placed->second : nullptr;
}

std::vector<fs::path> recorded_files(const std::string& below) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(below)) {
    if (entry.is_regular_file() && parser_for(entry.path()) != nullptr)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void expect_one_clear_line(const Error& error, const std::string& file) {
  EXPECT_EQ(error.code, Code::bad_input) << error.message;
  EXPECT_NE(error.message.find(file), std::string::npos) << error.message;
  EXPECT_LT(error.message.size(), file.size() + 250) << error.message;
  for (const char c : error.message)
    EXPECT_TRUE(c >= ' ' && c <= '~') << error.message;
}

TEST(BrokenFiles, EveryParserReadsWhatWasRecorded) {
  std::map<const Parse*, int> used;
  for (const fs::path& file : recorded_files(EBB_TEST_DATA "/sense")) {
    const Parse* parse = parser_for(file);
    const auto error = (*parse)(*base::read_file(file.string()), file.string());
    EXPECT_FALSE(error) << error->message;
    ++used[parse];
  }
  EXPECT_EQ(used.size(), parsers().size()) << "a parser has no recorded file";
}

TEST(BrokenFiles, AFileCutAnywhereIsAValueOrOneClearLine) {
  for (const fs::path& file : recorded_files(EBB_TEST_DATA "/sense")) {
    const std::string whole = *base::read_file(file.string());
    for (std::size_t length = 0; length < whole.size(); ++length) {
      // A copy of exactly this size, so that a sanitizer sees a step beyond its end.
      const std::vector<char> cut(whole.begin(),
                                  whole.begin() + static_cast<std::ptrdiff_t>(length));
      const auto error = (*parser_for(file))(std::string_view(cut.data(), cut.size()), "cut/file");
      if (error) expect_one_clear_line(*error, "cut/file");
    }
  }
}

TEST(BrokenFiles, AFileCutWithinALineIsNeverTakenForWhole) {
  for (const fs::path& file : recorded_files(EBB_TEST_DATA "/sense")) {
    const std::string name = file.filename().string();
    // These two tell what is wanted before the end: the mode in brackets, the second number.
    if (name == "enabled" || name == "statm") continue;
    const std::string whole = *base::read_file(file.string());
    for (std::size_t length = 1; length < whole.size(); ++length) {
      if (whole[length - 1] == '\n') continue;
      EXPECT_TRUE((*parser_for(file))(std::string_view(whole).substr(0, length), name))
          << file << " cut to " << length;
    }
  }
}

TEST(BrokenFiles, AFileWithFlippedBytesIsAValueOrOneClearLine) {
  std::mt19937 random(kSeed);
  for (const fs::path& file : recorded_files(EBB_TEST_DATA "/sense")) {
    const std::string whole = *base::read_file(file.string());
    if (whole.empty()) continue;
    for (int round = 0; round < support::trials(100, 300); ++round) {
      std::string text = whole;
      for (std::uint32_t flips = 1 + random() % 8; flips > 0; --flips)
        text[random() % text.size()] = static_cast<char>(random() % 256);
      const auto error = (*parser_for(file))(text, "flipped/file");
      if (error) expect_one_clear_line(*error, "flipped/file");
    }
  }
}

TEST(BrokenFiles, ATreeWithOneBrokenFileIsAValueOrOneClearLine) {
  for (const char* name : {"v1", "v2", "v2-nested", "v2-private", "hybrid", "none"}) {
    const CopiedTree tree(name);
    ASSERT_TRUE(memory_info(kRecorded, tree.roots()));
    for (const fs::path& file : recorded_files(tree.roots().mounts)) {
      const std::string path = fs::relative(file, tree.roots().mounts).string();
      const std::string whole = *base::read_file(file.string());
      for (const std::string& content :
           {std::string(), std::string("\n"), std::string("garbage\n"), std::string(3, '\0'),
            whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1)}) {
        tree.write(path, content);
        const auto info = memory_info(kRecorded, tree.roots());
        if (info) continue;
        if (info.error().code == Code::not_found) {
          EXPECT_TRUE(content.empty()) << path << ": " << info.error().message;
        } else {
          expect_one_clear_line(info.error(), path);
        }
      }
      tree.write(path, whole);
    }
  }
}

}  // namespace
}  // namespace ebb::sense
