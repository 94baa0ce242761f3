// SPDX-License-Identifier: Apache-2.0
#include "trace/snapshot_reader.h"

#include <memory>
#include <new>

#include "trace/pickle_reader.h"
#include "trace/snapshot_machine.h"

namespace ebb::trace {

base::Result<Snapshot> read_snapshot(pack::ByteSource& source, const std::string& name,
                                     const ReadOptions& options) try {
  PickleReader reader(source, name, options.progress);
  SnapshotMachine machine(reader, options.allowance);
  return machine.run();
} catch (const std::bad_alloc&) {
  return base::error(base::Code::out_of_memory, "%s: not enough memory to read it", name.c_str());
}

base::Result<Snapshot> read_snapshot(const std::string& path, const ReadOptions& options) {
  const auto source = pack::open_source(path);
  if (!source) return source.error();
  return read_snapshot(**source, path, options);
}

base::Result<Snapshot> parse_snapshot(std::string_view bytes, const std::string& name,
                                      const ReadOptions& options) {
  const auto source = pack::unpacked(std::make_unique<pack::TextSource>(bytes), name);
  if (!source) return source.error();
  return read_snapshot(**source, name, options);
}

}  // namespace ebb::trace
