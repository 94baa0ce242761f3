// SPDX-License-Identifier: Apache-2.0
#include "pack/bit_reader.h"

#include <algorithm>
#include <utility>

namespace ebb::pack {
namespace {

constexpr std::size_t kInputBuffer = 64 << 10;

}  // namespace

BitReader::BitReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)),
      buffer_(std::make_unique_for_overwrite<char[]>(kInputBuffer)),
      end_(buffer_.get()) {
  window_.at = end_;
}

/// False at the end and where reading failed.
bool BitReader::fetch() {
  if (ended_) return false;
  char* const start = buffer_.get();
  before_ += static_cast<std::uint64_t>(window_.at - start);
  const auto kept = static_cast<std::size_t>(end_ - window_.at);
  std::memmove(start, window_.at, kept);
  window_.at = start;
  end_ = start + kept;
  auto got = source_->read(start + kept, kInputBuffer - kept);
  ended_ = !got || *got == 0;
  if (!got) {
    failed_ = true;
    error_ = std::move(got).error();
  } else {
    end_ += *got;
  }
  return !ended_;
}

const char* BitReader::bytes_end() {
  if (end_ - window_.at < 8) fetch();
  return end_;
}

void BitReader::need_slowly(unsigned count) {
  while (window_.count < count) {
    std::uint64_t byte = 0;
    if (window_.at < end_ || fetch()) {
      byte = static_cast<unsigned char>(*window_.at++);
    } else {
      ++phantom_;
    }
    window_.bits |= byte << window_.count;
    window_.count += 8;
  }
}

std::size_t BitReader::take_bytes(char* into, std::size_t most) {
  std::size_t given = 0;
  while (given < most && window_.count > 8 * phantom_) {
    into[given++] = static_cast<char>(take(8));
  }
  if (window_.count > 0) return given;
  window_.bits = 0;
  if (given == 0 && window_.at == end_) fetch();
  const std::size_t count = std::min(most - given, static_cast<std::size_t>(end_ - window_.at));
  std::memcpy(into + given, window_.at, count);
  window_.at += count;
  return given + count;
}

bool BitReader::at_end() {
  need(8);
  return phantom_ > 0 && window_.count <= 8 * phantom_;
}

std::uint64_t BitReader::position() const {
  const std::uint64_t ahead = window_.count / 8 - std::min(window_.count / 8, phantom_);
  return before_ + static_cast<std::uint64_t>(window_.at - buffer_.get()) - ahead;
}

}  // namespace ebb::pack
