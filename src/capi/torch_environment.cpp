// SPDX-License-Identifier: Apache-2.0
#include "capi/torch_environment.h"

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "device/cuda_driver.h"
#include "device/mmap_driver.h"
#include "sense/machine.h"

namespace ebb::capi {
namespace {

using base::Code;

base::Error in_variable(const char* name, const base::Error& error) {
  base::Error whole = error;
  whole.message = std::string("$") + name + ": " + error.message;
  return whole;
}

}  // namespace

base::Result<cache::VersionProfile> torch_profile(const char* (*lookup)(const char* name)) {
  const char* version = lookup("EBB_TORCH_VERSION");
  if (version == nullptr) return cache::profile_of(cache::kNewestMinor);
  auto profile = cache::parse_version(version);
  if (!profile) return in_variable("EBB_TORCH_VERSION", profile.error());
  return profile;
}

base::Result<cache::Settings> torch_settings(const cache::VersionProfile& profile,
                                             const char* (*lookup)(const char* name)) {
  const auto variable = cache::settings_variable(profile, lookup);
  if (!variable) return cache::Settings{};
  auto settings = cache::parse_settings(variable->value, profile);
  if (!settings) return in_variable(variable->name.c_str(), settings.error());
  if (settings->async_backend) {
    return base::error(Code::bad_input,
                       "$%s: backend:cudaMallocAsync, expected native, whose rules Ebb follows",
                       variable->name.c_str());
  }
  return settings;
}

base::Result<std::unique_ptr<device::Driver>> torch_driver(
    const char* (*lookup)(const char* name)) {
  const char* variable = lookup("EBB_TORCH_DRIVER");
  const std::string_view wanted = variable == nullptr ? "cuda" : variable;
  const std::string_view kind = wanted.substr(0, wanted.find(':'));
  const bool has_detail = kind.size() < wanted.size();
  const std::string_view detail = has_detail ? wanted.substr(kind.size() + 1) : "";
  if (kind == "cuda" && has_detail == !detail.empty()) {
    auto driver =
        has_detail ? device::CudaDriver::open(std::string(detail)) : device::CudaDriver::open();
    if (!driver) return driver.error();
    return std::unique_ptr<device::Driver>(std::move(*driver));
  }
  if (kind == "mmap") {
    device::MmapOptions options;
    if (has_detail) {
      const auto bytes = base::parse_bytes(detail);
      if (!bytes) return in_variable("EBB_TORCH_DRIVER", bytes.error());
      options.capacity = *bytes;
    } else {
      const auto machine = sense::read_machine();
      if (!machine) return machine.error();
      options.capacity = machine->total;
    }
    return std::unique_ptr<device::Driver>(std::make_unique<device::MmapDriver>(options));
  }
  return base::error(Code::bad_input,
                     "$EBB_TORCH_DRIVER: '%s', expected cuda, cuda:LIBRARY, mmap or mmap:BYTES",
                     std::string(wanted).c_str());
}

}  // namespace ebb::capi
