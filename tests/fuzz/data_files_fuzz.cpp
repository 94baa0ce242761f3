// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "fl/data/cifar.h"
#include "fl/data/idx.h"

using namespace ebb;

namespace {

template <class T>
void expect_clear(const base::Result<T>& result) {
  if (result) return;
  EBB_CHECK(result.error().code == base::Code::bad_input);
  EBB_CHECK(result.error().message.find("file: ") == 0);
  EBB_CHECK(result.error().message.find('\n') == std::string::npos);
}

void read_as_cifar(pack::ByteSource& source, const fl::CifarFormat& format) {
  fl::Split split;
  const base::Status read = fl::read_cifar(source, "file", format, split);
  expect_clear(read);
  EBB_CHECK(split.pixels.size() == split.labels.size() * 3 * 32 * 32);
  for (const std::uint8_t label : split.labels)
    EBB_CHECK(label < format.classes);
}

void read_as_pictures(pack::ByteSource& source) {
  const auto pictures = fl::read_idx_pictures(source, "file");
  expect_clear(pictures);
  if (!pictures) return;
  const plan::Picture& picture = pictures->picture;
  EBB_CHECK(pictures->pixels.size() == pictures->count * picture.height * picture.width);
}

}  // namespace

/// The first byte chooses the reader, and whether the rest may be gzip; whatever that is, there are
/// as many pictures as labels, or one clear line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  std::unique_ptr<pack::ByteSource> source = std::make_unique<pack::TextSource>(text);
  if (data[0] % 8 >= 4) {
    auto unpacked = pack::unpacked(std::move(source), "file");
    EBB_CHECK(unpacked.has_value());
    source = std::move(*unpacked);
  }
  switch (data[0] % 4) {
    case 0:
      read_as_pictures(*source);
      break;
    case 1:
      expect_clear(fl::read_idx_labels(*source, "file"));
      break;
    case 2:
      read_as_cifar(*source, fl::cifar_10());
      break;
    default:
      read_as_cifar(*source, fl::cifar_100());
  }
  return 0;
}
