// SPDX-License-Identifier: Apache-2.0
#include "sites/table_view.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/file.h"
#include "sites/layout.h"
#include "sites/tally.h"

namespace ebb::sites {
namespace {

// No honest table comes near any of these.
constexpr std::uint64_t kWidestShift = 40;
constexpr std::uint64_t kLargestBlock = std::uint64_t{1} << 48;
constexpr std::size_t kMostModules = 20'000;

/// As Header and Entry, of a file that is only read.
struct HeaderCopy {
  std::uint64_t magic, pid, began_ns, data_used, levels, modules, thinned, samples, dropped,
      no_python, spent_ns, python, slower, last_ns, room;
};
struct EntryCopy {
  std::uint64_t address, size, about, milliseconds;
};
static_assert(sizeof(HeaderCopy) == sizeof(Header) && sizeof(EntryCopy) == sizeof(Entry));

/// Never by mapping: a file that is cut short must not become a SIGBUS.
bool read_at(int file, void* to, std::size_t bytes, std::uint64_t offset) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(file, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

struct OpenTable {
  base::FileDescriptor file;
  HeaderCopy header{};
};

base::Result<OpenTable> open_table(const std::string& path) {
  OpenTable table;
  table.file =
      base::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!table.file.is_open()) return base::system_error(errno, "cannot open %s", path.c_str());
  HeaderCopy& header = table.header;
  if (!read_at(table.file.get(), &header, sizeof header, 0) || header.magic != kMagic ||
      header.levels < 1 || header.levels > kLevels || header.thinned > kWidestShift ||
      header.slower > kWidestShift) {
    return base::error(base::Code::bad_input, "%s: not a table of sites of this ebb", path.c_str());
  }
  header.data_used = std::min<std::uint64_t>(header.data_used, kDataEnd - kHeaderBytes);
  return table;
}

/// Python itself: python3.12, python3.13t, libpython3.11.so.1.0; no extension of it.
bool is_interpreter(const Module& module) {
  const std::string name = module.path.substr(module.path.rfind('/') + 1);
  return name.starts_with("libpython3") || name == "python" ||
         (name.starts_with("python3") && name.find(".so") == std::string::npos);
}

}  // namespace

base::Result<TableView> TableView::read(const std::string& path) {
  const auto table = open_table(path);
  if (!table) return table.error();
  const HeaderCopy& header = table->header;
  TableView view;
  view.pid = header.pid;
  view.began_ns = header.began_ns;
  view.room = header.room;
  view.last_ns = std::max(header.last_ns, header.began_ns);
  view.samples = header.samples;
  view.dropped = header.dropped;
  view.no_python = header.no_python;
  view.spent_seconds = static_cast<double>(header.spent_ns) / 1e9;
  view.distance = kBaseDistance << std::max(header.thinned, header.slower);
  std::vector<EntryCopy> entries(kFirstSets * kSlotsInSet);
  const std::size_t all =
      (first_set_of(header.levels - 1) + sets_in(header.levels - 1)) * kSlotsInSet;
  std::map<std::uint32_t, double> bytes, variances;
  for (std::size_t first = 0; first < all; first += entries.size()) {
    if (!read_at(table->file.get(), entries.data(), entries.size() * sizeof(EntryCopy),
                 kDataEnd + first * sizeof(EntryCopy)))
      return base::error(base::Code::bad_input, "%s became shorter", path.c_str());
    for (const EntryCopy& entry : entries) {
      if (entry.address <= 1 || entry.size == 0 || entry.size > kLargestBlock) continue;
      const auto shift = static_cast<unsigned>(entry.about >> 32 & 0xFF);
      const auto draw = static_cast<std::uint32_t>(entry.about >> 40);
      const auto thinned = static_cast<unsigned>(header.thinned);
      if (shift > kWidestShift || !stays(entry.size, shift, thinned, draw)) continue;
      const auto stack = static_cast<std::uint32_t>(entry.about);
      const unsigned wider = std::max(shift, thinned);
      const double weight = weight_of(entry.size, wider);
      bytes[stack] += weight;
      variances[stack] += weight * weight * (1 - chance_of(entry.size, wider));
      ++view.sites[stack].samples;
    }
  }
  for (auto& [stack, site] : view.sites) {
    site.bytes = static_cast<std::uint64_t>(std::llround(std::min(bytes[stack], 0x1.0p62)));
    site.error = std::sqrt(variances[stack]);
  }
  if (header.python == 0 && view.no_python == 0) {
    const auto reader = StackReader::open(path);
    const std::vector<Module> modules = reader ? reader->modules() : std::vector<Module>();
    if (std::any_of(modules.begin(), modules.end(), is_interpreter)) view.no_python = view.samples;
  }
  return view;
}

base::Result<StackReader> StackReader::open(const std::string& path) {
  const auto table = open_table(path);
  if (!table) return table.error();
  std::string data(kHeaderBytes + table->header.data_used, '\0');
  if (!read_at(table->file.get(), data.data(), data.size(), 0))
    return base::error(base::Code::bad_input, "%s became shorter", path.c_str());
  return StackReader(std::move(data));
}

std::string StackReader::record(std::uint64_t offset) const {
  RecordHead head{};
  if (offset < kHeaderBytes || offset % 8 != 0 || offset > data_.size() ||
      data_.size() - offset < sizeof head)
    return {};
  std::memcpy(&head, data_.data() + offset, sizeof head);
  if (head.bytes > data_.size() - offset - sizeof head) return {};
  return data_.substr(offset + sizeof head, head.bytes);
}

RawStack StackReader::stack(std::uint32_t number) const {
  RawStack stack;
  const std::string bytes = record(number);
  StackHead head{};
  if (bytes.size() < sizeof head) return stack;
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::size_t natives = head.native * sizeof(std::uint64_t);
  const std::size_t pythons = head.python * sizeof(PythonCall);
  if (head.native > kMostNative || head.python > kMostPython ||
      bytes.size() != sizeof head + natives + pythons)
    return stack;
  stack.is_joined = head.is_joined != 0;
  stack.native.resize(head.native);
  if (natives > 0) std::memcpy(stack.native.data(), bytes.data() + sizeof head, natives);
  for (std::size_t i = 0; i < head.python; ++i) {
    PythonCall call{};
    std::memcpy(&call, bytes.data() + sizeof head + natives + i * sizeof call, sizeof call);
    stack.python.push_back({record(call.function), record(call.file), call.line});
  }
  return stack;
}

std::vector<Module> StackReader::modules() const {
  std::vector<Module> found;
  HeaderCopy header{};
  std::memcpy(&header, data_.data(), sizeof header);
  for (std::uint64_t at = header.modules; at != 0 && found.size() < kMostModules;) {
    const std::string bytes = record(at);
    ModuleHead head{};
    if (bytes.size() < sizeof head) break;
    std::memcpy(&head, bytes.data(), sizeof head);
    found.push_back({head.start, head.end, head.bias, bytes.substr(sizeof head)});
    // Each names one that was there before: nothing goes in circles.
    if (head.next >= at) break;
    at = head.next;
  }
  return found;
}

}  // namespace ebb::sites
