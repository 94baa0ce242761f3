// SPDX-License-Identifier: Apache-2.0
#include "fl/data/cifar.h"

#include <span>

#include "fl/data/data_reader.h"

namespace ebb::fl {
namespace {

constexpr plan::Picture kPicture = {3, 32, 32};
constexpr std::size_t kPixels = 3 * 32 * 32;
constexpr std::size_t kRecordsAtOnce = 64;
/// What the published files hold. Memory that is reserved but never written takes no room.
constexpr std::size_t kTrainRecords = 50000;
constexpr std::size_t kTestRecords = 10000;

base::Status load_files(const std::string& folder, const std::vector<std::string>& files,
                        std::size_t records, const CifarFormat& format, Split& split) {
  if (const auto room = reserve(split.pixels, records * kPixels, folder); !room) return room;
  if (const auto room = reserve(split.labels, records, folder); !room) return room;
  for (const std::string& file : files) {
    const std::string path = folder + "/" + file;
    const auto source = pack::open_source(path);
    if (!source) return source.error();
    if (const auto read = read_cifar(**source, path, format, split); !read) return read;
  }
  return {};
}

}  // namespace

CifarFormat cifar_10() {
  return {10,
          1,
          {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
           "data_batch_5.bin"},
          "test_batch.bin"};
}

CifarFormat cifar_100() {
  return {100, 2, {"train.bin"}, "test.bin"};
}

base::Status read_cifar(pack::ByteSource& source, const std::string& name,
                        const CifarFormat& format, Split& split) {
  const std::size_t length = format.labels + kPixels;
  std::vector<std::uint8_t> buffer(kRecordsAtOnce * length);
  DataReader reader(source, name);
  for (;;) {
    const std::uint64_t begin = reader.offset();
    const auto got = reader.read(buffer);
    if (!got) return got.error();
    if (begin == 0 && *got == 0) {
      return base::error(base::Code::bad_input, "%s: empty, expected records of %zu bytes",
                         name.c_str(), length);
    }
    if (*got % length != 0) {
      return base::error(base::Code::bad_input,
                         "%s: ends at byte %llu inside a record, expected whole ones of %zu bytes",
                         name.c_str(), static_cast<unsigned long long>(reader.offset()), length);
    }
    if (const auto room = make_room(split.pixels, *got, name); !room) return room;
    if (const auto room = make_room(split.labels, kRecordsAtOnce, name); !room) return room;
    for (std::size_t at = 0; at < *got; at += length) {
      const std::span<const std::uint8_t> record(buffer.data() + at, length);
      const std::uint8_t label = record[format.labels - 1];
      if (label >= format.classes) {
        return base::error(base::Code::bad_input, "%s: byte %llu: label %u, expected one below %u",
                           name.c_str(),
                           static_cast<unsigned long long>(begin + at + format.labels - 1),
                           unsigned{label}, format.classes);
      }
      split.labels.push_back(label);
      split.pixels.insert(split.pixels.end(), record.begin() + static_cast<long>(format.labels),
                          record.end());
    }
    if (*got < buffer.size()) return {};
  }
}

base::Status load_cifar(const std::string& folder, const CifarFormat& format, DataSet& data) {
  data.picture = kPicture;
  data.classes = format.classes;
  if (const auto train = load_files(folder, format.train_files, kTrainRecords, format, data.train);
      !train) {
    return train;
  }
  return load_files(folder, {format.test_file}, kTestRecords, format, data.test);
}

}  // namespace ebb::fl
