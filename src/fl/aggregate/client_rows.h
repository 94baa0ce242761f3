// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

/// A row of floats for each client, in a mapped file: the kernel may write it out and drop it from
/// memory. A file with a name has two places for each row: what was there at the last checkpoint
/// stays until the next. Movable, not copyable. Rows of different clients may be used at the same
/// time, everything else by one thread alone.
class ClientRows {
 public:
  /// In `folder`, where a file that is there is gone on with; "" for one without a name, which is
  /// gone with the process. The room is taken at once: Code::io where the disk has too little.
  static base::Result<ClientRows> create(const std::string& folder, std::uint32_t clients,
                                         std::size_t elements);
  /// What that takes on disk.
  static std::uint64_t bytes_of(bool has_folder, std::uint32_t clients, std::size_t elements);

  ClientRows(ClientRows&& other) noexcept;
  ClientRows& operator=(ClientRows&&) = delete;
  ~ClientRows();

  /// Zeros where nothing was written.
  void read(std::uint32_t client, std::span<float> into) const;
  void write(std::uint32_t client, std::span<const float> values);
  bool has(std::uint32_t client) const { return marks_[client] != 0; }

  /// For a checkpoint: everything is on disk, and stays as it is until this is called again.
  base::Status keep();
  /// Which rows are where, and what they were: to be saved with a checkpoint, and written back.
  std::span<std::uint64_t> marks() { return marks_; }
  /// After marks() were written back. Code::bad_input where a row is not as it was kept.
  base::Status check();

 private:
  ClientRows(std::string path, float* values, std::uint32_t clients, std::size_t elements)
      : path_(std::move(path)),
        values_(values),
        elements_(elements),
        marks_(clients),
        kept_(clients) {}

  std::uint32_t places() const { return path_.empty() ? 1 : 2; }
  std::size_t bytes() const { return marks_.size() * places() * elements_ * sizeof(float); }
  std::span<float> row(std::uint32_t client, std::uint32_t place) const {
    return {values_ + (std::size_t{client} * places() + place) * elements_, elements_};
  }

  const std::string path_;  ///< "" without a name
  float* values_;
  const std::size_t elements_;
  /// 0 where nothing was written; else 1 + the place, and the beginning of the row's SHA-256.
  std::vector<std::uint64_t> marks_;
  std::vector<std::uint8_t> kept_;  ///< likewise 1 + the place, at the last checkpoint
};

}  // namespace ebb::fl
