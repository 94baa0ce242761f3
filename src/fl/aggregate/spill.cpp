// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/spill.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/file.h"

namespace ebb::fl {
namespace {

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder == '/' ? folder : "/tmp";
}

}  // namespace

base::Result<base::FileDescriptor> nameless_file(const std::string& folder) {
  const std::string place = folder.empty() ? temporary_folder() : folder;
  base::FileDescriptor file(::open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  // Not every file system knows them.
  if (!file.is_open() && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    std::string name = place + "/ebb-updates-XXXXXX";
    file = base::FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (file.is_open()) ::unlink(name.c_str());
  }
  if (file.is_open()) return file;
  return base::system_error(errno, "%s: cannot make a file for updates", place.c_str());
}

base::Result<Spill> Spill::create(const std::string& folder, std::size_t count) {
  const std::string place = folder.empty() ? temporary_folder() : folder;
  const auto file = nameless_file(folder);
  if (!file) return file.error();
  const std::size_t bytes = count * sizeof(float);
  if (const int failed = ::posix_fallocate(file->get(), 0, static_cast<off_t>(bytes)); failed != 0)
    return base::system_error(failed, "%s: no room for %zu bytes of updates", place.c_str(), bytes);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
  if (mapped == MAP_FAILED)
    return base::system_error(errno, "%s: cannot map updates", place.c_str());
  return Spill(static_cast<float*>(mapped), count);
}

Spill::Spill(Spill&& other) noexcept
    : values_(std::exchange(other.values_, nullptr)), count_(other.count_) {}

Spill::~Spill() {
  if (values_ != nullptr) ::munmap(values_, count_ * sizeof(float));
}

void Spill::write_out(std::size_t first, std::size_t count) {
  // Whole pages inside the range: those at its ends may be in use by its neighbours.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = (first * sizeof(float) + page - 1) / page * page;
  const std::size_t end = (first + count) * sizeof(float) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<char*>(values_) + begin, end - begin, MADV_DONTNEED);
}

void Spill::release() {
  ::madvise(values_, count_ * sizeof(float), MADV_DONTNEED);
}

}  // namespace ebb::fl
