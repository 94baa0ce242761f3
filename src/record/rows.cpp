// SPDX-License-Identifier: Apache-2.0
#include "record/rows.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace ebb::record {
namespace {

constexpr double kLongest = 1e14;
constexpr std::size_t kLongestCommand = 4096;

std::int64_t whole(double value) {
  if (!std::isfinite(value)) return 0;
  return std::llround(std::clamp(value, 0.0, kLongest));
}

std::optional<std::int64_t> permyriad(const std::optional<double>& percent) {
  if (!percent) return std::nullopt;
  return whole(*percent * 100);
}

template <std::uint64_t Extent::*Part>
std::optional<std::uint64_t> part(const std::optional<Extent>& extent) {
  if (!extent) return std::nullopt;
  return (*extent).*Part;
}

constexpr auto kLow = part<&Extent::low>;
constexpr auto kMean = part<&Extent::mean>;
constexpr auto kHigh = part<&Extent::high>;

std::optional<Extent> extent_at(const Row& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return Extent{row.count(column), row.count(column + 1), row.count(column + 2)};
}

}  // namespace

std::int64_t milliseconds(double seconds) {
  return whole(seconds * 1000);
}

double seconds_of(std::int64_t milliseconds) {
  return static_cast<double>(milliseconds) / 1000;
}

std::string shortened(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80)
    --bytes;
  return text.substr(0, bytes);
}

std::string command_text(const std::vector<std::string>& command) {
  base::Json words = base::Json::array();
  std::size_t left = kLongestCommand;
  for (const std::string& word : command) {
    if (left == 0) break;
    words.push(shortened(word, left));
    left -= std::min(left, word.size() + 1);
  }
  return words.text();
}

std::vector<std::string> command_of(const std::string& text) {
  std::vector<std::string> words;
  const auto json = base::parse_json(text);
  if (!json || json->as_array() == nullptr) return words;
  for (const base::Json& word : *json->as_array())
    if (word.as_string() != nullptr) words.push_back(*word.as_string());
  return words;
}

void insert(Database& database, std::int64_t run, std::int64_t process, const Sample& sample) {
  database.run("INSERT OR REPLACE INTO samples VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", run,
               milliseconds(sample.seconds), process, sample.rss, sample.anon, sample.file,
               sample.shmem, sample.swap, sample.pss, sample.live, sample.retained,
               sample.minor_faults, milliseconds(sample.cpu_seconds));
}

void insert(Database& database, std::int64_t run, const NumberedReading& bucket) {
  const Reading& r = bucket.reading;
  database.run(
      "INSERT OR REPLACE INTO buckets VALUES"
      "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      run, bucket.process, milliseconds(r.seconds), milliseconds(r.until), r.count, r.rss.low,
      r.rss.mean, r.rss.high, kLow(r.anon), kMean(r.anon), kHigh(r.anon), kLow(r.file),
      kMean(r.file), kHigh(r.file), kLow(r.shmem), kMean(r.shmem), kHigh(r.shmem), kLow(r.swap),
      kMean(r.swap), kHigh(r.swap), kLow(r.pss), kMean(r.pss), kHigh(r.pss), kLow(r.live),
      kMean(r.live), kHigh(r.live), kLow(r.retained), kMean(r.retained), kHigh(r.retained),
      r.held_low, r.minor_faults, milliseconds(r.cpu_seconds));
}

void insert(Database& database, std::int64_t run, const PlaceReading& place) {
  const PlaceSample& now = place.now;
  database.run("INSERT OR REPLACE INTO place VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", run,
               milliseconds(now.seconds), milliseconds(place.until), place.count, place.used_low,
               now.used, now.limit, whole(now.percent * 100), permyriad(now.pressure_some),
               now.gpu_used, now.gpu_total, now.file_cache);
}

void insert(Database& database, std::int64_t run, const NumberedAction& numbered) {
  const Action& action = numbered.action;
  // Several of one reason within a millisecond are one row that counts them. Where another reason
  // is there, the next millisecond is near enough: whose cleanup it was must stay true.
  std::int64_t ms = milliseconds(action.seconds);
  do {
    database.run(
        "INSERT INTO actions VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
        "ON CONFLICT DO UPDATE SET count = count + excluded.count, "
        "rss_after = excluded.rss_after, returned = returned + excluded.returned, "
        "anon_after = excluded.anon_after, live_after = excluded.live_after, "
        "retained_after = excluded.retained_after, cost_us = cost_us + excluded.cost_us, "
        "deep = max(deep, excluded.deep) WHERE reason = excluded.reason",
        run, ms++, numbered.process, action.what, action.count, action.reason, action.rss_before,
        action.rss_after, action.returned, action.anon_after, action.live_after,
        action.retained_after, whole(action.cost_seconds * 1e6), action.deep);
  } while (!database.failed() && database.changed() == 0);
}

std::vector<NumberedReading> read_samples(Database& database, std::int64_t run, std::int64_t most) {
  std::vector<NumberedReading> found;
  database.each(
      "SELECT process, ms, rss, anon, file, shmem, swap, pss, live, retained, minor_faults, cpu_ms "
      "FROM samples WHERE run = ? ORDER BY ms, process LIMIT ?",
      [&](const Row& row) {
        Sample sample;
        sample.seconds = seconds_of(row.integer(1));
        sample.rss = row.count(2);
        sample.anon = row.optional_count(3);
        sample.file = row.optional_count(4);
        sample.shmem = row.optional_count(5);
        sample.swap = row.optional_count(6);
        sample.pss = row.optional_count(7);
        sample.live = row.optional_count(8);
        sample.retained = row.optional_count(9);
        sample.minor_faults = row.count(10);
        sample.cpu_seconds = seconds_of(row.integer(11));
        found.push_back({row.integer(0), reading_of(sample)});
      },
      run, most);
  return found;
}

std::vector<NumberedReading> read_buckets(Database& database, std::int64_t run,
                                          std::int64_t process, std::int64_t from_ms,
                                          std::int64_t until_ms) {
  std::vector<NumberedReading> found;
  database.each(
      "SELECT * FROM buckets WHERE run = ? AND process = ? AND ms >= ? AND ms < ? ORDER BY ms",
      [&](const Row& row) {
        Reading r;
        r.seconds = seconds_of(row.integer(2));
        r.until = std::max(seconds_of(row.integer(3)), r.seconds);
        r.count = std::max<std::uint64_t>(row.count(4), 1);
        r.rss = extent_at(row, 5).value_or(Extent{});
        r.anon = extent_at(row, 8);
        r.file = extent_at(row, 11);
        r.shmem = extent_at(row, 14);
        r.swap = extent_at(row, 17);
        r.pss = extent_at(row, 20);
        r.live = extent_at(row, 23);
        r.retained = extent_at(row, 26);
        r.held_low = row.optional_count(29);
        r.minor_faults = row.count(30);
        r.cpu_seconds = seconds_of(row.integer(31));
        found.push_back({row.integer(1), r});
      },
      run, process, from_ms, until_ms);
  return found;
}

std::vector<PlaceReading> read_place(Database& database, std::int64_t run, std::int64_t most) {
  std::vector<PlaceReading> found;
  database.each(
      "SELECT * FROM place WHERE run = ? ORDER BY ms LIMIT ?",
      [&](const Row& row) {
        PlaceReading place;
        place.now.seconds = seconds_of(row.integer(1));
        place.until = std::max(seconds_of(row.integer(2)), place.now.seconds);
        place.count = std::max<std::uint64_t>(row.count(3), 1);
        place.used_low = row.count(4);
        place.now.used = row.count(5);
        place.now.limit = row.count(6);
        place.now.percent = static_cast<double>(row.integer(7)) / 100;
        if (!row.is_null(8)) place.now.pressure_some = static_cast<double>(row.integer(8)) / 100;
        place.now.gpu_used = row.optional_count(9);
        place.now.gpu_total = row.optional_count(10);
        place.now.file_cache = row.optional_count(11);
        found.push_back(place);
      },
      run, most);
  return found;
}

std::vector<NumberedAction> read_actions(Database& database, std::int64_t run, std::int64_t most) {
  std::vector<NumberedAction> found;
  database.each(
      "SELECT * FROM actions WHERE run = ? ORDER BY ms, process LIMIT ?",
      [&](const Row& row) {
        Action action;
        action.seconds = seconds_of(row.integer(1));
        action.what = row.text(3);
        action.count = std::max<std::uint64_t>(row.count(4), 1);
        action.reason = row.text(5);
        action.rss_before = row.count(6);
        action.rss_after = row.count(7);
        action.returned = row.count(8);
        action.anon_after = row.optional_count(9);
        action.live_after = row.optional_count(10);
        action.retained_after = row.optional_count(11);
        action.cost_seconds = static_cast<double>(row.integer(12)) / 1e6;
        action.deep = row.integer(13) != 0;
        found.push_back({row.integer(2), std::move(action)});
      },
      run, most);
  return found;
}

}  // namespace ebb::record
