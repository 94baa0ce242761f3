// SPDX-License-Identifier: Apache-2.0
#include "pack/byte_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "support/temporary_directory.h"

namespace ebb::pack {
namespace {

/// All bytes, asked for a few at a time.
std::string all_of(ByteSource& source, std::size_t at_once = 3) {
  std::string out;
  std::string part(at_once, '\0');
  while (true) {
    const auto got = source.read(part.data(), part.size());
    if (!got) return "failed: " + got.error().message;
    if (*got == 0) return out;
    out.append(part, 0, *got);
  }
}

TEST(ByteSource, GivesTheBytesOfAFileAndSaysHowFarItIs) {
  const support::TemporaryDirectory directory;
  const auto source = open_source(directory.write("plain", "some bytes"));
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->total(), 10U);
  EXPECT_EQ(all_of(**source), "some bytes");
  EXPECT_EQ((*source)->done(), 10U);
}

TEST(ByteSource, ReadsFilesOfOneByteAndOfNone) {
  const support::TemporaryDirectory directory;
  for (const char* content : {"", "x", "\x1f"}) {
    const auto source = open_source(directory.write("short", content));
    ASSERT_TRUE(source);
    EXPECT_EQ(all_of(**source), content);
  }
}

TEST(ByteSource, RecognisesGzipByItsContent) {
  const support::TemporaryDirectory directory;
  // Made by Python: gzip.compress(b"packed", mtime=0).
  const std::string packed(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x48\x4c\xce\x4e\x4d\x01\x00\x10\xb4\xf6\x21\x06"
      "\x00\x00\x00",
      26);
  const auto source = open_source(directory.write("no_ending", packed));
  ASSERT_TRUE(source);
  EXPECT_EQ(all_of(**source), "packed");
  EXPECT_EQ((*source)->done(), 26U);
  const auto plain = open_source(directory.write("plain.gz", "not packed"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(all_of(**plain), "not packed");
}

TEST(ByteSource, MayBeLimited) {
  const auto limited = [](std::uint64_t most) {
    LimitedSource source(std::make_unique<TextSource>("some bytes"), most, "small.gz");
    EXPECT_EQ(source.total(), 10U);
    return all_of(source);
  };
  EXPECT_EQ(limited(10), "some bytes");
  EXPECT_EQ(limited(9), "failed: small.gz: expected at most 9 B, unpacked");
}

TEST(ByteSource, ReadsPipes) {
  const support::TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << "through a pipe"; });
  const auto source = open_source(path);
  ASSERT_TRUE(source);
  EXPECT_EQ(all_of(**source), "through a pipe");
  EXPECT_EQ((*source)->total(), 0U);
  writer.join();
}

TEST(ByteSource, SaysWhatCannotBeRead) {
  const support::TemporaryDirectory directory;
  const auto missing = open_source(directory / "nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::Code::not_found);
  const auto folder = open_source(directory.path());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, base::Code::bad_input);
  EXPECT_EQ(folder.error().message,
            directory.path() + ": is a directory, expected a snapshot file");
}

}  // namespace
}  // namespace ebb::pack
