// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/client_rows.h"

#include <sys/stat.h>

#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

constexpr std::uint32_t kClients = 3;
constexpr std::size_t kElements = 1500;  // rows that share pages

ClientRows rows_in(const std::string& folder) {
  auto rows = ClientRows::create(folder, kClients, kElements);
  EXPECT_TRUE(rows) << rows.error().message;
  return std::move(*rows);
}

std::vector<float> row_of(float value) {
  return std::vector<float>(kElements, value);
}

std::vector<float> row_at(const ClientRows& rows, std::uint32_t client) {
  std::vector<float> row(kElements, -1);
  rows.read(client, row);
  return row;
}

TEST(ClientRows, AreZerosUntilTheyAreWritten) {
  ClientRows rows = rows_in("");
  EXPECT_FALSE(rows.has(1));
  EXPECT_EQ(row_at(rows, 1), row_of(0));
  rows.write(1, row_of(2));
  rows.write(1, row_of(3));
  EXPECT_TRUE(rows.has(1));
  EXPECT_EQ(row_at(rows, 0), row_of(0));
  EXPECT_EQ(row_at(rows, 1), row_of(3));
  EXPECT_EQ(row_at(rows, 2), row_of(0));
}

TEST(ClientRows, OfTheLastCheckpointOutliveWhatIsWrittenAfterIt) {
  const support::TemporaryDirectory folder;
  std::vector<std::uint64_t> marks;
  {
    ClientRows rows = rows_in(folder.path());
    rows.write(0, row_of(1));
    rows.write(1, row_of(2));
    ASSERT_TRUE(rows.keep());
    rows.write(1, row_of(3));
    ASSERT_TRUE(rows.keep());
    marks.assign(rows.marks().begin(), rows.marks().end());
    // Killed before the next checkpoint, in which these would have been.
    rows.write(0, row_of(5));
    rows.write(0, row_of(6));
    rows.write(1, row_of(7));
    rows.write(2, row_of(8));
    EXPECT_EQ(row_at(rows, 0), row_of(6));
  }
  ClientRows rows = rows_in(folder.path());
  std::copy(marks.begin(), marks.end(), rows.marks().begin());
  const auto sound = rows.check();
  ASSERT_TRUE(sound) << sound.error().message;
  EXPECT_EQ(row_at(rows, 0), row_of(1));
  EXPECT_EQ(row_at(rows, 1), row_of(3));
  EXPECT_EQ(row_at(rows, 2), row_of(0));
  // What is written now does not touch them either.
  rows.write(0, row_of(9));
  EXPECT_EQ(row_at(rows, 0), row_of(9));
  std::copy(marks.begin(), marks.end(), rows.marks().begin());
  EXPECT_TRUE(rows.check());
}

TEST(ClientRows, ThatWereChangedSinceAreRefused) {
  const support::TemporaryDirectory folder;
  ClientRows rows = rows_in(folder.path());
  rows.write(2, row_of(1));
  ASSERT_TRUE(rows.keep());
  const std::string path = folder / "control-variates";
  std::filesystem::resize_file(path, 2 * 2 * kElements * sizeof(float) + 4);
  std::filesystem::resize_file(path, ClientRows::bytes_of(true, kClients, kElements));
  const auto sound = rows.check();
  ASSERT_FALSE(sound);
  EXPECT_EQ(sound.error().code, base::Code::bad_input);
  EXPECT_EQ(sound.error().message, path +
                                       ": client 2: not as it was written, expected what belongs "
                                       "to the checkpoint");
  rows.marks()[2] = 3;  // a place that there is not
  EXPECT_FALSE(rows.check());
}

TEST(ClientRows, TakeTheRoomThatIsPlanned) {
  const support::TemporaryDirectory folder;
  const ClientRows rows = rows_in(folder.path());
  EXPECT_EQ(std::filesystem::file_size(folder / "control-variates"),
            ClientRows::bytes_of(true, kClients, kElements));
  EXPECT_EQ(ClientRows::bytes_of(false, kClients, kElements), kClients * kElements * sizeof(float));
}

TEST(ClientRows, AreNotWrittenIntoWhatIsNoFile) {
  const support::TemporaryDirectory folder;
  ASSERT_EQ(mkfifo((folder / "control-variates").c_str(), 0600), 0);
  const auto rows = ClientRows::create(folder.path(), kClients, kElements);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, base::Code::bad_input);
}

}  // namespace
}  // namespace ebb::fl
