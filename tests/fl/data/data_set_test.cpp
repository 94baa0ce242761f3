// SPDX-License-Identifier: Apache-2.0
#include "fl/data/data_set.h"

#include <cmath>

#include "fl/data/idx.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

std::string pictures_of(std::uint32_t count, std::uint32_t height, std::uint32_t width) {
  std::string file = big_endian(0x803) + big_endian(count) + big_endian(height) + big_endian(width);
  for (std::uint32_t i = 0; i < count * height * width; ++i)
    file += static_cast<char>(i);
  return file;
}

std::string labels_of(const std::vector<int>& labels) {
  std::string file = big_endian(0x801) + big_endian(static_cast<std::uint32_t>(labels.size()));
  for (const int label : labels)
    file += static_cast<char>(label);
  return file;
}

std::string error_of_pictures(std::string_view content) {
  pack::TextSource source(content);
  const auto pictures = read_idx_pictures(source, "file");
  if (pictures) return "none";
  EXPECT_EQ(pictures.error().code, base::Code::bad_input);
  return pictures.error().message;
}

std::string error_of_labels(std::string_view content) {
  pack::TextSource source(content);
  const auto labels = read_idx_labels(source, "file");
  if (labels) return "none";
  EXPECT_EQ(labels.error().code, base::Code::bad_input);
  return labels.error().message;
}

/// A folder with a small set in IDX files.
class IdxFolder {
 public:
  explicit IdxFolder(const std::string& prefix = "", const std::string& test = "t10k")
      : prefix_(prefix), test_(test) {
    write("train-images-idx3-ubyte", pictures_of(4, 3, 2));
    write("train-labels-idx1-ubyte", labels_of({0, 1, 9, 3}));
    write(test_ + "-images-idx3-ubyte", pictures_of(2, 3, 2));
    write(test_ + "-labels-idx1-ubyte", labels_of({5, 6}));
  }

  void write(const std::string& name, const std::string& content) const {
    directory_.write(prefix_ + name, content);
  }
  void remove(const std::string& name) const {
    std::filesystem::remove(directory_ / (prefix_ + name));
  }
  std::string path() const { return directory_.path(); }
  std::string error_of(std::string_view name) const {
    const auto data = load_data_set(name, path());
    if (data) return "none";
    const std::string& message = data.error().message;
    EXPECT_EQ(message.find('\n'), message.npos);
    const std::size_t at = message.find(path() + "/");
    return at == message.npos ? message : message.substr(at + path().size() + 1);
  }

 private:
  support::TemporaryDirectory directory_;
  std::string prefix_;
  std::string test_;
};

TEST(DataSets, FashionMnistOfDebianIsWhole) {
  const auto data = load_data_set("fashion-mnist", "");
  ASSERT_TRUE(data) << data.error().message;
  const DataSet& set = **data;
  EXPECT_EQ(set.name, "fashion-mnist");
  EXPECT_EQ(set.classes, 10U);
  EXPECT_FALSE(set.augments);
  ASSERT_EQ(set.train.size(), 60000U);
  ASSERT_EQ(set.test.size(), 10000U);
  ASSERT_EQ(set.train.pixels.size(), 60000U * 28 * 28);
  ASSERT_EQ(set.test.pixels.size(), 10000U * 28 * 28);
  EXPECT_EQ(set.bytes(), 70000U * (28 * 28 + 1));
  std::vector<int> counts(10);
  for (const std::uint8_t label : set.train.labels)
    ++counts[label];
  EXPECT_EQ(counts, std::vector<int>(10, 6000));
  double sum = 0;
  double squares = 0;
  for (const std::uint8_t byte : set.train.pixels) {
    sum += byte;
    squares += byte * byte;
  }
  const auto count = static_cast<double>(set.train.pixels.size());
  const double mean = sum / count;
  EXPECT_NEAR(mean / 255, set.normalisation.mean[0], 1e-4);
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean) / 255, set.normalisation.deviation[0], 1e-4);
  // Room for the data, and none beside it.
  EXPECT_EQ(set.train.pixels.capacity(), set.train.pixels.size());
}

TEST(DataSets, ReadsIdxFiles) {
  const IdxFolder folder;
  const auto data = load_data_set("mnist", folder.path());
  ASSERT_TRUE(data) << data.error().message;
  const DataSet& set = **data;
  EXPECT_EQ(set.picture.channels, 1U);
  EXPECT_EQ(set.picture.height, 3U);
  EXPECT_EQ(set.picture.width, 2U);
  EXPECT_EQ(set.classes, 10U);
  EXPECT_EQ(set.train.labels, (std::vector<std::uint8_t>{0, 1, 9, 3}));
  EXPECT_EQ(set.test.labels, (std::vector<std::uint8_t>{5, 6}));
  EXPECT_EQ(set.train.pixels.size(), 24U);
  EXPECT_EQ(set.train.pixels[23], 23);
  EXPECT_FLOAT_EQ(set.normalisation.mean[0], 0.1307F);
}

TEST(DataSets, ReadsIdxFilesPackedByGzip) {
  const IdxFolder folder;
  folder.remove("t10k-labels-idx1-ubyte");
  // Made by Python: gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 2, 5, 6]), mtime=0).
  folder.write("t10k-labels-idx1-ubyte.gz",
               std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x60\xe0\x60\x64\x60"
                           "\x60\x60\x62\x65\x03\x00\x69\xfd\x88\x01\x0a\x00\x00\x00",
                           30));
  const auto data = load_data_set("mnist", folder.path());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ((*data)->test.labels, (std::vector<std::uint8_t>{5, 6}));
}

TEST(DataSets, EmnistIsItsDigitsOrWhatIsNamedAndHasTheClassesOfItsLabels) {
  const IdxFolder digits("emnist-digits-", "test");
  const auto data = load_data_set("emnist", digits.path());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ((*data)->classes, 10U);
  const IdxFolder letters("emnist-letters-", "test");
  letters.write("train-labels-idx1-ubyte", labels_of({1, 26, 2, 3}));
  const auto named = load_data_set("emnist-letters", letters.path());
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ((*named)->classes, 27U);
  letters.write("test-labels-idx1-ubyte", labels_of({1, 27}));
  EXPECT_EQ(letters.error_of("emnist-letters"),
            "emnist-letters-test-labels-idx1-ubyte: byte 9: label 27, expected one below 27");
}

TEST(DataSets, AFileThatIsNotIdxIsRefusedWithThePlace) {
  EXPECT_EQ(error_of_pictures(""),
            "file: ends at byte 0, expected the magic number of an IDX file at byte 0");
  EXPECT_EQ(error_of_pictures(labels_of({1})),
            "file: byte 0: 0x00000801, expected 0x00000803 (IDX, pictures of bytes)");
  EXPECT_EQ(error_of_labels(pictures_of(1, 1, 1)),
            "file: byte 0: 0x00000803, expected 0x00000801 (IDX, labels)");
  EXPECT_EQ(error_of_pictures(pictures_of(2, 3, 3).substr(0, 14)),
            "file: ends at byte 14, expected a number of columns at byte 12");
}

TEST(DataSets, DimensionsThatCannotBeAreRefused) {
  EXPECT_EQ(error_of_pictures(pictures_of(0, 3, 3)),
            "file: byte 4: 0, expected a number of pictures from 1 to 4294967295");
  EXPECT_EQ(error_of_pictures(pictures_of(1, 0, 3)),
            "file: byte 8: 0, expected a number of rows from 1 to 4096");
  EXPECT_EQ(
      error_of_pictures(big_endian(0x803) + big_endian(1) + big_endian(1) + big_endian(1U << 30)),
      "file: byte 12: 1073741824, expected a number of columns from 1 to 4096");
}

TEST(DataSets, AClaimBeyondTheFileTakesNoMemory) {
  EXPECT_EQ(error_of_pictures(big_endian(0x803) + big_endian(0xFFFFFFFF) + big_endian(4096) +
                              big_endian(4096)),
            "file: byte 16: expected 72057594021150720 bytes of pictures, more than a file of 16 "
            "bytes can hold");
}

TEST(DataSets, AFileThatEndsEarlyOrGoesOnIsRefused) {
  const std::string whole = pictures_of(2, 3, 3);
  EXPECT_EQ(error_of_pictures(whole.substr(0, whole.size() - 1)),
            "file: ends at byte 33, expected 18 bytes of pictures from byte 16 on");
  EXPECT_EQ(error_of_pictures(whole + "x"), "file: byte 34: expected the end of the file");
  EXPECT_EQ(error_of_labels(labels_of({1, 2}).substr(0, 9)),
            "file: ends at byte 9, expected 2 bytes of labels from byte 8 on");
}

/// Bytes that come a few at a time, as through a pipe: nobody knows how many there will be.
class Trickle final : public pack::ByteSource {
 public:
  explicit Trickle(std::string_view text) : text_(text) {}
  base::Result<std::size_t> read(char* into, std::size_t most) override {
    const std::size_t count = text_.copy(into, std::min<std::size_t>(most, 7), done_);
    done_ += count;
    return count;
  }
  std::uint64_t done() const override { return done_; }
  std::uint64_t total() const override { return 0; }

 private:
  std::string_view text_;
  std::size_t done_ = 0;
};

TEST(DataSets, AFileOfUnknownLengthIsReadAsFarAsItGoes) {
  const std::string whole = pictures_of(5, 28, 28);
  Trickle source(whole);
  const auto pictures = read_idx_pictures(source, "pipe");
  ASSERT_TRUE(pictures) << pictures.error().message;
  EXPECT_EQ(pictures->pixels.size(), 5U * 28 * 28);
  EXPECT_EQ(pictures->pixels.back(), whole.back() & 0xFF);
  const std::string claim =
      big_endian(0x803) + big_endian(0xFFFFFFFF) + big_endian(4096) + big_endian(4096) + "abc";
  Trickle endless(claim);
  const auto none = read_idx_pictures(endless, "pipe");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "pipe: ends at byte 19, expected 72057594021150720 bytes of pictures from byte 16 on");
}

TEST(DataSets, FilesThatDoNotBelongTogetherAreRefused) {
  const IdxFolder folder;
  folder.write("train-labels-idx1-ubyte", labels_of({1, 2, 10, 3}));
  EXPECT_EQ(folder.error_of("mnist"),
            "train-labels-idx1-ubyte: byte 10: label 10, expected one below 10");
  folder.write("train-labels-idx1-ubyte", labels_of({1, 2, 3}));
  EXPECT_NE(folder.error_of("mnist").find("3 labels, expected 4, one per picture of"),
            std::string::npos);
  folder.write("train-labels-idx1-ubyte", labels_of({1, 2, 3, 4}));
  folder.write("t10k-images-idx3-ubyte", pictures_of(2, 2, 3));
  EXPECT_NE(
      folder.error_of("mnist").find("pictures of 2x3 to test with, expected 3x2 as in training"),
      std::string::npos);
}

TEST(DataSets, AMissingFileIsNamedWithWhatIsNeeded) {
  const IdxFolder folder;
  folder.remove("t10k-images-idx3-ubyte");
  const auto data = load_data_set("mnist", folder.path());
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, base::Code::not_found);
  EXPECT_NE(data.error().message.find("t10k-images-idx3-ubyte"), std::string::npos);
  const auto nowhere = load_data_set("cifar-10", "");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, base::Code::bad_input);
  EXPECT_NE(nowhere.error().message.find("data_batch_1.bin"), std::string::npos);
}

TEST(DataSets, AnUnknownNameGetsTheNearest) {
  const auto data = load_data_set("fasion-mnist", "");
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, base::Code::bad_input);
  EXPECT_EQ(data.error().message, "data set 'fasion-mnist': did you mean 'fashion-mnist'?");
  EXPECT_FALSE(load_data_set("emnist-../x", "/tmp"));
  for (const DataSetKind& kind : data_set_kinds())
    EXPECT_TRUE(check_data_set_name(kind.name)) << kind.name;
}

}  // namespace
}  // namespace ebb::fl
