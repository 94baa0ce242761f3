// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "base/log.h"

// What belongs to the whole process is put back where a case ends: the next one runs in it too.

namespace ebb::support {

/// An environment variable for a scope; nothing for `value` unsets it.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, std::optional<std::string> value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~ScopedVariable() { set(before_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      setenv(name_, value->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

/// A log level for a scope, with lines to stderr or to `sink`.
class ScopedLog {
 public:
  explicit ScopedLog(base::LogLevel level, base::LogSink sink = nullptr, void* context = nullptr)
      : before_(base::log_level()) {
    base::set_log_level(level);
    base::set_log_sink(sink, context);
  }
  ~ScopedLog() {
    base::set_log_level(before_);
    base::set_log_sink(nullptr, nullptr);
  }
  ScopedLog(const ScopedLog&) = delete;
  ScopedLog& operator=(const ScopedLog&) = delete;

 private:
  base::LogLevel before_;
};

}  // namespace ebb::support
