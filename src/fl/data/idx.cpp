// SPDX-License-Identifier: Apache-2.0
#include "fl/data/idx.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "fl/data/data_reader.h"

namespace ebb::fl {
namespace {

// Two zeros, the type (8: bytes), the number of dimensions.
constexpr std::uint32_t kPicturesMagic = 0x00000803;
constexpr std::uint32_t kLabelsMagic = 0x00000801;
/// No picture of this format's sets is larger than 28; this keeps products far from overflow.
constexpr std::uint64_t kLargestSide = 4096;

/// The next big-endian number.
base::Result<std::uint32_t> read_number(DataReader& reader, const char* what) {
  std::array<std::uint8_t, 4> bytes{};
  const std::uint64_t at = reader.offset();
  const auto got = reader.read(bytes);
  if (!got) return got.error();
  if (*got < bytes.size()) {
    return base::error(base::Code::bad_input, "%s: ends at byte %llu, expected %s at byte %llu",
                       reader.name().c_str(), static_cast<unsigned long long>(reader.offset()),
                       what, static_cast<unsigned long long>(at));
  }
  std::uint32_t number = 0;
  for (const std::uint8_t byte : bytes)
    number = number << 8 | byte;
  return number;
}

base::Status expect_magic(DataReader& reader, std::uint32_t magic, const char* kind) {
  const auto number = read_number(reader, "the magic number of an IDX file");
  if (!number) return number.error();
  if (*number == magic) return {};
  return base::error(base::Code::bad_input, "%s: byte 0: 0x%08x, expected 0x%08x (IDX, %s)",
                     reader.name().c_str(), *number, magic, kind);
}

base::Result<std::uint32_t> read_dimension(DataReader& reader, const char* what,
                                           std::uint64_t most) {
  const std::uint64_t at = reader.offset();
  const auto number = read_number(reader, what);
  if (!number || (*number > 0 && *number <= most)) return number;
  return base::error(base::Code::bad_input, "%s: byte %llu: %u, expected %s from 1 to %llu",
                     reader.name().c_str(), static_cast<unsigned long long>(at), *number, what,
                     static_cast<unsigned long long>(most));
}

/// Offsets of samples are 32 bits wide throughout the simulator.
constexpr std::uint64_t kMostSamples = UINT32_MAX;

base::Result<std::unique_ptr<pack::ByteSource>> open_file(std::string& path) {
  if (::access(path.c_str(), F_OK) != 0 && ::access((path + ".gz").c_str(), F_OK) == 0)
    path += ".gz";
  return pack::open_source(path);
}

struct LoadedSplit {
  plan::Picture picture;
  Split split;
  std::string labels_path;
};

base::Result<LoadedSplit> load_split(const std::string& stem) {
  std::string pictures_path = stem + "-images-idx3-ubyte";
  std::string labels_path = stem + "-labels-idx1-ubyte";
  auto pictures_source = open_file(pictures_path);
  if (!pictures_source) return pictures_source.error();
  auto labels_source = open_file(labels_path);
  if (!labels_source) return labels_source.error();
  auto pictures = read_idx_pictures(**pictures_source, pictures_path);
  if (!pictures) return pictures.error();
  auto labels = read_idx_labels(**labels_source, labels_path);
  if (!labels) return labels.error();
  if (labels->size() != pictures->count) {
    return base::error(base::Code::bad_input,
                       "%s: %zu labels, expected %llu, one per picture of %s", labels_path.c_str(),
                       labels->size(), static_cast<unsigned long long>(pictures->count),
                       pictures_path.c_str());
  }
  return LoadedSplit{pictures->picture, Split{std::move(pictures->pixels), std::move(*labels)},
                     std::move(labels_path)};
}

base::Status expect_labels_below(std::uint32_t classes, const LoadedSplit& loaded) {
  constexpr std::size_t kHeader = 8;
  const std::vector<std::uint8_t>& labels = loaded.split.labels;
  const auto wrong = std::find_if(labels.begin(), labels.end(),
                                  [&](std::uint8_t label) { return label >= classes; });
  if (wrong == labels.end()) return {};
  return base::error(base::Code::bad_input, "%s: byte %zu: label %u, expected one below %u",
                     loaded.labels_path.c_str(),
                     kHeader + static_cast<std::size_t>(wrong - labels.begin()), unsigned{*wrong},
                     classes);
}

}  // namespace

base::Result<IdxPictures> read_idx_pictures(pack::ByteSource& source, const std::string& name) {
  DataReader reader(source, name);
  if (const auto magic = expect_magic(reader, kPicturesMagic, "pictures of bytes"); !magic)
    return magic.error();
  const auto count = read_dimension(reader, "a number of pictures", kMostSamples);
  if (!count) return count.error();
  const auto height = read_dimension(reader, "a number of rows", kLargestSide);
  if (!height) return height.error();
  const auto width = read_dimension(reader, "a number of columns", kLargestSide);
  if (!width) return width.error();
  IdxPictures pictures{{1, *height, *width}, *count, {}};
  const std::uint64_t bytes = std::uint64_t{*count} * *height * *width;
  if (const auto read = reader.append(pictures.pixels, bytes, "pictures"); !read)
    return read.error();
  if (const auto end = reader.expect_end(); !end) return end.error();
  return pictures;
}

base::Result<std::vector<std::uint8_t>> read_idx_labels(pack::ByteSource& source,
                                                        const std::string& name) {
  DataReader reader(source, name);
  if (const auto magic = expect_magic(reader, kLabelsMagic, "labels"); !magic) return magic.error();
  const auto count = read_dimension(reader, "a number of labels", kMostSamples);
  if (!count) return count.error();
  std::vector<std::uint8_t> labels;
  if (const auto read = reader.append(labels, *count, "labels"); !read) return read.error();
  if (const auto end = reader.expect_end(); !end) return end.error();
  return labels;
}

base::Status load_idx(const std::string& folder, const std::string& prefix, const std::string& test,
                      std::uint32_t classes, DataSet& data) {
  auto train_split = load_split(folder + "/" + prefix + "train");
  if (!train_split) return train_split.error();
  auto test_split = load_split(folder + "/" + prefix + test);
  if (!test_split) return test_split.error();
  const plan::Picture& one = train_split->picture;
  const plan::Picture& other = test_split->picture;
  if (one.height != other.height || one.width != other.width) {
    return base::error(
        base::Code::bad_input,
        "%s: pictures of %llux%llu to test with, expected %llux%llu as in training", folder.c_str(),
        static_cast<unsigned long long>(other.height), static_cast<unsigned long long>(other.width),
        static_cast<unsigned long long>(one.height), static_cast<unsigned long long>(one.width));
  }
  if (classes == 0) {
    const std::vector<std::uint8_t>& labels = train_split->split.labels;
    classes = *std::max_element(labels.begin(), labels.end()) + 1U;
  }
  for (const LoadedSplit* loaded : {&*train_split, &*test_split}) {
    if (const auto range = expect_labels_below(classes, *loaded); !range) return range;
  }
  data.picture = one;
  data.classes = classes;
  data.train = std::move(train_split->split);
  data.test = std::move(test_split->split);
  return {};
}

}  // namespace ebb::fl
