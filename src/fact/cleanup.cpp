// SPDX-License-Identifier: Apache-2.0
#include "fact/cleanup.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/bytes.h"

namespace ebb::fact {
namespace {

constexpr std::array<const char*, 9> kTriggers{
    "round", "retained", "growth", "critical", "pressure", "job", "card", "several", "unknown"};

/// That of the change's device; a new one has not returned anything yet.
base::DeviceChange& place_of(std::vector<base::DeviceChange>& devices,
                             const base::DeviceChange& change) {
  const auto place = std::find_if(devices.begin(), devices.end(),
                                  [&](const auto& known) { return known.device >= change.device; });
  if (place != devices.end() && place->device == change.device) return *place;
  return *devices.insert(place, {change.device, change.before, change.after, 0});
}

}  // namespace

const char* name_of(Trigger trigger) {
  return kTriggers.at(static_cast<std::size_t>(trigger));
}

base::Result<Trigger> trigger_from(std::string_view name) {
  const auto* const found = std::find(kTriggers.begin(), kTriggers.end(), name);
  if (found == kTriggers.end()) {
    return base::error(base::Code::bad_input, "no cleanup happens for '%.*s'",
                       static_cast<int>(name.size()), name.data());
  }
  return static_cast<Trigger>(found - kTriggers.begin());
}

const char* name_of(Depth depth) {
  return depth == Depth::light ? "light" : "deep";
}

void Cleanup::count_returned() {
  const std::uint64_t most = before.rss.value_or(0);
  returned = after.rss ? most - std::min(most, *after.rss) : 0;
}

void Cleanup::add(const base::DeviceChange& change) {
  base::DeviceChange& known = place_of(devices, change);
  known.after = change.after;
  known.returned += change.returned;
}

void add_up(std::vector<base::DeviceChange>& devices, const base::DeviceChange& change) {
  base::DeviceChange& known = place_of(devices, change);
  known.before = std::max(known.before, change.before);
  known.after = std::min(known.after, change.after);
  known.returned += change.returned;
}

std::uint64_t returned_by(const std::vector<base::DeviceChange>& devices) {
  std::uint64_t bytes = 0;
  for (const base::DeviceChange& change : devices)
    bytes += change.returned;
  return bytes;
}

base::Json devices_json(const std::vector<base::DeviceChange>& devices) {
  base::Json list = base::Json::array();
  for (const base::DeviceChange& change : devices)
    list.push(base::Json::object({{"device", std::uint64_t{change.device}},
                                  {"before_bytes", change.before},
                                  {"after_bytes", change.after},
                                  {"returned_bytes", change.returned}}));
  return list;
}

std::vector<base::DeviceChange> devices_from(const base::Json& list) {
  std::vector<base::DeviceChange> devices;
  if (list.as_array() == nullptr) return devices;
  for (const base::Json& one : *list.as_array()) {
    const auto number = [&](const char* key) {
      const base::Json* found = one.find(key);
      return found == nullptr ? std::nullopt : found->as_unsigned();
    };
    const auto device = number("device");
    const auto before = number("before_bytes");
    const auto after = number("after_bytes");
    const auto returned = number("returned_bytes");
    if (device && before && after && returned &&
        *device <= std::numeric_limits<std::uint32_t>::max())
      devices.push_back({static_cast<std::uint32_t>(*device), *before, *after, *returned});
  }
  return devices;
}

std::string returned_text(std::uint64_t returned, const std::vector<base::DeviceChange>& devices) {
  std::string text = base::bytes_text(returned);
  for (const base::DeviceChange& change : devices) {
    if (change.returned > 0)
      text +=
          " and " + base::bytes_text(change.returned) + " of GPU " + std::to_string(change.device);
  }
  return text;
}

}  // namespace ebb::fact
