// SPDX-License-Identifier: Apache-2.0
#include "sense/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::sense {
namespace {

// More than any log holds: a log that is written faster than it is read must not keep us here.
constexpr int kMostRecords = 200'000;
// What one report may take; a memory.stat has some 60 lines.
constexpr std::size_t kLongestStats = 16'384;

/// What follows `key` in a list "a=b,c=d", until the next comma.
std::string_view after(std::string_view list, std::string_view key) {
  const std::size_t at = list.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = list.substr(at + key.size());
  return rest.substr(0, rest.find(','));
}

std::optional<std::uint64_t> kib_after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + key.size());
  const auto number = base::parse_unsigned(rest.substr(0, rest.find("kB")));
  if (!number) return std::nullopt;
  return *number * base::kKiB;
}

/// What the file writes as "\x0a" as it is: characters that are no text, and the backslash.
std::string plain_record(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    if (text.substr(i, 2) == "\\x" && i + 4 <= text.size()) {
      const auto [end, failure] = std::from_chars(&text[i + 2], &text[i + 2] + 2, byte, 16);
      if (failure == std::errc() && end == &text[i + 2] + 2) {
        plain += static_cast<char>(byte);
        i += 3;
        continue;
      }
    }
    plain += text[i];
  }
  return plain;
}

bool is_stat(std::string_view line) {
  const std::size_t blank = line.find(' ');
  return blank != std::string_view::npos &&
         base::parse_unsigned(line.substr(blank + 1)).has_value();
}

}  // namespace

void OomReportReader::take(std::string_view record) {
  const std::size_t start = record.find(';');
  if (start == std::string_view::npos) return;
  const auto priority = base::parse_unsigned(record.substr(0, record.find(',')));
  if (!priority || *priority >= 8) return;  // the facility is above the level; the kernel's is 0
  const std::string_view line = record.substr(start + 1);
  // What follows the line says which device it is about.
  take_line(plain_record(line.substr(0, line.find('\n'))));
}

void OomReportReader::take_line(std::string_view line) {
  if (line.find(" invoked oom-killer: ") != std::string_view::npos) {
    next_ = {};
    in_stats_ = false;
  } else if (line.starts_with("memory: usage ")) {
    next_.usage = kib_after(line, "usage ");
    next_.limit = kib_after(line, "limit ");
  } else if (line.starts_with("kmem: usage ")) {
    next_.kernel = kib_after(line, "usage ");
  } else if (line.starts_with("Memory cgroup stats for ")) {
    in_stats_ = true;
    next_.stats.clear();
  } else if (line.starts_with("oom-kill:")) {
    in_stats_ = false;
    next_.of_machine = line.find("constraint=CONSTRAINT_MEMCG,") == std::string_view::npos;
    next_.full_group = after(line, ",oom_memcg=");
    next_.task_group = after(line, ",task_memcg=");
    // The name is the process's own choice, commas included: what comes after it counts from the
    // end.
    const std::size_t user = line.rfind(",uid=");
    const std::size_t pid = line.rfind(",pid=", user);
    const std::size_t task = line.find(",task=");
    if (user == std::string_view::npos || pid == std::string_view::npos ||
        task == std::string_view::npos || task + 6 > pid)
      return;
    const auto number = base::parse_unsigned(line.substr(pid + 5, user - pid - 5));
    if (!number || *number > INT32_MAX) return;
    next_.pid = static_cast<pid_t>(*number);
    next_.task = line.substr(task + 6, pid - task - 6);
    done_.push_back(std::exchange(next_, {}));
  } else if (in_stats_) {
    take_stats(line);
  }
}

void OomReportReader::take_stats(std::string_view text) {
  // Kernels before 6.4 write all of v2's in one record, which may be cut short: its last line is
  // none of those that are needed.
  const std::size_t last = text.rfind('\n');
  if (last != std::string_view::npos) text = text.substr(0, last);
  for (const std::string_view line : base::split(text, '\n')) {
    if (!is_stat(line)) {
      in_stats_ = false;
      return;
    }
    if (next_.stats.size() < kLongestStats) next_.stats.append(line) += '\n';
  }
}

std::vector<OomReport> OomReportReader::take_reports() {
  return std::exchange(done_, {});
}

KernelLog KernelLog::from_now(const std::string& file) {
  KernelLog log;
  log.file_ = base::FileDescriptor(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (log.file_.is_open() && ::lseek(log.file_.get(), 0, SEEK_END) < 0) log.file_.close();
  return log;
}

std::vector<OomReport> KernelLog::take_reports() {
  OomReportReader reader;
  char record[8192];  // the longest that the kernel gives
  for (int i = 0; file_.is_open() && i < kMostRecords; ++i) {
    const ssize_t length = ::read(file_.get(), record, sizeof record);
    if (length > 0) {
      reader.take({record, static_cast<std::size_t>(length)});
    } else if (length == 0 || (errno != EPIPE && errno != EINTR && errno != EINVAL)) {
      break;  // EPIPE: some were overwritten; the next is there
    }
  }
  return reader.take_reports();
}

}  // namespace ebb::sense
