// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "record/model.h"

namespace ebb::record {

/// What was seen since the last time; written as a whole or not at all.
struct Batch {
  std::vector<Process> processes;
  std::vector<std::pair<ProcessKey, double>> ended;
  std::vector<Sample> samples;
  std::vector<PlaceSample> places;
  std::vector<Round> rounds;
  std::vector<Action> actions;
  std::vector<Event> events;
  std::vector<Beside> beside;
  std::vector<DeviceSample> devices;
  std::vector<Mapped> mapped;
  std::vector<Sampling> samplings;
  std::vector<Site> sites;
  std::vector<SiteName> site_names;
  std::vector<Simulation> simulations;
  std::vector<SimulatedRound> simulated;
  std::uint64_t lost = 0;  ///< samples and others that were not kept

  std::size_t size() const {
    return processes.size() + ended.size() + samples.size() + places.size() + rounds.size() +
           actions.size() + events.size() + beside.size() + devices.size() + mapped.size() +
           samplings.size() + sites.size() + site_names.size() + simulations.size() +
           simulated.size();
  }
};

}  // namespace ebb::record
