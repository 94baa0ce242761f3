// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace ebb::pack {

/// Bytes in order, read once. Not thread-safe.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Writes at most `most` bytes to `into` and says how many; 0 only at the end.
  virtual base::Result<std::size_t> read(char* into, std::size_t most) = 0;

  /// How much of the file has been taken so far, and its size; 0 where that is not known. Of a
  /// packed file these count packed bytes.
  virtual std::uint64_t done() const = 0;
  virtual std::uint64_t total() const = 0;
};

/// The bytes of `text`, which must outlive the source.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}

  base::Result<std::size_t> read(char* into, std::size_t most) override;
  std::uint64_t done() const override { return done_; }
  std::uint64_t total() const override { return text_.size(); }

 private:
  std::string_view text_;
  std::size_t done_ = 0;
};

/// The bytes of a file, through read(): a file that shrinks meanwhile just ends early.
class FileSource final : public ByteSource {
 public:
  FileSource(base::FileDescriptor file, std::string path, std::uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), size_(size) {}

  base::Result<std::size_t> read(char* into, std::size_t most) override;
  std::uint64_t done() const override { return done_; }
  std::uint64_t total() const override { return size_; }

 private:
  base::FileDescriptor file_;
  std::string path_;
  std::uint64_t size_;
  std::uint64_t done_ = 0;
};

/// The bytes of another source, which may be so many at most: a small packed file can hold
/// terabytes. More of them are Code::bad_input.
class LimitedSource final : public ByteSource {
 public:
  LimitedSource(std::unique_ptr<ByteSource> source, std::uint64_t most, std::string name)
      : source_(std::move(source)), most_(most), name_(std::move(name)) {}

  base::Result<std::size_t> read(char* into, std::size_t most) override;
  std::uint64_t done() const override { return source_->done(); }
  std::uint64_t total() const override { return source_->total(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::uint64_t most_;
  std::string name_;
  std::uint64_t given_ = 0;
};

/// What `source` holds, unpacked where it begins as gzip does. `name` begins the messages.
base::Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> source,
                                                   const std::string& name);

/// The bytes of the file at `path`, unpacked where its content (not its name) is gzip. Fails with
/// not_found or not_permitted where it cannot be opened, with bad_input for a directory.
base::Result<std::unique_ptr<ByteSource>> open_source(const std::string& path);

}  // namespace ebb::pack
