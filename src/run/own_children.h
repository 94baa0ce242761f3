// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::run {

/// Signals every child of this process, by the kernel's list of processes. A child's number is
/// nobody else's until this process has waited for it. Asks for no memory; where no descriptor is
/// left, nobody is signalled.
void signal_children(int number) noexcept;

}  // namespace ebb::run
