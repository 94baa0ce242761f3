// SPDX-License-Identifier: Apache-2.0
#include "sense/pressure.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "sense/fields.h"

namespace ebb::sense {

using base::Code;
using base::Error;
using base::Result;

namespace {

constexpr std::string_view kTotal = "total=";
constexpr std::uint64_t kShortestWindow = 500'000;
constexpr std::uint64_t kLongestWindow = 10'000'000;

/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", in this order.
Result<Stall> parse_stall(std::string_view line, std::string_view file) {
  Stall stall;
  const std::vector<std::string_view> words = base::words(line);
  const struct {
    std::string_view key;
    double* into;
  } averages[] = {{"avg10=", &stall.avg10}, {"avg60=", &stall.avg60}, {"avg300=", &stall.avg300}};
  if (words.size() != 5 || words[4].substr(0, kTotal.size()) != kTotal) {
    return garbled(file, "a line", "three averages and a total", line);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [key, into] = averages[i];
    const std::string_view word = words[i + 1];
    const auto value = word.substr(0, key.size()) == key
                           ? base::parse_double(word.substr(key.size()))
                           : std::nullopt;
    if (!value || *value < 0) return garbled(file, key, "a percentage", word);
    *into = *value;
  }
  const auto total = base::parse_unsigned(words[4].substr(kTotal.size()));
  if (!total) return garbled(file, kTotal, "microseconds", words[4]);
  stall.total_us = *total;
  return stall;
}

bool means_no_pressure(int error_number) {
  return error_number == ENOENT || error_number == EOPNOTSUPP;
}

Error no_pressure(const std::string& path, int error_number) {
  Error error = base::error(Code::unavailable,
                            "no memory pressure at %s: the kernel has none or booted with psi=0",
                            path.c_str());
  error.native = error_number;
  return error;
}

}  // namespace

Result<PressureReading> parse_pressure(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  PressureReading reading;
  bool seen_some = false;
  bool seen_full = false;
  for (const std::string_view line : *lines) {
    const bool some = line.substr(0, 5) == "some ";
    if (!some && line.substr(0, 5) != "full ") return garbled(file, "a line", "some or full", line);
    const auto stall = parse_stall(line, file);
    if (!stall) return stall.error();
    (some ? reading.some : reading.full) = *stall;
    (some ? seen_some : seen_full) = true;
  }
  if (!seen_some) return missing(file, "some");
  if (!seen_full) return missing(file, "full");
  return reading;
}

Result<PressureReading> read_pressure_file(const std::string& path) {
  const auto text = base::read_file(path);
  if (!text) {
    const int reason = static_cast<int>(text.error().native);
    return means_no_pressure(reason) ? no_pressure(path, reason) : text.error();
  }
  return parse_pressure(*text, path);
}

Result<PressureReading> read_pressure(const Roots& roots) {
  return read_pressure_file(roots.proc + "/pressure/memory");
}

Result<PressureTrigger> PressureTrigger::arm(const std::string& path, const Threshold& threshold) {
  if (threshold.window_us < kShortestWindow || threshold.window_us > kLongestWindow ||
      threshold.stall_us == 0 || threshold.stall_us > threshold.window_us) {
    return base::error(Code::bad_input,
                       "pressure trigger: expected a window of 500000 to 10000000 us and a stall "
                       "within it, got %llu us of %llu us",
                       static_cast<unsigned long long>(threshold.stall_us),
                       static_cast<unsigned long long>(threshold.window_us));
  }
  base::FileDescriptor file(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) {
    if (means_no_pressure(errno)) return no_pressure(path, errno);
    return base::system_error(errno, "cannot arm a pressure trigger on %s", path.c_str());
  }
  const std::string line = base::format_text("%s %llu %llu", threshold.full ? "full" : "some",
                                             static_cast<unsigned long long>(threshold.stall_us),
                                             static_cast<unsigned long long>(threshold.window_us));
  // The kernel wants the terminating zero.
  if (::write(file.get(), line.c_str(), line.size() + 1) < 0) {
    if (means_no_pressure(errno)) return no_pressure(path, errno);
    if (errno == EINVAL) {
      return Error{Code::bad_input,
                   "the kernel refused the pressure trigger \"" + line + "\" on " + path +
                       ": without privilege the window must be a multiple of 2000000 us",
                   EINVAL};
    }
    return base::system_error(errno, "cannot arm a pressure trigger on %s", path.c_str());
  }
  return PressureTrigger(std::move(file));
}

Result<bool> PressureTrigger::went_off() const {
  pollfd waiting{file_.get(), POLLPRI, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, 0);
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) return base::system_error(errno, "cannot poll a pressure trigger");
  if ((waiting.revents & POLLERR) != 0) {
    return base::error(Code::not_found, "pressure trigger: its control group is gone");
  }
  return (waiting.revents & POLLPRI) != 0;
}

}  // namespace ebb::sense
