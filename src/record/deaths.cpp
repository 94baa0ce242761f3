// SPDX-License-Identifier: Apache-2.0
#include "record/deaths.h"

#include <utility>

namespace ebb::record {
namespace {

constexpr int kDeathsSince = 5;

}  // namespace

void store_death(Database& database, std::int64_t run, const fact::Death& death) {
  database.run("INSERT OR REPLACE INTO deaths(run, json) VALUES(?,?)", run,
               fact::to_json(death).text());
}

std::map<std::int64_t, fact::Death> read_deaths(Database& database) {
  std::map<std::int64_t, fact::Death> found;
  if (database.schema() < kDeathsSince) return found;
  database.each("SELECT run, json FROM deaths", [&](const Row& row) {
    const auto json = base::parse_json(row.text(1));
    auto death = json ? fact::death_from(*json) : std::nullopt;
    if (death) found.emplace(row.integer(0), *std::move(death));
  });
  return found;
}

void forget_death(Database& database, std::int64_t run) {
  database.run("DELETE FROM deaths WHERE run = ?", run);
}

}  // namespace ebb::record
