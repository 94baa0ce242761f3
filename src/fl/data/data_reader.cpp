// SPDX-License-Identifier: Apache-2.0
#include "fl/data/data_reader.h"

#include <algorithm>
#include <new>
#include <stdexcept>

namespace ebb::fl {
namespace {

/// Deflate cannot pack better than this, so no file holds more than so many times its length.
constexpr std::uint64_t kBestPacking = 1032;
constexpr std::size_t kStep = 1 << 20;

unsigned long long shown(std::uint64_t number) {
  return number;
}

}  // namespace

base::Status reserve(std::vector<std::uint8_t>& bytes, std::uint64_t count,
                     const std::string& name) {
  try {
    bytes.reserve(bytes.size() + count);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  if (bytes.capacity() - bytes.size() >= count) return {};
  return base::error(base::Code::out_of_memory, "%s: no memory for its %llu bytes", name.c_str(),
                     shown(count));
}

base::Status make_room(std::vector<std::uint8_t>& bytes, std::uint64_t count,
                       const std::string& name) {
  if (bytes.capacity() - bytes.size() >= count) return {};
  return reserve(bytes, std::max<std::uint64_t>(count, bytes.size() / 2), name);
}

base::Result<std::size_t> DataReader::read(std::span<std::uint8_t> into) {
  std::size_t have = 0;
  while (have < into.size()) {
    const auto got = source_.read(reinterpret_cast<char*>(into.data()) + have, into.size() - have);
    if (!got) return got.error();
    if (*got == 0) break;
    have += *got;
  }
  offset_ += have;
  return have;
}

base::Status DataReader::append(std::vector<std::uint8_t>& bytes, std::uint64_t count,
                                const char* what) {
  const std::uint64_t begin = offset_;
  const std::uint64_t length = source_.total();
  if (length > 0 && count / kBestPacking > length) {
    return base::error(base::Code::bad_input,
                       "%s: byte %llu: expected %llu bytes of %s, more than a file of %llu bytes "
                       "can hold",
                       name_.c_str(), shown(begin), shown(count), what, shown(length));
  }
  if (length > 0) {
    if (const auto room = reserve(bytes, count, name_); !room) return room;
  }
  for (std::uint64_t left = count; left > 0;) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(left, kStep));
    if (const auto room = make_room(bytes, step, name_); !room) return room;
    const std::size_t had = bytes.size();
    bytes.resize(had + step);
    const auto got = read(std::span(bytes).subspan(had));
    if (!got) return got.error();
    if (*got < step) {
      return base::error(base::Code::bad_input,
                         "%s: ends at byte %llu, expected %llu bytes of %s from byte %llu on",
                         name_.c_str(), shown(offset_), shown(count), what, shown(begin));
    }
    left -= step;
  }
  return {};
}

base::Status DataReader::expect_end() {
  const std::uint64_t end = offset_;
  std::uint8_t more = 0;
  const auto got = read({&more, 1});
  if (!got) return got.error();
  if (*got == 0) return {};
  return base::error(base::Code::bad_input, "%s: byte %llu: expected the end of the file",
                     name_.c_str(), shown(end));
}

}  // namespace ebb::fl
