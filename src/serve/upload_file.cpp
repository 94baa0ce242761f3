// SPDX-License-Identifier: Apache-2.0
#include "serve/upload_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace ebb::serve {
namespace {

constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 30;

base::FileDescriptor unnamed_file_in(const std::string& folder) {
  base::FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  std::string path = folder + "/ebb-XXXXXX";  // not every file system knows O_TMPFILE
  base::FileDescriptor named(::mkostemp(path.data(), O_CLOEXEC));
  if (named.is_open()) ::unlink(path.c_str());
  return named;
}

}  // namespace

base::Result<base::FileDescriptor> unnamed_file() {
  const char* chosen = std::getenv("TMPDIR");
  for (const char* folder : {chosen, "/var/tmp", "/tmp"}) {
    if (folder == nullptr || *folder == '\0') continue;
    base::FileDescriptor file = unnamed_file_in(folder);
    if (file.is_open()) return file;
  }
  return base::system_error(errno, "cannot make a temporary file");
}

base::Result<std::unique_ptr<pack::ByteSource>> source_of_upload(base::FileDescriptor body,
                                                                 const std::string& name) {
  struct stat status {};
  if (::fstat(body.get(), &status) != 0) return base::system_error(errno, "%s", name.c_str());
  const auto size = static_cast<std::uint64_t>(status.st_size);
  auto source =
      pack::unpacked(std::make_unique<pack::FileSource>(std::move(body), name, size), name);
  if (!source) return source.error();
  return std::unique_ptr<pack::ByteSource>(
      std::make_unique<pack::LimitedSource>(*std::move(source), kMostUnpacked, name));
}

}  // namespace ebb::serve
