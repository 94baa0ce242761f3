// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/result.h"
#include "keep/settings.h"

namespace ebb::keep {

/// Honours systemd's memory-pressure protocol: where $MEMORY_PRESSURE_WATCH names a file, waits on
/// it in a thread of its own and calls back each time the system asks for memory. Stops and joins
/// with the object.
class PressureWatch {
 public:
  using Callback = std::function<void()>;

  /// Nothing where the variable is not set or is /dev/null (switched off). Code::bad_input for
  /// $MEMORY_PRESSURE_WRITE that is no base64, and the system's error for a file that cannot be
  /// opened or armed.
  static base::Result<std::unique_ptr<PressureWatch>> start(const Environment& environment,
                                                            Callback callback);
  ~PressureWatch();
  PressureWatch(const PressureWatch&) = delete;
  PressureWatch& operator=(const PressureWatch&) = delete;

  /// In a forked child there is no thread, and this object has nothing left to do but to go. A
  /// child that wants to watch starts a watch of its own, rather than share what its parent reads
  /// from.
  void after_fork_in_child();

 private:
  PressureWatch(base::FileDescriptor source, base::FileDescriptor stop, short events,
                Callback callback);
  void loop();

  base::FileDescriptor source_;
  base::FileDescriptor stop_;
  const short events_;
  const Callback callback_;
  std::thread thread_;
};

/// Decodes standard base64 with padding.
base::Result<std::string> decode_base64(std::string_view text);

}  // namespace ebb::keep
