// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/mutex.h"
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

std::atomic<LogLevel>& level_in_force() {
  static std::atomic<LogLevel> level{level_from_environment()};
  return level;
}

struct SinkSlot {
  Mutex mutex;
  LogSink sink EBB_GUARDED_BY(mutex) = nullptr;
  void* context EBB_GUARDED_BY(mutex) = nullptr;
};

SinkSlot& slot() {
  static SinkSlot the_slot;
  return the_slot;
}

}  // namespace

void set_log_sink(LogSink sink, void* context) {
  Lock lock(slot().mutex);
  slot().sink = sink;
  slot().context = context;
}

void set_log_level(LogLevel level) {
  level_in_force() = level;
}

LogLevel log_level() {
  return level_in_force();
}

void log(LogLevel level, const char* format, ...) {
  if (level < log_level() || level == LogLevel::off) return;
  va_list arguments;
  va_start(arguments, format);
  const std::string line = format_text_v(format, arguments);
  va_end(arguments);
  Lock lock(slot().mutex);
  if (slot().sink != nullptr) {
    slot().sink(level, line, slot().context);
  } else {
    std::fprintf(stderr, "ebb: %s: %s\n", kNames.at(static_cast<std::size_t>(level)), line.c_str());
  }
}

}  // namespace ebb::base
