// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace ebb::record {

/// What PRAGMA user_version says of files that this build writes.
inline constexpr int kSchemaVersion = 8;

/// What stands in one column of one row; nothing is NULL.
using Cell = std::variant<std::monostate, std::int64_t, std::uint64_t, std::string>;

/// One row of an answer. Nothing in a file is trusted: what is missing or of another type reads as
/// zero or nothing. Valid until the callback that got it returns.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  std::uint64_t count(int column) const;  ///< negative numbers are zero
  std::optional<std::uint64_t> optional_count(int column) const;
  std::string text(int column) const;

 private:
  sqlite3_stmt* statement_;
};

/// A connection to one SQLite file, and the only place that calls SQLite. The first failure sticks:
/// from then on every call is refused until take_failure(), so that a sequence of statements needs
/// one check at its end. Movable. Not thread-safe.
class Database {
 public:
  /// `frozen`: the file is where nobody can write to it, so that no lock is needed.
  enum class Mode : std::uint8_t { write, frozen };

  /// Opens a file that exists, without reading it. `busy_ms`: how long to wait for somebody else's
  /// lock.
  static base::Result<Database> open(const std::string& path, Mode mode, int busy_ms);

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  void wait_for_locks(int busy_ms);

  /// Statements that bring no row, separated by ';'.
  bool script(const char* sql);

  /// One statement with its values in order of its '?'; a vector of cells is several. `sql` is
  /// prepared once and known by its address: it must stay where it is, as a literal does.
  template <class... Values>
  bool run(const char* sql, const Values&... values) {
    return each(
        sql, [](const Row&) {}, values...);
  }

  /// Calls `on_row` for each row of the answer. It must not use the same statement.
  template <class OnRow, class... Values>
  bool each(const char* sql, OnRow&& on_row, const Values&... values) {
    sqlite3_stmt* statement = prepared(sql);
    if (statement == nullptr) return false;
    [[maybe_unused]] int index = 0;
    (bind_next(statement, index, values), ...);
    while (step(statement))
      on_row(Row(statement));
    return finish(statement);
  }

  /// The first column of the first row; 0 without one.
  template <class... Values>
  std::int64_t number(const char* sql, const Values&... values) {
    std::int64_t result = 0;
    bool first = true;
    each(
        sql,
        [&](const Row& row) {
          if (first) result = row.integer(0);
          first = false;
        },
        values...);
    return result;
  }

  /// Rows that the last statement inserted, changed or removed.
  std::uint64_t changed() const;

  bool failed() const { return failure_.has_value(); }
  /// What went wrong first, and from now on calls work again. Requires: failed().
  base::Error take_failure();

  const std::string& path() const { return path_; }
  /// The version of the file's schema, as whoever opened it found it.
  int schema() const { return schema_; }
  void set_schema(int version) { schema_ = version; }
  /// Whether the path still names the file that is open.
  bool is_in_place() const;

 private:
  struct Closer {
    void operator()(sqlite3* connection) const;
  };
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };

  Database(std::string path, sqlite3* connection);

  sqlite3_stmt* prepared(const char* sql);
  bool step(sqlite3_stmt* statement);
  bool finish(sqlite3_stmt* statement);
  void fail(int code);

  template <class Value>
  static void bind_next(sqlite3_stmt* statement, int& index, const Value& value) {
    bind(statement, ++index, value);
  }
  static void bind_next(sqlite3_stmt* statement, int& index, const std::vector<Cell>& cells);
  static void bind(sqlite3_stmt* statement, int index, std::int64_t value);
  static void bind(sqlite3_stmt* statement, int index, std::uint64_t value);
  static void bind(sqlite3_stmt* statement, int index, int value);
  static void bind(sqlite3_stmt* statement, int index, bool value);
  static void bind(sqlite3_stmt* statement, int index, std::string_view value);
  static void bind(sqlite3_stmt* statement, int index, std::nullopt_t value);
  template <class T>
  static void bind(sqlite3_stmt* statement, int index, const std::optional<T>& value) {
    if (value) {
      bind(statement, index, *value);
    } else {
      bind(statement, index, std::nullopt);
    }
  }

  std::string path_;
  int schema_ = kSchemaVersion;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  // Statements go before the connection they belong to.
  std::unique_ptr<sqlite3, Closer> connection_;
  std::map<const char*, std::unique_ptr<sqlite3_stmt, Finalizer>> statements_;
  std::optional<base::Error> failure_;
};

/// Runs `work` in one transaction, which is undone where anything in it failed or `work` says
/// false. Locks for writing at once, so that what it reads stays true. Gives the first failure.
template <class Work>
base::Status in_transaction(Database& database, Work&& work) {
  bool whole = database.script("BEGIN IMMEDIATE");
  if (whole) whole = work() && !database.failed() && database.script("COMMIT");
  if (whole) return {};
  base::Error error{base::Code::internal, "a transaction gave up", 0};
  if (database.failed()) error = database.take_failure();
  // Some failures have undone it already; then there is nothing to undo.
  if (!database.script("ROLLBACK")) static_cast<void>(database.take_failure());
  return error;
}

}  // namespace ebb::record
