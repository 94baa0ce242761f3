// SPDX-License-Identifier: Apache-2.0
#include "record/rows.h"

#include <algorithm>

#include "record/columns.h"

namespace ebb::record {
namespace {

using fact::Cleanup;
using fact::ProcessSample;

struct SampleRow {
  std::int64_t process = 0;
  Sample sample;
};

/// Its time apart: it may have to move by a millisecond.
struct ActionRow {
  std::int64_t ms = 0;
  std::int64_t process = 0;
  Action action;
};

/// The low, mean and high of one part of a reading.
void add_extent(Table<NumberedReading>::Columns& columns, const Part& part) {
  const auto merged = part.merged;
  const auto add = [&](const char* suffix, std::uint64_t Extent::*bound) {
    columns.push_back({std::string(part.name) + suffix,
                       [merged, bound](const NumberedReading& row) -> Cell {
                         const std::optional<Extent>& extent = row.reading.*merged;
                         if (extent) return (*extent).*bound;
                         // Which must not be NULL in the table.
                         if (merged == &Reading::rss) return std::uint64_t{0};
                         return {};
                       },
                       [merged, bound](NumberedReading& row, const Row& from, int place) {
                         std::optional<Extent>& extent = row.reading.*merged;
                         // The low stands first and decides whether it is known at all.
                         if (bound == &Extent::low && !from.is_null(place)) extent.emplace();
                         if (extent) (*extent).*bound = from.count(place);
                       },
                       part.since});
  };
  add("_low", &Extent::low);
  add("_mean", &Extent::mean);
  add("_high", &Extent::high);
}

Table<SampleRow>::Columns sample_columns() {
  Table<SampleRow>::Columns columns{
      time<SampleRow>("ms", at(&SampleRow::sample, &Sample::seconds)),
      number<SampleRow>("process", at(&SampleRow::process)),
  };
  for (const Part& part : kParts) {
    const auto of = at(&SampleRow::sample, &Sample::memory, part.sampled);
    const bool is_rss = part.sampled == &ProcessSample::rss;
    columns.push_back(is_rss ? bytes_or_zero<SampleRow>(part.name, of)
                             : bytes<SampleRow>(part.name, of));
    columns.back().since = part.since;
  }
  columns.push_back(
      count<SampleRow>("minor_faults", at(&SampleRow::sample, &Sample::minor_faults)));
  columns.push_back(time<SampleRow>("cpu_ms", at(&SampleRow::sample, &Sample::cpu_seconds)));
  return columns;
}

Table<NumberedReading>::Columns bucket_columns() {
  using Bucket = NumberedReading;
  const auto in = [](auto member) { return at(&Bucket::reading, member); };
  Table<Bucket>::Columns columns{
      number<Bucket>("process", at(&Bucket::process)),
      time<Bucket>("ms", in(&Reading::seconds)),
      time<Bucket>("until", in(&Reading::until)),
      many<Bucket>("count", in(&Reading::count)),
  };
  for (const Part& part : kParts)
    add_extent(columns, part);
  columns.push_back(bytes<Bucket>("held_low", in(&Reading::held_low)));
  columns.push_back(count<Bucket>("minor_faults", in(&Reading::minor_faults)));
  columns.push_back(time<Bucket>("cpu_ms", in(&Reading::cpu_seconds)));
  return columns;
}

Table<PlaceReading>::Columns place_columns() {
  const auto now = [](auto member) { return at(&PlaceReading::now, member); };
  Table<PlaceReading>::Columns columns{
      time<PlaceReading>("ms", now(&PlaceSample::seconds)),
      time<PlaceReading>("until", at(&PlaceReading::until)),
      many<PlaceReading>("count", at(&PlaceReading::count)),
      count<PlaceReading>("used_low", at(&PlaceReading::used_low)),
      count<PlaceReading>("used", now(&PlaceSample::used)),
      count<PlaceReading>("limit_bytes", now(&PlaceSample::limit)),
      share<PlaceReading>("permyriad", now(&PlaceSample::percent)),
      share<PlaceReading>("pressure_permyriad", now(&PlaceSample::pressure_some)),
      bytes<PlaceReading>("gpu_used", now(&PlaceSample::gpu_used)),
      bytes<PlaceReading>("gpu_total", now(&PlaceSample::gpu_total)),
      bytes<PlaceReading>("file_cache", now(&PlaceSample::file_cache)),
  };
  for (const fact::GroupPart& part : fact::kGroupParts) {
    columns.push_back(
        bytes<PlaceReading>(part.name, at(&PlaceReading::now, &PlaceSample::group, part.bytes)));
    columns.back().since = 5;
  }
  return columns;
}

/// Of what was done: there is one thing so far.
Column<ActionRow> what_column() {
  return {"what", [](const ActionRow&) -> Cell { return std::string("cleanup"); },
          [](ActionRow&, const Row&, int) {}};
}

Column<ActionRow> reason_column() {
  return {"reason",
          [](const ActionRow& row) -> Cell {
            return std::string(fact::name_of(row.action.cleanup.trigger));
          },
          [](ActionRow& row, const Row& from, int place) {
            row.action.cleanup.trigger =
                fact::trigger_from(from.text(place)).value_or(fact::Trigger::unknown);
          }};
}

Column<ActionRow> deep_column() {
  return {"deep",
          [](const ActionRow& row) -> Cell {
            return std::int64_t{row.action.cleanup.depth == fact::Depth::deep ? 1 : 0};
          },
          [](ActionRow& row, const Row& from, int place) {
            const bool is_deep = from.integer(place) != 0;
            row.action.cleanup.depth = is_deep ? fact::Depth::deep : fact::Depth::light;
          }};
}

/// Devices in the words of their JSON; NULL where there are none.
Column<ActionRow> devices_column() {
  Column<ActionRow> column{"devices",
                           [](const ActionRow& row) -> Cell {
                             if (row.action.cleanup.devices.empty()) return {};
                             return fact::devices_json(row.action.cleanup.devices).text();
                           },
                           [](ActionRow& row, const Row& from, int place) {
                             const auto list = base::parse_json(from.text(place));
                             if (list) row.action.cleanup.devices = fact::devices_from(*list);
                           }};
  column.since = 3;
  return column;
}

Table<ActionRow>::Columns action_columns() {
  const auto in = [](auto... members) {
    return at(&ActionRow::action, &Action::cleanup, members...);
  };
  return {
      number<ActionRow>("ms", at(&ActionRow::ms)),
      number<ActionRow>("process", at(&ActionRow::process)),
      what_column(),
      many<ActionRow>("count", at(&ActionRow::action, &Action::count)),
      reason_column(),
      bytes_or_zero<ActionRow>("rss_before", in(&Cleanup::before, &ProcessSample::rss)),
      bytes_or_zero<ActionRow>("rss_after", in(&Cleanup::after, &ProcessSample::rss)),
      count<ActionRow>("returned", in(&Cleanup::returned)),
      bytes<ActionRow>("anon_after", in(&Cleanup::after, &ProcessSample::anon)),
      bytes<ActionRow>("live_after", in(&Cleanup::after, &ProcessSample::live)),
      bytes<ActionRow>("retained_after", in(&Cleanup::after, &ProcessSample::retained)),
      cost<ActionRow>("cost_us", in(&Cleanup::seconds)),
      deep_column(),
      devices_column(),
  };
}

const Table<SampleRow>& sample_table() {
  static const Table<SampleRow> table("samples", "INSERT OR REPLACE", "", sample_columns());
  return table;
}

const Table<NumberedReading>& bucket_table() {
  static const Table<NumberedReading> table("buckets", "INSERT OR REPLACE", "", bucket_columns());
  return table;
}

const Table<PlaceReading>& place_table() {
  static const Table<PlaceReading> table("place", "INSERT OR REPLACE", "", place_columns());
  return table;
}

/// Several of one reason within a millisecond are one row that counts them.
const Table<ActionRow>& action_table() {
  static const Table<ActionRow> table(
      "actions", "INSERT",
      "ON CONFLICT DO UPDATE SET count = count + excluded.count, "
      "rss_after = excluded.rss_after, returned = returned + excluded.returned, "
      "anon_after = excluded.anon_after, live_after = excluded.live_after, "
      "retained_after = excluded.retained_after, cost_us = cost_us + excluded.cost_us, "
      "deep = max(deep, excluded.deep), devices = coalesce(excluded.devices, devices) "
      "WHERE reason = excluded.reason",
      action_columns());
  return table;
}

}  // namespace

void insert(Database& database, std::int64_t run, std::int64_t process, const Sample& sample) {
  sample_table().insert(database, run, {process, sample});
}

void insert(Database& database, std::int64_t run, const NumberedReading& bucket) {
  bucket_table().insert(database, run, bucket);
}

void insert(Database& database, std::int64_t run, const PlaceReading& reading) {
  place_table().insert(database, run, reading);
}

void insert(Database& database, std::int64_t run, const NumberedAction& action) {
  ActionRow row{milliseconds(action.action.seconds), action.process, action.action};
  // Where another reason is there, the next millisecond is near enough: whose cleanup it was must
  // stay true.
  do {
    action_table().insert(database, run, row);
    ++row.ms;
  } while (!database.failed() && database.changed() == 0);
}

std::vector<NumberedReading> read_samples(Database& database, std::int64_t run, std::int64_t most,
                                          std::int64_t from_ms) {
  static const Query query = sample_table().query("AND ms >= ? ORDER BY ms, process LIMIT ?");
  std::vector<NumberedReading> found;
  for (const SampleRow& row : sample_table().read(database, query, run, from_ms, most))
    found.push_back({row.process, reading_of(row.sample)});
  return found;
}

std::vector<NumberedReading> read_buckets(Database& database, std::int64_t run,
                                          std::int64_t process, std::int64_t from_ms,
                                          std::int64_t until_ms) {
  static const Query query =
      bucket_table().query("AND process = ? AND ms >= ? AND ms < ? ORDER BY ms");
  auto found = bucket_table().read(database, query, run, process, from_ms, until_ms);
  for (NumberedReading& row : found) {
    Reading& reading = row.reading;
    reading.until = std::max(reading.until, reading.seconds);
    if (reading.rss && reading.rss->high == 0) reading.rss.reset();
  }
  return found;
}

std::vector<PlaceReading> read_place(Database& database, std::int64_t run, std::int64_t most,
                                     std::int64_t from_ms) {
  static const Query query = place_table().query("AND ms >= ? ORDER BY ms LIMIT ?");
  auto found = place_table().read(database, query, run, from_ms, most);
  for (PlaceReading& row : found)
    row.until = std::max(row.until, row.now.seconds);
  return found;
}

std::vector<NumberedAction> read_actions(Database& database, std::int64_t run, std::int64_t most) {
  static const Query query =
      action_table().query("AND what = 'cleanup' ORDER BY ms, process LIMIT ?");
  std::vector<NumberedAction> found;
  for (ActionRow& row : action_table().read(database, query, run, most)) {
    row.action.seconds = seconds_of(row.ms);
    found.push_back({row.process, row.action});
  }
  return found;
}

}  // namespace ebb::record
