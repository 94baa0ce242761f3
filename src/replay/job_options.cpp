// SPDX-License-Identifier: Apache-2.0
#include "replay/job.h"

namespace ebb::replay {

base::Options options_of(JobOptions& o) {
  return {
      {"cap", base::Bytes{&o.cap},
       "Bytes that the process may take on the device, e.g. 24GiB; else as recorded"},
      {"torch_version", &o.torch_version,
       "Replays as this release does, 2.1 to 2.15; else the newest that writes such a file"},
      {"driver_model", &o.driver_model, "Where new segments go: recorded, down, up or chunks"},
      {"device", &o.device, "One device; else all that have a history"},
  };
}

base::Result<Circumstances> circumstances_of(const JobOptions& options) {
  if (options.cap == 0) return base::error(base::Code::bad_input, "--cap 0: expected bytes");
  Circumstances circumstances;
  circumstances.limit = options.cap;
  circumstances.card = options.card;
  if (!options.torch_version.empty()) {
    const auto profile = cache::parse_version(options.torch_version);
    if (!profile) return profile.error();
    circumstances.profile = *profile;
  }
  const auto placement = parse_placement(options.driver_model);
  if (!placement) return placement.error();
  circumstances.placement = *placement;
  return circumstances;
}

}  // namespace ebb::replay
