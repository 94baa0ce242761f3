// SPDX-License-Identifier: Apache-2.0
#include "fl/world.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fl/in_parts.h"
#include "fl/random.h"

namespace ebb::fl {
namespace {

constexpr double kSpeedSigma = 0.5;
constexpr double kSlowest = 0.1;
constexpr double kFastest = 10;
constexpr double kWattsSigma = 0.3;
constexpr double kChannelStep = 0.05;
constexpr double kWorstChannel = 0.25;
constexpr double kBestChannel = 1.75;
constexpr std::uint64_t kMostVisited = (1ULL << 62U) - 1;

/// One step of the walk; a wall throws it back, so that no value is more likely than another.
double walked(double channel, double step) {
  channel += step;
  if (channel < kWorstChannel) return 2 * kWorstChannel - channel;
  if (channel > kBestChannel) return 2 * kBestChannel - channel;
  return channel;
}

base::Status check_workload(const Workload& workload) {
  if (workload.flops_per_sample >= 0 && std::isfinite(workload.flops_per_sample)) return {};
  return base::error(base::Code::bad_input, "%g operations per sample, expected 0 or more",
                     workload.flops_per_sample);
}

}  // namespace

base::Status check(const WorldOptions& options) {
  if (!(options.dropout >= 0 && options.dropout < 1))
    return base::error(base::Code::bad_input, "dropout %g, expected 0 or more and below 1",
                       options.dropout);
  if (options.deadline && !(*options.deadline > 0 && std::isfinite(*options.deadline)))
    return base::error(base::Code::bad_input, "deadline %g, expected seconds above 0",
                       *options.deadline);
  if (options.staleness > 0 && !options.deadline)
    return base::error(base::Code::bad_input,
                       "staleness %u without a deadline, expected one as well", options.staleness);
  if (options.round_timeout &&
      !(*options.round_timeout > 0 && std::isfinite(*options.round_timeout)))
    return base::error(base::Code::bad_input, "round_timeout %g, expected seconds above 0",
                       *options.round_timeout);
  return {};
}

base::Result<World> World::create(const WorldOptions& options, const Workload& workload,
                                  std::span<const std::uint64_t> visited, std::uint64_t seed) {
  if (const auto right = check(options); !right) return right.error();
  if (const auto right = check_workload(workload); !right) return right.error();
  World world(options, workload, seed);
  world.devices_.resize(visited.size());
  for (std::uint32_t client = 0; client < visited.size(); ++client) {
    Random random(seed, Purpose::world, 0, client);
    Device& device = world.devices_[client];
    device.speed = std::clamp(random.lognormal(0, kSpeedSigma), kSlowest, kFastest);
    device.watts = kMedianWatts * random.lognormal(0, kWattsSigma);
    device.visited = visited[client] & kMostVisited;
  }
  std::vector<std::uint32_t> by_speed(visited.size());
  std::iota(by_speed.begin(), by_speed.end(), 0U);
  std::stable_sort(by_speed.begin(), by_speed.end(), [&](std::uint32_t one, std::uint32_t other) {
    return world.devices_[one].speed < world.devices_[other].speed;
  });
  for (std::size_t rank = 0; rank < by_speed.size(); ++rank)
    world.devices_[by_speed[rank]].tier = 3 * rank / by_speed.size() & 3;
  world.start_channels();
  return world;
}

void World::start_channels() {
  round_ = 0;
  for (std::uint32_t client = 0; client < devices_.size(); ++client)
    devices_[client].channel = Random(seed_, Purpose::channel, 0, client).uniform(0.5, 1.5);
}

void World::move_to(std::uint32_t round) {
  if (round < round_) start_channels();
  if (round == round_) return;
  in_parts(devices_.size(), [&](std::size_t begin, std::size_t end) {
    for (auto client = static_cast<std::uint32_t>(begin); client < end; ++client) {
      double& channel = devices_[client].channel;
      for (std::uint32_t reached = round_; reached < round;) {
        Random random(seed_, Purpose::channel, ++reached, client);
        channel = walked(channel, random.uniform(-kChannelStep, kChannelStep));
      }
    }
  });
  round_ = round;
}

/// One way.
double World::transfer_of(const Device& device) const {
  return static_cast<double>(workload_.model_bytes) / (kMedianBytesPerSecond * device.channel);
}

double World::seconds_of(const Device& device) const {
  const double work = static_cast<double>(device.visited) * workload_.flops_per_sample;
  const double there = transfer_of(device);
  // Nobody waits longer than that for what comes back.
  const double back = std::min(there, options_.round_timeout.value_or(there));
  return work / (kMedianFlopsPerSecond * device.speed) + (there + back);
}

Condition World::condition(std::uint32_t client) const {
  const Device& device = devices_[client];
  const double seconds = seconds_of(device);
  return {device.speed, device.channel, static_cast<std::uint32_t>(device.tier), seconds,
          seconds * device.watts};
}

bool World::drops_out(std::uint32_t client) const {
  return Random(seed_, Purpose::dropout, round_, client).uniform() < options_.dropout;
}

Fate World::fate(std::uint32_t client) const {
  if (drops_out(client)) return {false, 0};
  if (options_.round_timeout && transfer_of(devices_[client]) > *options_.round_timeout)
    return {false, 0};
  if (!options_.deadline) return {true, 0};
  const double missed = std::ceil(seconds_of(devices_[client]) / *options_.deadline) - 1;
  if (missed <= 0) return {true, 0};
  if (missed > options_.staleness) return {false, 0};
  return {true, static_cast<std::uint32_t>(missed)};
}

double World::round_seconds(std::span<const std::uint32_t> cohort) const {
  double slowest = 0;
  bool any = false;
  for (const std::uint32_t client : cohort) {
    if (drops_out(client)) continue;
    any = true;
    slowest = std::max(slowest, seconds_of(devices_[client]));
  }
  if (!options_.deadline) return slowest;
  return any ? std::min(slowest, *options_.deadline) : *options_.deadline;
}

}  // namespace ebb::fl
