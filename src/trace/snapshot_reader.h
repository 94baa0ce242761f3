// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "pack/byte_source.h"
#include "trace/snapshot.h"

namespace ebb::trace {

struct ReadOptions {
  /// Called now and then with the bytes of the file that are done and its size, 0 if not known.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;

  /// How much memory a file may take beyond its own (unpacked) bytes; then it is refused. Frameless
  /// traces of PyTorch before 2.2 are dense enough to need more from about 200 MB on.
  std::uint64_t allowance = 40 * base::kMiB;
};

/// Reads what torch.cuda.memory._dump_snapshot (PyTorch 2.0 on, pickle protocol 2 to 5) or a
/// pickled torch.cuda.memory_snapshot() left in a file, plain or gzip. Nothing in the file is
/// executed or trusted. Streams: memory is what the result needs and a few bytes per object that
/// the file could refer back to, and never more than the unpacked size plus the allowance. Fails
/// with one line, bad_input for whatever is wrong with the content. Any thread, any number at once.
base::Result<Snapshot> read_snapshot(const std::string& path, const ReadOptions& options = {});

/// The same out of memory; `name` begins the messages.
base::Result<Snapshot> parse_snapshot(std::string_view bytes, const std::string& name,
                                      const ReadOptions& options = {});

/// The same out of any source of (unpacked) bytes.
base::Result<Snapshot> read_snapshot(pack::ByteSource& source, const std::string& name,
                                     const ReadOptions& options = {});

}  // namespace ebb::trace
