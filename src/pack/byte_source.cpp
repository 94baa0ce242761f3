// SPDX-License-Identifier: Apache-2.0
#include "pack/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "pack/inflate.h"

namespace ebb::pack {
namespace {

/// A source whose first bytes were already looked at.
class PeekedSource final : public ByteSource {
 public:
  PeekedSource(std::unique_ptr<ByteSource> rest, std::string_view first)
      : rest_(std::move(rest)), first_(first) {}

  base::Result<std::size_t> read(char* into, std::size_t most) override {
    if (given_ == first_.size()) return rest_->read(into, most);
    const std::size_t count = first_.copy(into, most, given_);
    given_ += count;
    return count;
  }
  std::uint64_t done() const override { return rest_->done(); }
  std::uint64_t total() const override { return rest_->total(); }

 private:
  std::unique_ptr<ByteSource> rest_;
  std::string first_;
  std::size_t given_ = 0;
};

}  // namespace

base::Result<std::size_t> TextSource::read(char* into, std::size_t most) {
  const std::size_t count = text_.copy(into, most, done_);
  done_ += count;
  return count;
}

base::Result<std::size_t> FileSource::read(char* into, std::size_t most) {
  ssize_t got = 0;
  do {
    got = ::read(file_.get(), into, most);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return base::system_error(errno, "cannot read %s", path_.c_str());
  done_ += static_cast<std::uint64_t>(got);
  return static_cast<std::size_t>(got);
}

base::Result<std::size_t> LimitedSource::read(char* into, std::size_t most) {
  const auto got = source_->read(into, most);
  if (!got) return got.error();
  given_ += *got;
  if (given_ > most_) {
    return base::error(base::Code::bad_input, "%s: expected at most %s, unpacked", name_.c_str(),
                       base::bytes_text(most_).c_str());
  }
  return *got;
}

base::Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> source,
                                                   const std::string& name) {
  std::array<char, 2> magic{};
  std::size_t have = 0;
  while (have < magic.size()) {
    const auto got = source->read(magic.data() + have, magic.size() - have);
    if (!got) return got.error();
    if (*got == 0) break;
    have += *got;
  }
  auto whole =
      std::make_unique<PeekedSource>(std::move(source), std::string_view(magic.data(), have));
  if (have < 2 || magic[0] != '\x1f' || magic[1] != '\x8b') {
    return std::unique_ptr<ByteSource>(std::move(whole));
  }
  return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(whole), name));
}

base::Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return base::system_error(errno, "cannot open %s", path.c_str());
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return base::system_error(errno, "cannot look at %s", path.c_str());
  }
  if (S_ISDIR(status.st_mode)) {
    return base::error(base::Code::bad_input, "%s: is a directory, expected a snapshot file",
                       path.c_str());
  }
  const std::uint64_t size =
      S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  return unpacked(std::make_unique<FileSource>(std::move(file), path, size), path);
}

}  // namespace ebb::pack
