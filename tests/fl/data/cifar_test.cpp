// SPDX-License-Identifier: Apache-2.0
#include "fl/data/cifar.h"

#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

constexpr std::size_t kPixels = 3 * 32 * 32;

std::string record(std::initializer_list<int> labels, char pixel) {
  std::string bytes;
  for (const int label : labels)
    bytes += static_cast<char>(label);
  return bytes + std::string(kPixels - 1, pixel) + '\x07';
}

std::string error_of(std::string_view content, const CifarFormat& format) {
  pack::TextSource source(content);
  Split split;
  const auto read = read_cifar(source, "file", format, split);
  if (read) return "none";
  EXPECT_EQ(read.error().code, base::Code::bad_input);
  return read.error().message;
}

TEST(Cifar, TenHasOneLabelAndFiveFiles) {
  const support::TemporaryDirectory directory;
  for (int batch = 1; batch <= 5; ++batch)
    directory.write("data_batch_" + std::to_string(batch) + ".bin",
                    record({batch}, '\x10') + record({9}, '\x20'));
  directory.write("test_batch.bin", record({3}, '\x30'));
  const auto data = load_data_set("cifar-10", directory.path());
  ASSERT_TRUE(data) << data.error().message;
  const DataSet& set = **data;
  EXPECT_EQ(set.classes, 10U);
  EXPECT_EQ(set.picture.channels, 3U);
  EXPECT_EQ(set.picture.height, 32U);
  EXPECT_TRUE(set.augments);
  EXPECT_EQ(set.normalisation.mean, (std::vector<float>{0.4914F, 0.4822F, 0.4465F}));
  EXPECT_EQ(set.normalisation.deviation, (std::vector<float>{0.2470F, 0.2435F, 0.2616F}));
  EXPECT_EQ(set.train.labels, (std::vector<std::uint8_t>{1, 9, 2, 9, 3, 9, 4, 9, 5, 9}));
  ASSERT_EQ(set.train.pixels.size(), 10 * kPixels);
  EXPECT_EQ(set.train.pixels[kPixels - 1], 7);
  EXPECT_EQ(set.train.pixels[kPixels], 0x20);
  EXPECT_EQ(set.test.labels, (std::vector<std::uint8_t>{3}));
}

TEST(Cifar, OneHundredTakesTheFineLabel) {
  const support::TemporaryDirectory directory;
  directory.write("train.bin", record({19, 99}, 'a') + record({0, 5}, 'b'));
  directory.write("test.bin", record({1, 2}, 'c'));
  const auto data = load_data_set("cifar-100", directory.path());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ((*data)->classes, 100U);
  EXPECT_EQ((*data)->train.labels, (std::vector<std::uint8_t>{99, 5}));
  EXPECT_EQ((*data)->train.pixels[kPixels], 'b');
  EXPECT_TRUE((*data)->augments);
  EXPECT_EQ((*data)->normalisation.mean, (std::vector<float>{0.5071F, 0.4867F, 0.4408F}));
  EXPECT_EQ((*data)->normalisation.deviation, (std::vector<float>{0.2675F, 0.2565F, 0.2761F}));
}

TEST(Cifar, ReadsMoreRecordsThanFitItsBuffer) {
  std::string content;
  for (int i = 0; i < 150; ++i)
    content += record({i % 10}, static_cast<char>(i));
  pack::TextSource source(content);
  Split split;
  ASSERT_TRUE(read_cifar(source, "file", cifar_10(), split));
  ASSERT_EQ(split.size(), 150U);
  EXPECT_EQ(split.labels[149], 9);
  EXPECT_EQ(split.pixels[149 * kPixels], 149);
}

TEST(Cifar, FilesThatAreNotWholeRecordsAreRefusedWithThePlace) {
  EXPECT_EQ(error_of("", cifar_10()), "file: empty, expected records of 3073 bytes");
  EXPECT_EQ(error_of(record({1}, 'a') + "x", cifar_10()),
            "file: ends at byte 3074 inside a record, expected whole ones of 3073 bytes");
  EXPECT_EQ(error_of(record({1}, 'a') + record({10}, 'a'), cifar_10()),
            "file: byte 3073: label 10, expected one below 10");
  EXPECT_EQ(error_of(record({1, 100}, 'a'), cifar_100()),
            "file: byte 1: label 100, expected one below 100");
}

TEST(Cifar, AMissingFileIsNamed) {
  const support::TemporaryDirectory directory;
  const auto data = load_data_set("cifar-10", directory.path());
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, base::Code::not_found);
  EXPECT_NE(data.error().message.find("data_batch_1.bin"), std::string::npos);
}

}  // namespace
}  // namespace ebb::fl
