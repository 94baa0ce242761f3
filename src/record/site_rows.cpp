// SPDX-License-Identifier: Apache-2.0
#include "record/site_rows.h"

#include "base/json.h"
#include "record/values.h"

namespace ebb::record {
namespace {

using base::Json;

// In which the tables came.
constexpr int kSinceSchema = 5;
constexpr std::size_t kLongestPart = 512;

/// [[function, file, line, module], …].
std::string frames_text(const fact::SiteStack& frames) {
  Json all = Json::array();
  for (const fact::SiteFrame& frame : frames) {
    Json one = Json::array();
    one.push(shortened(frame.function, kLongestPart))
        .push(shortened(frame.file, kLongestPart))
        .push(std::uint64_t{frame.line})
        .push(shortened(frame.module, kLongestPart));
    all.push(std::move(one));
  }
  return all.text();
}

std::string text_in(const Json& json) {
  const std::string* text = json.as_string();
  return text != nullptr ? *text : std::string();
}

fact::SiteStack frames_of(const std::string& text) {
  fact::SiteStack frames;
  const auto all = base::parse_json(text);
  if (!all || all->as_array() == nullptr) return frames;
  for (const Json& one : *all->as_array()) {
    const auto* parts = one.as_array();
    if (parts == nullptr || parts->size() != 4) continue;
    frames.push_back({text_in((*parts)[0]), text_in((*parts)[1]),
                      static_cast<std::uint32_t>((*parts)[2].as_unsigned().value_or(0)),
                      text_in((*parts)[3])});
  }
  return frames;
}

}  // namespace

void insert(Database& database, std::int64_t run, std::int64_t process, const Sampling& sampling) {
  database.run("INSERT OR REPLACE INTO samplings VALUES(?,?,?,?,?,?,?,?)", run, process,
               milliseconds(sampling.seconds), sampling.bytes, sampling.samples, sampling.dropped,
               sampling.no_python, whole(sampling.spent_seconds * 1e6));
}

void insert(Database& database, std::int64_t run, std::int64_t process, const Site& site) {
  database.run("INSERT OR REPLACE INTO sites VALUES(?,?,?,?,?,?,?)", run, process,
               std::int64_t{site.number}, milliseconds(site.seconds), site.bytes, site.error,
               site.samples);
}

void insert(Database& database, std::int64_t run, std::int64_t process, const SiteName& name) {
  database.run("INSERT OR IGNORE INTO site_names VALUES(?,?,?,?)", run, process,
               std::int64_t{name.number}, frames_text(name.frames));
}

void read_sites(Database& database, std::int64_t run,
                const std::function<ProcessKey(std::int64_t)>& key_of, RecordedRun& into) {
  if (database.schema() < kSinceSchema) return;
  database.each(
      "SELECT process, ms, bytes, samples, dropped, no_python, spent_us FROM samplings "
      "WHERE run = ? ORDER BY process, ms",
      [&](const Row& row) {
        into.samplings.push_back({key_of(row.integer(0)), seconds_of(row.integer(1)), row.count(2),
                                  row.count(3), row.count(4), row.count(5),
                                  static_cast<double>(row.integer(6)) / 1e6});
      },
      run);
  database.each(
      "SELECT process, ms, site, bytes, error, samples FROM sites WHERE run = ? "
      "ORDER BY process, site, ms",
      [&](const Row& row) {
        into.sites.push_back({key_of(row.integer(0)), seconds_of(row.integer(1)),
                              static_cast<std::uint32_t>(row.count(2)), row.count(3), row.count(4),
                              row.count(5)});
      },
      run);
  database.each(
      "SELECT process, site, frames FROM site_names WHERE run = ? ORDER BY process, site",
      [&](const Row& row) {
        into.site_names.push_back({key_of(row.integer(0)), 0,
                                   static_cast<std::uint32_t>(row.count(1)),
                                   frames_of(row.text(2))});
      },
      run);
}

void forget_sites(Database& database, std::int64_t run) {
  for (const char* statement : {"DELETE FROM samplings WHERE run = ?1 AND process NOT IN "
                                "(SELECT process FROM processes WHERE run = ?1)",
                                "DELETE FROM sites WHERE run = ?1 AND process NOT IN "
                                "(SELECT process FROM processes WHERE run = ?1)",
                                "DELETE FROM site_names WHERE run = ?1 AND process NOT IN "
                                "(SELECT process FROM processes WHERE run = ?1)"})
    database.run(statement, run);
}

}  // namespace ebb::record
