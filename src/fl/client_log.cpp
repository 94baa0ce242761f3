// SPDX-License-Identifier: Apache-2.0
#include "fl/client_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "fl/run_folder.h"

namespace ebb::fl {
namespace {

/// A million clients that changed in each of a thousand checkpoints.
constexpr std::uint64_t kMostLogBytes = 64ULL << 30;

}  // namespace

base::Status ClientLog::add(std::string_view records) {
  const base::FileDescriptor file(
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  struct stat about {};
  if (!file.is_open() || ::fstat(file.get(), &about) != 0)
    return base::system_error(errno, "%s: cannot be opened", path_.c_str());
  if (!S_ISREG(about.st_mode))
    return base::error(base::Code::bad_input, "%s: is no file, expected one of a simulation",
                       path_.c_str());
  const auto end = static_cast<off_t>(bytes_);
  if (::ftruncate(file.get(), end) != 0 || ::lseek(file.get(), end, SEEK_SET) != end)
    return base::system_error(errno, "%s: cannot be written", path_.c_str());
  if (const int failed = base::write_all(file.get(), records); failed != 0)
    return base::system_error(failed, "%s: cannot be written", path_.c_str());
  if (::fdatasync(file.get()) != 0)
    return base::system_error(errno, "%s: cannot be written", path_.c_str());
  bytes_ += records.size();
  hash_.add(records.data(), records.size());
  return {};
}

base::Json ClientLog::seal() const {
  return base::Json::object(
      {{"bytes", bytes_}, {"sha256", base::hex_text(base::Sha256(hash_).finish())}});
}

base::Result<std::string> ClientLog::take(const base::Json& seal) {
  const auto differs = [&] {
    return base::error(base::Code::bad_input,
                       "%s: not as it was written, expected what belongs to the checkpoint",
                       path_.c_str());
  };
  const base::Json* bytes = seal.find("bytes");
  const base::Json* sha256 = seal.find("sha256");
  if (bytes == nullptr || !bytes->as_unsigned() || sha256 == nullptr) return differs();
  if (auto found = expect_file(path_); !found) return found.error();
  auto content = base::read_file(path_, kMostLogBytes);
  if (!content) return content.error();
  if (content->size() < *bytes->as_unsigned()) return differs();
  content->resize(*bytes->as_unsigned());
  base::Sha256 hash;
  hash.add(content->data(), content->size());
  if (const std::string* expected = sha256->as_string();
      expected == nullptr || base::hex_text(base::Sha256(hash).finish()) != *expected)
    return differs();
  bytes_ = content->size();
  hash_ = hash;
  return content;
}

}  // namespace ebb::fl
