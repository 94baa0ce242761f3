// SPDX-License-Identifier: Apache-2.0
#include "record/originals.h"

#include <algorithm>

#include "base/json_bytes.h"
#include "base/utf8.h"

namespace ebb::record {
namespace {

constexpr int kSince = 4;

template <class... Values>
std::map<std::int64_t, base::Json> read_all(Database& database, const char* sql,
                                            const Values&... values) {
  std::map<std::int64_t, base::Json> found;
  if (database.schema() < kSince) return found;
  database.each(
      sql,
      [&](const Row& row) {
        if (auto texts = base::parse_json(row.text(1))) found[row.integer(0)] = *std::move(texts);
      },
      values...);
  return found;
}

}  // namespace

void store_original(Database& database, std::int64_t run, std::int64_t process,
                    const base::Json& texts) {
  const base::Json::Object* members = texts.as_object();
  const bool has_bytes = std::any_of(members->begin(), members->end(), [](const auto& member) {
    return base::bytes_beside(member.second).has_value();
  });
  if (!has_bytes) return;
  database.run("INSERT OR REPLACE INTO originals(run, process, json) VALUES(?,?,?)", run, process,
               texts.text());
}

std::map<std::int64_t, base::Json> read_originals(Database& database, std::int64_t run) {
  return read_all(database, "SELECT process, json FROM originals WHERE run = ?", run);
}

std::map<std::int64_t, base::Json> read_originals_of_runs(Database& database) {
  return read_all(database, "SELECT run, json FROM originals WHERE process = 0");
}

void restore(std::string& text, const base::Json& original, const char* key) {
  const base::Json* value = original.find(key);
  if (value == nullptr || value->as_string() == nullptr) return;
  // A process that has become another program since has another command.
  if (base::utf8_text(*value->as_string()) == text) text = *value->as_string();
}

void restore(std::vector<std::string>& words, const base::Json& original, const char* key) {
  const base::Json* value = original.find(key);
  const base::Json::Array* items = value != nullptr ? value->as_array() : nullptr;
  if (items == nullptr || items->size() != words.size()) return;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string* word = (*items)[i].as_string();
    if (word != nullptr && base::utf8_text(*word) == words[i]) words[i] = *word;
  }
}

void forget_originals(Database& database, std::int64_t run) {
  database.run(
      "DELETE FROM originals WHERE run = ?1 AND process <> 0 AND process NOT IN "
      "(SELECT process FROM processes WHERE run = ?1)",
      run);
}

}  // namespace ebb::record
