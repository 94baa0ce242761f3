// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::base {

/// Where standard streams are closed, something stands in their place that nobody can read or
/// write, so that no other file becomes one of them. Programs that are started find them closed.
/// Call first.
void hold_standard_streams();

}  // namespace ebb::base
