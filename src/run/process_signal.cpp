// SPDX-License-Identifier: Apache-2.0
#include "run/process_signal.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "sense/process.h"

namespace ebb::run {

Delivery send_signal(const record::ProcessKey& process, int number) {
  // The descriptor holds on to the process: its number cannot be given to another between the look
  // at its start time and the signal. Kernels before 5.3 have none, and a moment is left there.
  const base::FileDescriptor held(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!held.is_open() && errno == ESRCH) return Delivery::gone;
  const auto reading = sense::read_process(process.pid);
  if (!reading || reading->start_ticks != process.start) return Delivery::gone;
  const auto sent = held.is_open()
                        ? ::syscall(SYS_pidfd_send_signal, held.get(), number, nullptr, 0)
                        : ::kill(process.pid, number);
  if (sent == 0) return Delivery::sent;
  return errno == EPERM ? Delivery::refused : Delivery::gone;
}

}  // namespace ebb::run
