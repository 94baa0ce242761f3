// SPDX-License-Identifier: Apache-2.0
#include "run/left_tables.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "record/late_sites.h"
#include "record/liveness.h"
#include "run/site_rows.h"
#include "sense/process.h"
#include "wire/socket_folder.h"

namespace ebb::run {
namespace {

constexpr std::uint64_t kLargestMark = 64 << 10;

/// What mark_tables() wrote.
struct Mark {
  std::string record;
  record::RunMark run;
  std::int64_t began_ns = 0;

  /// Since the run began.
  double seconds(std::uint64_t monotonic_ns) const {
    return (static_cast<double>(monotonic_ns) - static_cast<double>(began_ns)) / 1e9;
  }
};

std::optional<Mark> mark_in(const std::string& folder) {
  const auto text = base::read_file(folder + "/" + wire::kRunFile, kLargestMark);
  if (!text) return std::nullopt;
  const auto json = base::parse_json(*text);
  if (!json) return std::nullopt;
  const base::Json* record = json->find("record");
  const base::Json* started = json->find("started");
  const base::Json* writer = json->find("writer");
  const base::Json* began = json->find("began_ns");
  if (record == nullptr || record->as_string() == nullptr || !record->as_string()->starts_with('/'))
    return std::nullopt;
  if (started == nullptr || !started->as_double() || writer == nullptr ||
      writer->as_string() == nullptr || began == nullptr || !began->as_int())
    return std::nullopt;
  std::error_code failure;
  if (!std::filesystem::is_regular_file(*record->as_string(), failure)) {
    // It is gone, and with it whoever wanted to know.
    return std::nullopt;
  }
  return Mark{
      *record->as_string(), {*started->as_double(), *writer->as_string()}, *began->as_int()};
}

/// How long this machine has slept: by that, times since boot are ahead of the monotonic clock.
double seconds_asleep() {
  timespec boot{}, awake{};
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  ::clock_gettime(CLOCK_MONOTONIC, &awake);
  return static_cast<double>(boot.tv_sec - awake.tv_sec) +
         static_cast<double>(boot.tv_nsec - awake.tv_nsec) / 1e9;
}

/// Whether the process that made a table may still be there, by its pid and what it began before.
bool is_in_use(const TableName& table) {
  const auto process = sense::read_process(table.pid);
  if (!process || process->virtual_size == 0) return false;
  static const long ticks = ::sysconf(_SC_CLK_TCK);
  const double started = static_cast<double>(process->start_ticks) / static_cast<double>(ticks);
  return started - seconds_asleep() <= static_cast<double>(table.time) / 1e9;
}

/// The newest table of each process; older ones are of programs that it was before.
std::map<std::int32_t, std::string> newest_of(const wire::LeftFolder& folder) {
  std::map<std::int32_t, std::pair<std::uint64_t, std::string>> newest;
  for (const std::string& file : folder.tables) {
    const auto name = table_name(file);
    if (!name) continue;
    auto& best = newest[name->pid];
    if (name->time >= best.first) best = {name->time, file};
  }
  std::map<std::int32_t, std::string> tables;
  for (const auto& [pid, one] : newest)
    tables[pid] = one.second;
  return tables;
}

bool is_job_there(const wire::LeftFolder& folder) {
  return std::any_of(folder.tables.begin(), folder.tables.end(), [](const std::string& file) {
    const auto name = table_name(file);
    return name && is_in_use(*name);
  });
}

/// What a table has to say; nothing where it is none.
std::optional<record::LateSites> late_sites(const std::string& path, std::int32_t pid,
                                            const Mark& mark) {
  const auto view = sites::TableView::read(path);
  if (!view) return std::nullopt;
  record::LateSites late;
  late.pid = pid;
  late.began = mark.seconds(view->began_ns);
  const double last = mark.seconds(view->last_ns);
  constexpr std::uint32_t kGeneration = kGenerations - 1;
  std::set<std::uint32_t> tracked;
  track_largest(*view, tracked);
  late.sampling = sampling_row(*view, {}, last);
  late.sites = site_rows(*view, tracked, kGeneration, {}, last);
  late.names = site_names(path, tracked, kGeneration, {}, last, "", mark.run.started + last);
  return late;
}

/// One folder after the other, as long as there is time.
class Folding {
 public:
  explicit Folding(double seconds) : until_(now() + seconds) {}

  /// True where nothing in it is wanted any more.
  bool take(const wire::LeftFolder& folder) const {
    const auto mark = mark_in(folder.path);
    if (!mark) return true;
    if (const auto wanted = record::wants_late_sites(mark->record, mark->run); !wanted)
      return wanted.error().code == base::Code::not_found;
    // Pids of another boot or of another namespace say nothing here.
    if (record::is_there(mark->run.writer) && is_job_there(folder)) return false;
    for (const auto& [pid, file] : newest_of(folder)) {
      if (now() >= until_) return false;
      const std::string path = folder.path + "/" + file;
      const auto late = late_sites(path, pid, *mark);
      if (late && !record::add_late_sites(mark->record, mark->run, *late)) return false;
      ::unlink(path.c_str());
    }
    return true;
  }

 private:
  static double now() { return base::seconds_between(0, base::system_clock().now_ns()); }

  double until_;
};

}  // namespace

void mark_tables(const std::string& folder, const std::string& record, double started,
                 std::int64_t began_ns) {
  std::error_code failure;
  const std::string path = std::filesystem::absolute(record, failure).string();
  // A record that goes with the folder is wanted by nobody.
  if (record.empty() || failure || path.starts_with(folder + "/")) return;
  const base::Json mark = base::Json::object({{"record", path},
                                              {"started", started},
                                              {"writer", record::this_writer()},
                                              {"began_ns", began_ns}});
  // Without it the tables go with their folder.
  static_cast<void>(base::write_file_atomically(folder + "/" + wire::kRunFile, mark.text() + "\n"));
}

void fold_left_tables(double seconds) {
  try {
    const Folding folding(seconds);
    wire::take_left_folders(wire::socket_folder_parents(),
                            [&](const wire::LeftFolder& folder) { return folding.take(folder); });
  } catch (const std::bad_alloc&) {
    // Another time.
  }
}

}  // namespace ebb::run
