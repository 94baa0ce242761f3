// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/certificate_checker.h"

#include <algorithm>
#include <optional>
#include <set>

#include "cache/rounding.h"
#include "replay/doctor/certificate_history.h"

namespace ebb::replay {
namespace {

using base::Json;

std::optional<std::uint64_t> number(const Json& object, const char* key) {
  const Json* value = object.find(key);
  return value == nullptr ? std::nullopt : value->as_unsigned();
}

std::optional<std::int64_t> moment(const Json& object, const char* key) {
  const Json* value = object.find(key);
  return value == nullptr ? std::nullopt : value->as_int();
}

std::string about(std::int64_t name, const char* what) {
  return "block " + std::to_string(name) + " " + what;
}

/// One line of a certificate: [name, bytes] or [name, bytes, offset].
struct Line {
  std::int64_t name = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

/// The lines of `blocks`, each block named once and known; else why not.
std::string read_lines(const Json& evidence, const KnownBlocks& known, std::size_t width,
                       std::vector<Line>& lines) {
  const Json* blocks = evidence.find("blocks");
  if (blocks == nullptr || !blocks->is_array()) return "no list of blocks";
  std::set<std::int64_t> seen;
  for (const Json& item : *blocks->as_array()) {
    const Json::Array* parts = item.as_array();
    if (parts == nullptr || parts->size() != width) return "a block that is no list of numbers";
    const auto name = (*parts)[0].as_int();
    const auto bytes = (*parts)[1].as_unsigned();
    const auto offset = width < 3 ? std::optional<std::uint64_t>(0) : (*parts)[2].as_unsigned();
    if (!name || !bytes || !offset) return "a block that is no list of numbers";
    if (!seen.insert(*name).second) return about(*name, "is named twice");
    if (!known.contains(*name)) return about(*name, "is not in the recording");
    lines.push_back({*name, *bytes, *offset});
  }
  return "";
}

/// A failed request is recorded as it was rounded. Whether it was at least this large.
bool was_at_least(std::uint64_t bytes, std::uint64_t recorded, const trace::Snapshot& snapshot) {
  const auto profile = *cache::profile_of(std::clamp(snapshot.newest_minor, 1, 15));
  const auto settings =
      cache::parse_settings(snapshot.settings ? snapshot.settings->conf : "", profile);
  const cache::Rounding round(*settings, profile);
  return bytes <= cache::kMinBlock || round(bytes - cache::kMinBlock) < recorded;
}

std::string check_live_set(const trace::Snapshot& snapshot, const KnownBlocks& known,
                           const Json& evidence) {
  const auto limit = number(evidence, "limit_bytes");
  const auto claimed = number(evidence, "live_bytes");
  const auto event = moment(evidence, "event");
  if (!limit || !claimed || !event) return "no limit, live bytes or event";
  std::vector<Line> lines;
  if (auto wrong = read_lines(evidence, known, 2, lines); !wrong.empty()) return wrong;
  std::uint64_t sum = 0;
  for (const Line& line : lines) {
    const KnownBlock& block = known.at(line.name);
    if (block.begin > *event || block.freed <= *event) return about(line.name, "is not live then");
    const bool right = block.is_request ? line.bytes <= block.needed() &&
                                              was_at_least(line.bytes, block.bytes, snapshot)
                                        : line.bytes == block.needed();
    if (!right) return about(line.name, "has another size");
    sum += line.bytes;
  }
  if (sum != *claimed) return "the blocks do not add up to the live bytes";
  return sum > *limit ? "" : "what is live fits below the limit";
}

std::string check_packing(const KnownBlocks& known, const Json& evidence) {
  const auto limit = number(evidence, "limit_bytes");
  const auto height = number(evidence, "height_bytes");
  if (!limit || !height) return "no limit or height";
  if (*height > *limit) return "higher than the limit";
  std::vector<Line> lines;
  if (auto wrong = read_lines(evidence, known, 3, lines); !wrong.empty()) return wrong;
  if (lines.size() != known.size()) return "a block of the recording is missing";
  struct Turn {
    std::int64_t when = 0;
    bool begins = false;
    const Line* line = nullptr;
  };
  std::vector<Turn> turns;
  for (const Line& line : lines) {
    const KnownBlock& block = known.at(line.name);
    if (line.bytes != block.needed()) return about(line.name, "has another size");
    if (line.offset > *height || line.bytes > *height - line.offset) {
      return about(line.name, "sticks out");
    }
    turns.push_back({block.begin, true, &line});
    turns.push_back({block.ended, false, &line});
  }
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return a.when != b.when ? a.when < b.when : a.begins < b.begins;
  });
  std::map<std::uint64_t, const Line*> placed;
  for (const Turn& turn : turns) {
    if (!turn.begins) {
      placed.erase(turn.line->offset);
      continue;
    }
    const auto next = placed.lower_bound(turn.line->offset);
    if (next != placed.end() && next->first < turn.line->offset + turn.line->bytes) {
      return about(turn.line->name, "overlaps another");
    }
    if (next != placed.begin()) {
      const Line& below = *std::prev(next)->second;
      if (below.offset + below.bytes > turn.line->offset) {
        return about(turn.line->name, "overlaps another");
      }
    }
    placed.emplace(turn.line->offset, turn.line);
  }
  return "";
}

std::string check_ledger(const trace::Snapshot& snapshot, int device, const KnownBlocks& known,
                         const Json& evidence) {
  const Json* ledger = evidence.find("ledger");
  const auto event = moment(evidence, "event");
  const Json* as_recorded = evidence.find("as_recorded");
  if (ledger == nullptr || !event || as_recorded == nullptr) return "no ledger or event";
  const auto reserved = number(*ledger, "reserved_bytes");
  const auto needed = number(*ledger, "needed_bytes");
  if (!reserved || !needed) return "nothing reserved or needed";
  std::uint64_t sum = *needed;
  for (const char* part : {"rounding_bytes", "oversize_bytes", "pending_bytes",
                           "private_free_bytes", "split_free_bytes", "cached_bytes"}) {
    const auto bytes = number(*ledger, part);
    if (!bytes) return std::string("no ") + part;
    sum += *bytes;
  }
  if (sum != *reserved) return "the parts do not add up";
  if (!as_recorded->as_bool().value_or(false)) return "";
  if (reserved_after(snapshot, device, *event) != *reserved) return "another amount was reserved";
  std::uint64_t live = 0;
  for (const auto& [name, block] : known) {
    const bool there = block.begin <= *event && block.freed > *event;
    if (there && !block.is_request) live += block.needed();
  }
  return live == *needed ? "" : "another amount was needed";
}

std::optional<std::vector<std::uint64_t>> numbers(const Json& object, const char* key) {
  const Json* list = object.find(key);
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::vector<std::uint64_t> values;
  for (const Json& item : *list->as_array()) {
    const auto value = item.as_unsigned();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::string check_growth(const KnownBlocks& known, const Json& evidence) {
  const auto events = numbers(evidence, "steps_begin_with_events");
  const auto live = numbers(evidence, "live_bytes_at_steps");
  const auto kept = numbers(evidence, "kept_bytes_of_steps");
  const auto per_step = number(evidence, "bytes_per_step");
  const Json* told_by = evidence.find("told_by");
  if (!events || !live || !kept || !per_step || told_by == nullptr) return "a list is missing";
  const std::size_t steps = events->size();
  if (steps < 6 || live->size() != steps || kept->size() != steps) return "too few steps";
  if (!std::is_sorted(events->begin(), events->end())) return "steps that are not in order";
  std::int64_t end = KnownBlock::kNever;
  for (const auto& [name, block] : known) {
    if (block.is_request) end = block.begin;
  }
  for (std::size_t i = 0; i < steps; ++i) {
    const auto here = static_cast<std::int64_t>((*events)[i]);
    const auto next = i + 1 < steps ? static_cast<std::int64_t>((*events)[i + 1]) : end;
    std::uint64_t sum = 0;
    std::uint64_t stays = 0;
    for (const auto& [name, block] : known) {
      if (block.is_request) continue;
      if (block.begin < here && block.freed >= here) sum += block.needed();
      const bool of_step = block.begin >= here && block.begin < std::min(next, end);
      if (of_step && block.freed >= end) stays += block.needed();
    }
    const std::string step = "step " + std::to_string(i);
    if (sum != (*live)[i]) return step + " begins with another amount live";
    if (stays != (*kept)[i]) return step + " keeps another amount";
  }
  const bool by_kept = told_by->is_string() && *told_by->as_string() == "kept";
  std::uint64_t grown = by_kept ? 0 : live->back() - (*live)[2];
  for (std::size_t i = 2; by_kept && i + 2 < steps; ++i) {
    grown += (*kept)[i];
  }
  const std::size_t over = by_kept ? steps - 4 : steps - 3;
  return grown / over == *per_step && *per_step > 0 ? "" : "steps do not grow by that much";
}

std::string check_replay(const Json& evidence) {
  const Json* row = evidence.find("row");
  if (row == nullptr || !row->is_object()) return "no row";
  const Json* oom = row->find("oom");
  return oom != nullptr && oom->is_null() ? "" : "a replay that runs out of memory";
}

}  // namespace

std::string why_rejected(const trace::Snapshot& snapshot, int device, const Json& evidence) {
  const Json* kind = evidence.find("kind");
  if (kind == nullptr || !kind->is_string()) return "no kind";
  const KnownBlocks known = blocks_in(snapshot, device);
  if (*kind->as_string() == "live_set") return check_live_set(snapshot, known, evidence);
  if (*kind->as_string() == "packing") return check_packing(known, evidence);
  if (*kind->as_string() == "ledger") return check_ledger(snapshot, device, known, evidence);
  if (*kind->as_string() == "growth") return check_growth(known, evidence);
  if (*kind->as_string() == "replay") return check_replay(evidence);
  return "unknown kind " + *kind->as_string();
}

}  // namespace ebb::replay
