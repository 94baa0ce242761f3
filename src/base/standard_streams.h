// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::base {

/// Where standard streams are closed, something stands in their place that nobody can read or
/// write, so that no other file becomes one of them. Programs that are started find them closed.
/// Call first.
void hold_standard_streams();

/// A file that may not grow (ulimit -f) is an error from now on, not the end. Not for what starts
/// others' programs: they would be told so too.
void outlive_limits_of_files();

}  // namespace ebb::base
