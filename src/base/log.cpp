// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/mutex.h"
#include "base/plain_text.h"
#include "base/text.h"

namespace ebb::base {
namespace {

constexpr std::array<const char*, 5> kNames{"debug", "info", "warning", "error", "off"};

LogLevel level_from_environment() {
  const char* wanted = std::getenv("EBB_LOG");
  if (wanted == nullptr) return LogLevel::warning;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (std::string_view(wanted) == kNames.at(i)) return static_cast<LogLevel>(i);
  return LogLevel::warning;
}

constexpr int kNotRead = -1;
constinit std::atomic<int> level_in_force{kNotRead};

struct SinkSlot {
  std::atomic<bool> is_taken{false};
  Mutex mutex;
  LogSink sink EBB_GUARDED_BY(mutex) = nullptr;
  void* context EBB_GUARDED_BY(mutex) = nullptr;
};

constinit SinkSlot slot;

}  // namespace

void set_log_sink(LogSink sink, void* context) {
  Lock lock(slot.mutex);
  slot.sink = sink;
  slot.context = context;
  slot.is_taken = sink != nullptr;
}

void set_log_level(LogLevel level) {
  level_in_force = static_cast<int>(level);
}

LogLevel log_level() {
  int level = level_in_force;
  if (level == kNotRead) {
    const int read = static_cast<int>(level_from_environment());
    // Unless somebody has set one meanwhile.
    level = level_in_force.compare_exchange_strong(level, read) ? read : level;
  }
  return static_cast<LogLevel>(level);
}

void log(LogLevel level, const char* format, ...) {
  if (level < log_level() || level == LogLevel::off) return;
  va_list arguments;
  va_start(arguments, format);
  const std::string line = format_text_v(format, arguments);
  va_end(arguments);
  if (slot.is_taken) {
    Lock lock(slot.mutex);
    if (slot.sink != nullptr) return slot.sink(level, line, slot.context);
  }
  // With no lock but that of stderr, which fork() puts in order: nobody reads it, perhaps.
  std::fprintf(stderr, "ebb: %s: %s\n", kNames.at(static_cast<std::size_t>(level)),
               plain_line(line).c_str());
}

}  // namespace ebb::base
