// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/driver.h"

/// What every kind of Driver owes, as plain functions, so that the same checks run under
/// GoogleTest and, without it, on a machine with a GPU.
namespace ebb::conformance {

/// What a check may do with a driver beyond its interface. Empty functions: the kind cannot.
struct DriverTraits {
  /// Streams that exist on every device; the first is the default one.
  std::vector<device::StreamId> streams = {0};

  /// Whether memory() changes by exactly what is asked for, and by nothing else.
  bool exact_memory = true;

  /// Copies to and from memory that the driver handed out; false when refused.
  std::function<bool(int, device::Address, const std::vector<unsigned char>&)> write;
  std::function<bool(int, device::Address, std::vector<unsigned char>&)> read;

  /// Between the two, work queued on the stream is not done.
  std::function<void(int, device::StreamId)> hold;
  std::function<void(int, device::StreamId)> let_go;
};

/// Collects what a check found wrong.
class Findings {
 public:
  /// Notes the text when `holds` is false; returns `holds`.
  [[gnu::format(printf, 3, 4)]] bool expect(bool holds, const char* format, ...);

  /// Expects success.
  template <class Result>
  bool succeeds(const Result& result, const char* what) {
    return expect(result.has_value(), "%s failed: %s", what,
                  result.has_value() ? "" : result.error().message.c_str());
  }

  /// Expects this kind of failure, told in one line.
  template <class Result>
  bool fails(const Result& result, base::Code code, const char* what) {
    if (!expect(!result.has_value(), "%s succeeded, expected %s", what, base::name_of(code))) {
      return false;
    }
    return fails_with(result.error(), code, what);
  }

  const std::vector<std::string>& all() const { return all_; }

 private:
  bool fails_with(const base::Error& error, base::Code code, const char* what);

  std::vector<std::string> all_;
};

struct DriverCheck {
  /// What a check needs of its subject; it is left out where that is missing.
  enum class Needs : std::uint8_t { nothing, memory, two_devices, exact_memory, holding };

  const char* name;
  Needs needs;
  void (*run)(device::Driver& driver, const DriverTraits& traits, Findings& findings);

  bool applies_to(const device::Driver& driver, const DriverTraits& traits) const;
};

/// All checks. Each stands alone and leaves nothing behind in the driver.
const std::vector<DriverCheck>& driver_checks();

/// Runs one check; an empty list means that the driver conforms.
std::vector<std::string> run_check(const DriverCheck& check, device::Driver& driver,
                                   const DriverTraits& traits);

}  // namespace ebb::conformance
