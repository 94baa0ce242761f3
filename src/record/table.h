// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "record/database.h"

namespace ebb::record {

/// One column of a table whose rows are a T: its name, what of a row is written to it, and where
/// what is read from it goes.
template <class T>
struct Column {
  std::string name;
  std::function<Cell(const T&)> cell;
  std::function<void(T&, const Row&, int)> take;
  int since = 1;  ///< the version of the schema that brought it
};

/// One question to a table, for files of every version: what an older one has no column for is
/// NULL.
struct Query {
  std::array<std::string, kSchemaVersion> of_version;

  /// `text_of(version)` for each of them.
  template <class TextOf>
  static Query of(TextOf text_of) {
    Query query;
    for (int version = 1; version <= kSchemaVersion; ++version)
      query.of_version.at(static_cast<std::size_t>(version - 1)) = text_of(version);
    return query;
  }

  const char* text(int version) const {
    return of_version.at(static_cast<std::size_t>(version - 1)).c_str();
  }
};

/// A table of rows that belong to a run. Its columns are listed once, for writing and for reading.
template <class T>
class Table {
 public:
  using Columns = std::vector<Column<T>>;

  /// `insert` is how it begins, e.g. "INSERT OR REPLACE"; `on_conflict` what follows the values.
  Table(const std::string& name, const std::string& insert, const std::string& on_conflict,
        Columns columns)
      : name_(name), columns_(std::move(columns)) {
    std::string names;
    std::string places;
    for (const Column<T>& column : columns_) {
      names += ", " + column.name;
      places += ",?";
    }
    insert_ =
        insert + " INTO " + name + "(run" + names + ") VALUES(?" + places + ") " + on_conflict;
  }

  void insert(Database& database, std::int64_t run, const T& row) const {
    std::vector<Cell> cells;
    cells.reserve(columns_.size() + 1);
    cells.emplace_back(run);
    for (const Column<T>& column : columns_)
      cells.push_back(column.cell(row));
    database.run(insert_.c_str(), cells);
  }

  /// "SELECT … FROM table WHERE run = ? " and `rest`, for read(). Keep it: it is prepared once.
  Query query(const std::string& rest) const {
    return Query::of([&](int version) {
      std::string names;
      for (const Column<T>& column : columns_) {
        names += names.empty() ? "" : ", ";
        names += column.since <= version ? column.name : "NULL";
      }
      return "SELECT " + names + " FROM " + name_ + " WHERE run = ? " + rest;
    });
  }

  template <class... Values>
  std::vector<T> read(Database& database, const Query& query, const Values&... values) const {
    std::vector<T> rows;
    database.each(
        query.text(database.schema()),
        [&](const Row& row) {
          T& read = rows.emplace_back();
          int place = 0;
          for (const Column<T>& column : columns_)
            column.take(read, row, place++);
        },
        values...);
    return rows;
  }

 private:
  std::string name_;
  Columns columns_;
  std::string insert_;
};

}  // namespace ebb::record
