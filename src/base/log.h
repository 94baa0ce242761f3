// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace ebb::base {

enum class LogLevel : std::uint8_t { debug, info, warning, error, off };

/// Receives every line at or above the level in force. Called from any thread; must not log itself.
using LogSink = void (*)(LogLevel level, std::string_view line, void* context);

/// Sends lines to `sink` from now on; null goes back to stderr. Thread-safe. For programs: a sink
/// that is busy in one thread while another forks leaves the child without a log that works.
void set_log_sink(LogSink sink, void* context);

/// The least level that is printed. Starts from $EBB_LOG (debug, info, warning, error, off),
/// else warning.
void set_log_level(LogLevel level);
LogLevel log_level();

/// Writes one line. The text carries no newline.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...);

}  // namespace ebb::base
