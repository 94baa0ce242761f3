// SPDX-License-Identifier: Apache-2.0
#include "pack/inflate.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "pack/crc32.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb::pack {
namespace {

/// What unpacking gives: the content, or the error.
struct Unpacked {
  explicit Unpacked(std::string_view packed, std::size_t at_once = 100000) {
    GzipSource source(std::make_unique<TextSource>(packed), "file");
    std::string part(at_once, '\0');
    while (true) {
      const auto got = source.read(part.data(), part.size());
      if (!got) {
        error = got.error();
        return;
      }
      if (*got == 0) return;
      content.append(part, 0, *got);
    }
  }
  std::string content;
  base::Error error{base::Code::internal, "", 0};
};

std::string read(const std::string& path) {
  const auto content = base::read_file(path);
  EXPECT_TRUE(content) << path;
  return content.value_or("");
}

/// Files that Python's zlib packed, made once.
class Inflate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = std::make_unique<support::TemporaryDirectory>();
    const auto made =
        support::run({EBB_PYTHON, std::string(EBB_TOOLS) + "/gzip_files.py", directory_->path()});
    ASSERT_EQ(made.status, 0) << made.error;
  }
  static void TearDownTestSuite() { directory_.reset(); }

  static std::string packed(const std::string& name) { return read(*directory_ / (name + ".gz")); }

  static std::unique_ptr<support::TemporaryDirectory> directory_;
};
std::unique_ptr<support::TemporaryDirectory> Inflate::directory_;

TEST_F(Inflate, UnpacksWhateverZlibPacks) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_->path())) {
    if (entry.path().extension() != ".gz") continue;
    const Unpacked unpacked(read(entry.path()));
    EXPECT_EQ(unpacked.error.message, "") << entry.path();
    EXPECT_TRUE(unpacked.content == read(std::filesystem::path(entry.path()).replace_extension()))
        << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 9U * 8 + 4);
}

TEST_F(Inflate, GivesTheSameByteByByte) {
  const std::string whole = packed("words_6");
  EXPECT_TRUE(Unpacked(whole, 1).content == Unpacked(whole).content);
}

TEST_F(Inflate, RefusesAFileThatEndsEarlyAtAnyByte) {
  for (const char* name : {"small", "all_fields", "members"}) {
    const std::string whole = packed(name);
    const bool members = std::string(name) == "members";
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Unpacked unpacked(std::string_view(whole).substr(0, size));
      // A file of members that ends after one of them is whole.
      if (members && unpacked.error.message.empty()) continue;
      EXPECT_EQ(unpacked.error.code, base::Code::bad_input) << name << " " << size;
      EXPECT_NE(unpacked.error.message.find("file: byte "), std::string::npos);
    }
  }
}

TEST_F(Inflate, NoticesEveryBitThatChangesTheContent) {
  const std::string whole = packed("small");
  const std::string content = Unpacked(whole).content;
  std::size_t noticed = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    const Unpacked unpacked(changed);
    // Time, hints, system and the unused bits of the last byte mean nothing.
    EXPECT_TRUE(!unpacked.error.message.empty() || unpacked.content == content) << "bit " << bit;
    if (!unpacked.error.message.empty()) ++noticed;
  }
  EXPECT_GE(noticed, 8 * whole.size() - 6 * 8 - 1 - 7);
}

TEST_F(Inflate, SaysWhatIsWrongAndWhere) {
  std::string changed = packed("small");
  const std::size_t size = changed.size();
  changed[size - 8] = static_cast<char>(changed[size - 8] ^ 1);
  EXPECT_EQ(Unpacked(changed).error.message,
            "file: byte " + std::to_string(size) +
                " of the packed file: the checksum (CRC-32) is wrong: the file is damaged");
  changed = packed("small");
  changed[size - 1] = static_cast<char>(changed[size - 1] ^ 1);
  EXPECT_NE(Unpacked(changed).error.message.find("the length is wrong"), std::string::npos);
  EXPECT_NE(Unpacked(packed("small") + "junk").error.message.find("neither gzip nor the end"),
            std::string::npos);
  EXPECT_NE(Unpacked("\x1f\x8b\x07").error.message.find("deflate, the only method"),
            std::string::npos);
}

TEST_F(Inflate, RefusesCopiesFromAnEarlierMember) {
  // Fixed codes: a copy of 3 bytes from 1 back, in a second member that has no byte yet.
  const std::string copy("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x02\x00", 13);
  EXPECT_NE(Unpacked(packed("small") + copy).error.message.find("from before the beginning"),
            std::string::npos);
}

TEST(Crc32, IsThatOfGzip) {
  EXPECT_EQ(crc32(0, "123456789", 9), 0xCBF43926U);
  EXPECT_EQ(crc32(crc32(0, "1234", 4), "56789", 5), 0xCBF43926U);
  EXPECT_EQ(crc32(0, "", 0), 0U);
}

}  // namespace
}  // namespace ebb::pack
