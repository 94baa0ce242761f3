// SPDX-License-Identifier: Apache-2.0
#include "heap/elf.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>

#include "heap/identify.h"
#include "support/temporary_directory.h"

namespace ebb::heap {
namespace {

using support::TemporaryDirectory;

TEST(ElfFile, ReadsThisProgram) {
  auto self = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(self) << self.error().message;
  EXPECT_FALSE(self->interpreter().empty());
  EXPECT_NE(std::find(self->needed().begin(), self->needed().end(), "libc.so.6"),
            self->needed().end());
  EXPECT_TRUE(self->defined("main"));
  EXPECT_FALSE(self->defined("no_such_symbol_anywhere"));
  EXPECT_TRUE(self->read_only_data_contains("a sentence that only this test holds"));
  EXPECT_FALSE(self->read_only_data_contains(std::string("never ") + "written in one piece"));
}

TEST(ElfFile, SaysWhyAFileIsNotOne) {
  const TemporaryDirectory directory;
  const struct {
    std::string content;
    const char* reason;
  } cases[] = {
      {"", "too short"},
      {std::string(100, 'x'), "no ELF magic"},
      {std::string("\x7f"
                   "ELF\x01\x01") +
           std::string(100, '\0'),
       "32-bit"},
      {std::string("\x7f"
                   "ELF\x02\x02") +
           std::string(100, '\0'),
       "big-endian"},
  };
  for (const auto& c : cases) {
    const auto result = ElfFile::open(directory.write("file", c.content));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, base::Code::bad_input);
    EXPECT_NE(result.error().message.find(c.reason), std::string::npos) << result.error().message;
  }
  EXPECT_EQ(ElfFile::open("/no/such").error().code, base::Code::not_found);
  EXPECT_EQ(ElfFile::open(directory.path()).error().code, base::Code::bad_input);
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(ElfFile::open(directory / "fifo").error().code, base::Code::bad_input)
      << "and it must not wait for a writer";
}

TEST(ElfFile, FindsFunctionsByTheirEndings) {
  const auto file = ElfFile::open(EBB_SMALL_ELF);
  ASSERT_TRUE(file) << file.error().message;
  const std::string_view endings[] = {"start", "no_such_ending"};
  const auto found = file->functions_ending_in(endings);
  ASSERT_EQ(found.size(), 1U) << "_start; data_start is no function";
  EXPECT_EQ(found[0].name, "_start");
  EXPECT_FALSE(found[0].is_dynamic);
  EXPECT_EQ(file->code_at(found[0].value, 16).size(), 16U);
  EXPECT_TRUE(file->code_at(~std::uint64_t{0}, 16).empty());
}

TEST(ElfFile, SurvivesTruncationAndDamage) {
  const TemporaryDirectory directory;
  const auto original = base::read_file(EBB_SMALL_ELF);
  ASSERT_TRUE(original);
  constexpr unsigned kSeed = 20261115;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  for (int i = 0; i < 400; ++i) {
    std::string damaged = *original;
    if (i % 2 == 0) damaged.resize(random() % damaged.size());
    // Headers decide where everything else is: damage them more often than the rest.
    for (int flips = 0; flips < 8 && !damaged.empty(); ++flips)
      damaged[random() %
              std::min<std::size_t>(damaged.size(), flips % 2 == 0 ? 64 : damaged.size())] =
          static_cast<char>(random());
    auto file = ElfFile::open(directory.write("damaged", damaged));
    if (!file) {
      EXPECT_FALSE(file.error().message.empty());
      continue;
    }
    static_cast<void>(identify_main(*file));
    static_cast<void>(identify_private_copies(*file));
  }
}

}  // namespace
}  // namespace ebb::heap
