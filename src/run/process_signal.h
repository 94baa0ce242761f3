// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "record/model.h"

namespace ebb::run {

/// What became of a signal.
enum class Delivery : std::uint8_t {
  sent,
  gone,     ///< the process has ended; whoever has its number now was not signalled
  refused,  ///< it runs with rights that this process may not signal
};

/// Signals the process that has this number and started at this time, and no other.
Delivery send_signal(const record::ProcessKey& process, int number);

}  // namespace ebb::run
