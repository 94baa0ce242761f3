// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace ebb::support {

/// A named pipe without room, which somebody has open and does not read.
class FullPipe {
 public:
  explicit FullPipe(std::string path) : path_(std::move(path)) {
    if (mkfifo(path_.c_str(), 0600) != 0) std::abort();
    end_ = open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (end_ < 0) std::abort();
    const std::string dots(4096, '.');
    while (write(end_, dots.data(), dots.size()) > 0) {
    }
  }
  ~FullPipe() { close(end_); }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  const std::string& path() const { return path_; }

  /// Takes all that is in it; what was there to fill it is left out.
  std::string drain() const {
    std::string text;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = read(end_, buffer, sizeof buffer)) > 0)
      text.append(buffer, static_cast<std::size_t>(got));
    return text.substr(std::min(text.find_first_not_of('.'), text.size()));
  }

 private:
  std::string path_;
  int end_ = -1;
};

}  // namespace ebb::support
