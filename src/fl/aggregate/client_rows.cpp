// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/client_rows.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/sha256.h"
#include "fl/aggregate/spill.h"

namespace ebb::fl {
namespace {

constexpr std::uint64_t kPlaceBits = 3;

std::uint64_t mark_of(std::span<const float> values, std::uint32_t place) {
  base::Sha256 hash;
  hash.add(values.data(), values.size_bytes());
  const base::Sha256::Digest digest = hash.finish();
  std::uint64_t mark = 0;
  for (std::size_t i = 0; i < sizeof mark; ++i)
    mark = mark << 8U | static_cast<std::uint8_t>(digest[i]);
  return (mark & ~kPlaceBits) | (place + 1);
}

/// The pages that have something of `values`.
std::pair<char*, std::size_t> pages_of(std::span<float> values) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(values.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(values.data() + values.size());
  return {reinterpret_cast<char*>(begin), end - begin};
}

/// Drops them from this process's memory; what is in them stays in the file.
void drop(std::span<float> values) {
  const auto [begin, length] = pages_of(values);
  ::madvise(begin, length, MADV_DONTNEED);
}

base::Result<base::FileDescriptor> open_rows(const std::string& path) {
  base::FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  if (!file.is_open()) return base::system_error(errno, "%s: cannot be opened", path.c_str());
  struct stat about {};
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return base::error(base::Code::bad_input, "%s: is no file, expected one of a simulation",
                       path.c_str());
  return file;
}

}  // namespace

std::uint64_t ClientRows::bytes_of(bool has_folder, std::uint32_t clients, std::size_t elements) {
  return std::uint64_t{clients} * elements * sizeof(float) * (has_folder ? 2 : 1);
}

base::Result<ClientRows> ClientRows::create(const std::string& folder, std::uint32_t clients,
                                            std::size_t elements) {
  const std::uint64_t bytes = bytes_of(!folder.empty(), clients, elements);
  const std::string path = folder.empty() ? "" : folder + "/control-variates";
  auto file = path.empty() ? nameless_file("") : open_rows(path);
  if (!file) return file.error();
  const char* name = path.empty() ? "control variates" : path.c_str();
  if (const int failed = ::posix_fallocate(file->get(), 0, static_cast<off_t>(bytes)); failed != 0)
    return base::system_error(failed, "%s: no room for %llu bytes", name,
                              static_cast<unsigned long long>(bytes));
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
  if (mapped == MAP_FAILED) return base::system_error(errno, "%s: cannot be mapped", name);
  return ClientRows(path, static_cast<float*>(mapped), clients, elements);
}

ClientRows::ClientRows(ClientRows&& other) noexcept
    : path_(other.path_),
      values_(std::exchange(other.values_, nullptr)),
      elements_(other.elements_),
      marks_(std::move(other.marks_)),
      kept_(std::move(other.kept_)) {}

ClientRows::~ClientRows() {
  if (values_ != nullptr) ::munmap(values_, bytes());
}

void ClientRows::read(std::uint32_t client, std::span<float> into) const {
  const std::uint64_t place = marks_[client] & kPlaceBits;
  if (place == 0) {
    std::fill(into.begin(), into.end(), 0.0F);
    return;
  }
  const std::span<float> from = row(client, static_cast<std::uint32_t>(place - 1));
  std::copy(from.begin(), from.end(), into.begin());
  drop(from);
}

void ClientRows::write(std::uint32_t client, std::span<const float> values) {
  const std::uint32_t place = kept_[client] == 1 ? 1 : 0;
  const std::span<float> into = row(client, place);
  std::copy(values.begin(), values.end(), into.begin());
  marks_[client] = mark_of(values, place);
  drop(into);
}

base::Status ClientRows::keep() {
  if (path_.empty()) return {};
  for (std::uint32_t client = 0; client < marks_.size(); ++client) {
    const auto place = static_cast<std::uint8_t>(marks_[client] & kPlaceBits);
    if (place == kept_[client]) continue;
    const auto [begin, length] = pages_of(row(client, place - 1U));
    if (::msync(begin, length, MS_SYNC) != 0)
      return base::system_error(errno, "%s: cannot be written", path_.c_str());
    kept_[client] = place;
  }
  return {};
}

base::Status ClientRows::check() {
  for (std::uint32_t client = 0; client < marks_.size(); ++client) {
    const auto place = static_cast<std::uint32_t>(marks_[client] & kPlaceBits);
    kept_[client] = static_cast<std::uint8_t>(place);
    if (place == 0) continue;
    const bool is_there = place <= places();
    if (is_there && mark_of(row(client, place - 1), place - 1) == marks_[client]) {
      drop(row(client, place - 1));
      continue;
    }
    return base::error(base::Code::bad_input,
                       "%s: client %u: not as it was written, expected what belongs to the "
                       "checkpoint",
                       path_.c_str(), client);
  }
  return {};
}

}  // namespace ebb::fl
