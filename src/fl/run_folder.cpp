// SPDX-License-Identifier: Apache-2.0
#include "fl/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/text.h"

namespace ebb::fl {
namespace {

/// A line has some kilobytes: no simulation has enough rounds to reach this.
constexpr std::uint64_t kMostBytes = 4ULL << 30;

}  // namespace

base::Status RunFolder::begin(const base::Json& config) {
  std::error_code failed;
  std::filesystem::create_directories(path_, failed);
  if (failed)
    return base::error(base::Code::io, "%s: cannot make the folder: %s", path_.c_str(),
                       failed.message().c_str());
  if (std::filesystem::exists(config_path(), failed))
    return base::error(base::Code::bad_input,
                       "%s: has a simulation in it already, expected another folder or --resume",
                       path_.c_str());
  if (auto written = base::write_file_atomically(config_path(), config.text(true) + "\n"); !written)
    return written;
  if (auto taken = take(); !taken) return taken;
  return base::write_file_atomically(rounds_path(), "");
}

base::Status RunFolder::take() {
  base::FileDescriptor file(::open(config_path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open())
    return base::system_error(errno, "%s: cannot be opened", config_path().c_str());
  // Goes with the process, however that ends.
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return base::error(base::Code::bad_input, "%s: another simulation works in it", path_.c_str());
  lock_ = std::move(file);
  return {};
}

base::Result<std::vector<base::Json>> RunFolder::keep_rounds(std::uint32_t rounds) {
  const auto content = base::read_file(rounds_path(), kMostBytes);
  if (!content) return content.error();
  std::vector<base::Json> kept;
  std::size_t end = 0;
  while (kept.size() < rounds) {
    const std::size_t stop = content->find('\n', end);
    auto line = stop == std::string::npos
                    ? base::Result<base::Json>(base::Error{})
                    : base::parse_json(std::string_view(*content).substr(end, stop - end));
    if (!line)
      return base::error(base::Code::bad_input, "%s: line %zu: expected the report of round %zu",
                         rounds_path().c_str(), kept.size() + 1, kept.size());
    kept.push_back(std::move(*line));
    end = stop + 1;
  }
  // The run was stopped between the line of a round and its checkpoint: the round runs again.
  if (end < content->size()) {
    if (auto written = base::write_file_atomically(rounds_path(), content->substr(0, end));
        !written)
      return written.error();
  }
  return kept;
}

base::Status RunFolder::add_round(const base::Json& report) {
  const base::FileDescriptor file(::open(rounds_path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.is_open())
    return base::system_error(errno, "%s: cannot be opened", rounds_path().c_str());
  const std::string line = report.text() + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(file.get(), line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return base::system_error(count < 0 ? errno : ENOSPC, "%s: cannot be written",
                                rounds_path().c_str());
    written += static_cast<std::size_t>(count);
  }
  if (::fdatasync(file.get()) != 0)
    return base::system_error(errno, "%s: cannot be written", rounds_path().c_str());
  return {};
}

}  // namespace ebb::fl
