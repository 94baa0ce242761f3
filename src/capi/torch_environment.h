// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "cache/settings.h"
#include "cache/version.h"
#include "device/driver.h"

namespace ebb::capi {

/// What the environment says about serving PyTorch; `lookup` answers like getenv. All fail with
/// Code::bad_input and a line that names the variable.

/// $EBB_TORCH_VERSION, else the newest PyTorch there are rules for.
base::Result<cache::VersionProfile> torch_profile(const char* (*lookup)(const char* name));

/// The settings string in the variable that this PyTorch reads.
base::Result<cache::Settings> torch_settings(const cache::VersionProfile& profile,
                                             const char* (*lookup)(const char* name));

/// $EBB_TORCH_DRIVER: "cuda" (also where it is not set), "cuda:LIBRARY", "mmap" or "mmap:BYTES".
/// Code::unavailable where there is no such driver.
base::Result<std::unique_ptr<device::Driver>> torch_driver(const char* (*lookup)(const char* name));

}  // namespace ebb::capi
