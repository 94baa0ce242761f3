// SPDX-License-Identifier: Apache-2.0
#include "record/schema.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "base/file.h"

namespace ebb::record {
namespace {

// "EbbR": tells a record from any other SQLite file.
constexpr std::int64_t kApplicationId = 0x45626252;
constexpr int kReadBusyMs = 5000;

constexpr const char* kVersion1 = R"(
CREATE TABLE runs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL, command TEXT NOT NULL, role TEXT NOT NULL, allocator TEXT NOT NULL,
  host TEXT NOT NULL, version TEXT NOT NULL,
  started INTEGER NOT NULL, ended INTEGER, exit_code INTEGER, signal INTEGER, ending TEXT NOT NULL,
  interval INTEGER NOT NULL, limit_bytes INTEGER NOT NULL,
  writer TEXT NOT NULL, seen INTEGER NOT NULL, last INTEGER NOT NULL DEFAULT 0,
  peak_rss INTEGER NOT NULL DEFAULT 0, peak_process_rss INTEGER NOT NULL DEFAULT 0,
  processes INTEGER NOT NULL DEFAULT 0, samples INTEGER NOT NULL DEFAULT 0,
  rounds INTEGER NOT NULL DEFAULT 0, lost INTEGER NOT NULL DEFAULT 0,
  detail INTEGER NOT NULL DEFAULT 0);
CREATE TABLE processes(
  run INTEGER NOT NULL, process INTEGER NOT NULL,
  pid INTEGER NOT NULL, start INTEGER NOT NULL, parent INTEGER NOT NULL,
  command TEXT NOT NULL, allocator TEXT NOT NULL, agent INTEGER NOT NULL,
  began INTEGER NOT NULL, ended INTEGER, width INTEGER NOT NULL,
  PRIMARY KEY(run, process)) WITHOUT ROWID;
CREATE TABLE samples(
  run INTEGER NOT NULL, ms INTEGER NOT NULL, process INTEGER NOT NULL,
  rss INTEGER NOT NULL, anon INTEGER, file INTEGER, shmem INTEGER, swap INTEGER, pss INTEGER,
  live INTEGER, retained INTEGER, minor_faults INTEGER NOT NULL, cpu_ms INTEGER NOT NULL,
  PRIMARY KEY(run, ms, process)) WITHOUT ROWID;
CREATE TABLE buckets(
  run INTEGER NOT NULL, process INTEGER NOT NULL, ms INTEGER NOT NULL,
  until INTEGER NOT NULL, count INTEGER NOT NULL,
  rss_low INTEGER NOT NULL, rss_mean INTEGER NOT NULL, rss_high INTEGER NOT NULL,
  anon_low INTEGER, anon_mean INTEGER, anon_high INTEGER,
  file_low INTEGER, file_mean INTEGER, file_high INTEGER,
  shmem_low INTEGER, shmem_mean INTEGER, shmem_high INTEGER,
  swap_low INTEGER, swap_mean INTEGER, swap_high INTEGER,
  pss_low INTEGER, pss_mean INTEGER, pss_high INTEGER,
  live_low INTEGER, live_mean INTEGER, live_high INTEGER,
  retained_low INTEGER, retained_mean INTEGER, retained_high INTEGER,
  held_low INTEGER, minor_faults INTEGER NOT NULL, cpu_ms INTEGER NOT NULL,
  PRIMARY KEY(run, process, ms)) WITHOUT ROWID;
CREATE TABLE place(
  run INTEGER NOT NULL, ms INTEGER NOT NULL, until INTEGER NOT NULL, count INTEGER NOT NULL,
  used_low INTEGER NOT NULL, used INTEGER NOT NULL, limit_bytes INTEGER NOT NULL,
  permyriad INTEGER NOT NULL, pressure_permyriad INTEGER, gpu_used INTEGER, gpu_total INTEGER,
  file_cache INTEGER,
  PRIMARY KEY(run, ms)) WITHOUT ROWID;
CREATE TABLE rounds(
  run INTEGER NOT NULL, ms INTEGER NOT NULL, process INTEGER NOT NULL, number INTEGER NOT NULL,
  PRIMARY KEY(run, ms, process, number)) WITHOUT ROWID;
CREATE TABLE actions(
  run INTEGER NOT NULL, ms INTEGER NOT NULL, process INTEGER NOT NULL, what TEXT NOT NULL,
  count INTEGER NOT NULL, reason TEXT NOT NULL, rss_before INTEGER NOT NULL,
  rss_after INTEGER NOT NULL, returned INTEGER NOT NULL, anon_after INTEGER, live_after INTEGER,
  retained_after INTEGER, cost_us INTEGER NOT NULL, deep INTEGER NOT NULL,
  PRIMARY KEY(run, ms, process, what)) WITHOUT ROWID;
CREATE TABLE events(
  run INTEGER NOT NULL, ms INTEGER NOT NULL, number INTEGER NOT NULL,
  kind TEXT NOT NULL, text TEXT NOT NULL, process INTEGER,
  PRIMARY KEY(run, ms, number)) WITHOUT ROWID;
)";

// Nothing that is there changes, so that an older Ebb that is recording goes on.
constexpr const char* kVersion2 = R"(
ALTER TABLE samples ADD COLUMN uss INTEGER;
ALTER TABLE samples ADD COLUMN shared INTEGER;
ALTER TABLE buckets ADD COLUMN uss_low INTEGER;
ALTER TABLE buckets ADD COLUMN uss_mean INTEGER;
ALTER TABLE buckets ADD COLUMN uss_high INTEGER;
ALTER TABLE buckets ADD COLUMN shared_low INTEGER;
ALTER TABLE buckets ADD COLUMN shared_mean INTEGER;
ALTER TABLE buckets ADD COLUMN shared_high INTEGER;
ALTER TABLE runs ADD COLUMN peak_group INTEGER;
CREATE TABLE peaks(
  run INTEGER NOT NULL, process INTEGER NOT NULL, rss INTEGER NOT NULL,
  PRIMARY KEY(run, process)) WITHOUT ROWID;
CREATE TABLE private_allocators(
  run INTEGER NOT NULL, process INTEGER NOT NULL, library TEXT NOT NULL, kind TEXT NOT NULL,
  prefix TEXT NOT NULL, ms INTEGER NOT NULL, controllable INTEGER NOT NULL, live INTEGER,
  retained INTEGER, asked INTEGER NOT NULL, returned INTEGER NOT NULL,
  PRIMARY KEY(run, process, library, kind)) WITHOUT ROWID;
)";

constexpr const char* kVersion3 = R"(
ALTER TABLE actions ADD COLUMN devices TEXT;
)";

constexpr const char* kVersion4 = R"(
CREATE TABLE originals(
  run INTEGER NOT NULL, process INTEGER NOT NULL, json TEXT NOT NULL,
  PRIMARY KEY(run, process)) WITHOUT ROWID;
)";

constexpr const char* kVersion5 = R"(
CREATE TABLE samplings(
  run INTEGER NOT NULL, process INTEGER NOT NULL, ms INTEGER NOT NULL, bytes INTEGER NOT NULL,
  samples INTEGER NOT NULL, dropped INTEGER NOT NULL, no_python INTEGER NOT NULL,
  spent_us INTEGER NOT NULL,
  PRIMARY KEY(run, process, ms)) WITHOUT ROWID;
CREATE TABLE sites(
  run INTEGER NOT NULL, process INTEGER NOT NULL, site INTEGER NOT NULL, ms INTEGER NOT NULL,
  bytes INTEGER NOT NULL, error INTEGER NOT NULL, samples INTEGER NOT NULL,
  PRIMARY KEY(run, process, site, ms)) WITHOUT ROWID;
CREATE TABLE site_names(
  run INTEGER NOT NULL, process INTEGER NOT NULL, site INTEGER NOT NULL, frames TEXT NOT NULL,
  PRIMARY KEY(run, process, site)) WITHOUT ROWID;
CREATE TABLE deaths(run INTEGER PRIMARY KEY, json TEXT NOT NULL);
ALTER TABLE place ADD COLUMN usage INTEGER;
ALTER TABLE place ADD COLUMN anon INTEGER;
ALTER TABLE place ADD COLUMN shmem INTEGER;
ALTER TABLE place ADD COLUMN cache INTEGER;
ALTER TABLE place ADD COLUMN dirty INTEGER;
ALTER TABLE place ADD COLUMN kernel INTEGER;
ALTER TABLE place ADD COLUMN slab INTEGER;
ALTER TABLE place ADD COLUMN sockets INTEGER;
ALTER TABLE place ADD COLUMN stacks INTEGER;
ALTER TABLE place ADD COLUMN page_tables INTEGER;
ALTER TABLE place ADD COLUMN supervisor INTEGER;
)";

constexpr const char* kVersion6 = R"(
CREATE TABLE devices(
  run INTEGER NOT NULL, process INTEGER NOT NULL, device INTEGER NOT NULL, ms INTEGER NOT NULL,
  total INTEGER NOT NULL, free INTEGER NOT NULL, reserved INTEGER NOT NULL,
  cached INTEGER NOT NULL, live INTEGER, inactive INTEGER,
  PRIMARY KEY(run, process, device)) WITHOUT ROWID;
)";

constexpr const char* kVersion7 = R"(
CREATE TABLE simulations(
  run INTEGER PRIMARY KEY, sweep TEXT NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL,
  about TEXT NOT NULL);
CREATE TABLE simulated_rounds(
  run INTEGER NOT NULL, number INTEGER NOT NULL, json TEXT NOT NULL,
  PRIMARY KEY(run, number)) WITHOUT ROWID;
)";

constexpr const char* kVersion8 = R"(
CREATE TABLE mapped(
  run INTEGER NOT NULL, process INTEGER NOT NULL, ms INTEGER NOT NULL, stacks INTEGER,
  pinned INTEGER, pinned_shared INTEGER NOT NULL, python INTEGER,
  PRIMARY KEY(run, process)) WITHOUT ROWID;
)";

/// The step at index i makes schema i + 1 out of schema i.
constexpr std::array<const char*, kSchemaVersion> kSteps{
    kVersion1, kVersion2, kVersion3, kVersion4, kVersion5, kVersion6, kVersion7, kVersion8};

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

base::Error not_a_record(const std::string& path) {
  return base::error(base::Code::bad_input, "%s: a database, but not a record of runs",
                     path.c_str());
}

/// Code::bad_input for a device, a FIFO, a folder: SQLite would leave files beside them.
base::Status check_kind(const std::string& path) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return {};
  return base::error(base::Code::bad_input, "%s: no file, expected a record of runs", path.c_str());
}

/// The version of a file's schema; 0 for an empty one.
base::Result<int> version_of(Database& database) {
  std::int64_t version = 0, application = 0, tables = 0;
  // One statement sees one moment: somebody else may be making the file right now.
  database.each(
      "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master) "
      "FROM pragma_user_version, pragma_application_id",
      [&](const Row& row) {
        version = row.integer(0);
        application = row.integer(1);
        tables = row.integer(2);
      });
  if (database.failed()) return database.take_failure();
  if (tables == 0 && version == 0) return 0;
  if (application != kApplicationId || version < 1) return not_a_record(database.path());
  if (version > kSchemaVersion) {
    return base::error(base::Code::bad_input,
                       "%s: written by a newer ebb (schema %lld, expected %d or older)",
                       database.path().c_str(), static_cast<long long>(version), kSchemaVersion);
  }
  return static_cast<int>(version);
}

/// Only the owner may read what others ran: SQLite would ask the umask. Must not be called for a
/// file that exists: closing any descriptor of it would drop the locks that this process has on it.
base::Status create_private_file(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failure;
  if (!folder.empty() && !std::filesystem::exists(folder, failure)) {
    const std::filesystem::path above = folder.parent_path();
    if (!above.empty()) std::filesystem::create_directories(above, failure);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
      return base::system_error(errno, "%s: cannot make the folder", folder.c_str());
  }
  // A link that leads nowhere yet is followed, which O_EXCL does not.
  const int exclusive = std::filesystem::is_symlink(path, failure) ? 0 : O_EXCL;
  const base::FileDescriptor made(::open(path.c_str(), O_CREAT | exclusive | O_CLOEXEC, 0600));
  if (!made.is_open() && errno != EEXIST)
    return base::system_error(errno, "%s: cannot make the record", path.c_str());
  return {};
}

base::Status bring_up_to_date(Database& database) {
  std::optional<base::Error> refused;
  const auto done = in_transaction(database, [&] {
    // Asked again under the lock: somebody else may have been faster.
    const auto version = version_of(database);
    if (!version) {
      refused = version.error();
      return false;
    }
    for (int step = *version; step < kSchemaVersion; ++step)
      database.script(kSteps.at(static_cast<std::size_t>(step)));
    if (*version == 0)
      database.script(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
    return database.script(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str());
  });
  if (refused) return *refused;
  return done;
}

}  // namespace

base::Result<Database> open_for_writing(const std::string& path, int busy_ms) {
  if (const auto right = check_kind(path); !right) return right.error();
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) {
    if (const auto made = create_private_file(path); !made) return made.error();
  }
  auto opened = Database::open(path, Database::Mode::write, busy_ms);
  if (!opened) return opened;
  Database& database = *opened;
  auto version = version_of(database);
  if (!version) return version.error();
  if (*version == 0) {
    // Both are kept in the file, and must come before its first table.
    database.script("PRAGMA auto_vacuum = INCREMENTAL");
    database.script("PRAGMA journal_mode = WAL");
    if (database.failed()) return database.take_failure();
  }
  if (*version < kSchemaVersion) {
    if (const auto done = bring_up_to_date(database); !done) return done.error();
  }
  // NORMAL: a power cut may take the last seconds, never the file; killing a process takes nothing.
  database.script(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 512;"
      "PRAGMA journal_size_limit = 4194304; PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY");
  if (database.failed()) return database.take_failure();
  return opened;
}

base::Result<Database> open_for_reading(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) {
    return base::system_error(errno, "%s: no record of runs", path.c_str());
  }
  if (const auto right = check_kind(path); !right) return right.error();
  std::optional<base::Error> first;
  // Readers share memory with writers in a file beside it; where none can be made, nobody writes.
  for (const Database::Mode mode : {Database::Mode::write, Database::Mode::frozen}) {
    auto opened = Database::open(path, mode, kReadBusyMs);
    if (opened) {
      opened->script("PRAGMA query_only = 1");
      const auto version = version_of(*opened);
      if (version && *version == 0) {
        // Whoever began it had no disk or no time to go on; the next run does.
        return base::error(base::Code::bad_input, "%s: no record of runs: the file is empty",
                           path.c_str());
      }
      if (version) {
        opened->set_schema(*version);
        return opened;
      }
      opened = version.error();
    }
    if (!first) first = opened.error();
    if (first->code == base::Code::bad_input || ::access(folder_of(path).c_str(), W_OK) == 0) break;
  }
  return *first;
}

}  // namespace ebb::record
