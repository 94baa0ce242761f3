// SPDX-License-Identifier: Apache-2.0
#include "record/database.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"

namespace ebb::record {
namespace {

base::Code code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return base::Code::unavailable;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return base::Code::bad_input;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return base::Code::not_permitted;
    case SQLITE_NOMEM:
      return base::Code::out_of_memory;
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
    case SQLITE_CONSTRAINT:
      return base::Code::internal;
    default:
      return base::Code::io;
  }
}

/// The path as SQLite's URI for a file that does not change.
std::string frozen_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += base::format_text("%%%02x", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

bool Row::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Row::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::uint64_t Row::count(int column) const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(integer(column), 0));
}

std::optional<std::uint64_t> Row::optional_count(int column) const {
  if (is_null(column)) return std::nullopt;
  return count(column);
}

std::string Row::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
}

void Database::Closer::operator()(sqlite3* connection) const {
  sqlite3_close_v2(connection);
}

void Database::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Database::Database(std::string path, sqlite3* connection)
    : path_(std::move(path)), connection_(connection) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

base::Result<Database> Database::open(const std::string& path, Mode mode, int busy_ms) {
  const bool frozen = mode == Mode::frozen;
  const int flags = SQLITE_OPEN_NOMUTEX |
                    (frozen ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE);
  const std::string name = frozen ? frozen_uri(path) : path;
  sqlite3* connection = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &connection, flags, nullptr);
  Database database(path, connection);
  if (connection == nullptr) {
    return base::error(base::Code::out_of_memory, "%s: no memory to open it", path.c_str());
  }
  if (result != SQLITE_OK) {
    database.fail(result);
    return database.take_failure();
  }
  sqlite3_extended_result_codes(connection, 1);
  database.wait_for_locks(busy_ms);
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    database.device_ = found.st_dev;
    database.inode_ = found.st_ino;
  }
  return database;
}

void Database::wait_for_locks(int busy_ms) {
  sqlite3_busy_timeout(connection_.get(), busy_ms);
}

bool Database::is_in_place() const {
  struct stat found {};
  return ::stat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

void Database::fail(int code) {
  if (failure_) return;
  failure_ = base::Error{code_of(code), path_ + ": " + sqlite3_errmsg(connection_.get()),
                         static_cast<std::int64_t>(code)};
}

base::Error Database::take_failure() {
  EBB_CHECK(failure_.has_value());
  base::Error error = *std::move(failure_);
  failure_.reset();
  return error;
}

bool Database::script(const char* sql) {
  if (failed()) return false;
  const int result = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) fail(result);
  return result == SQLITE_OK;
}

sqlite3_stmt* Database::prepared(const char* sql) {
  if (failed()) return nullptr;
  auto& slot = statements_[sql];
  if (!slot) {
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v3(connection_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT,
                                          &statement, nullptr);
    slot.reset(statement);
    if (result != SQLITE_OK) {
      fail(result);
      statements_.erase(sql);
      return nullptr;
    }
  }
  return slot.get();
}

bool Database::step(sqlite3_stmt* statement) {
  const int result = sqlite3_step(statement);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) fail(result);
  return false;
}

bool Database::finish(sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return !failed();
}

std::uint64_t Database::changed() const {
  return static_cast<std::uint64_t>(std::max(sqlite3_changes(connection_.get()), 0));
}

void Database::bind_next(sqlite3_stmt* statement, int& index, const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    ++index;
    if (const auto* number = std::get_if<std::int64_t>(&cell)) {
      bind(statement, index, *number);
    } else if (const auto* count = std::get_if<std::uint64_t>(&cell)) {
      bind(statement, index, *count);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      bind(statement, index, std::string_view(*text));
    } else {
      bind(statement, index, std::nullopt);
    }
  }
}
void Database::bind(sqlite3_stmt* statement, int index, std::int64_t value) {
  sqlite3_bind_int64(statement, index, value);
}
void Database::bind(sqlite3_stmt* statement, int index, std::uint64_t value) {
  sqlite3_bind_int64(statement, index,
                     static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX)));
}
void Database::bind(sqlite3_stmt* statement, int index, int value) {
  sqlite3_bind_int64(statement, index, value);
}
void Database::bind(sqlite3_stmt* statement, int index, bool value) {
  sqlite3_bind_int64(statement, index, value ? 1 : 0);
}
void Database::bind(sqlite3_stmt* statement, int index, std::string_view value) {
  // Other tools refuse a record with text that is none.
  if (!base::is_utf8(value))
    return bind(statement, index, std::string_view(base::utf8_text(value)));
  sqlite3_bind_text64(statement, index, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void Database::bind(sqlite3_stmt* statement, int index, std::nullopt_t) {
  sqlite3_bind_null(statement, index);
}

}  // namespace ebb::record
