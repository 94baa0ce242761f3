// SPDX-License-Identifier: Apache-2.0
#include "run/site_watch.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/folder.h"
#include "run/site_rows.h"
#include "sense/living_thread.h"
#include "sites/table_view.h"

namespace ebb::run {
namespace {

// So many looks at one interval; then it doubles. A day has some 700 of them.
constexpr std::size_t kLooksPerInterval = 60;
// Looking may take this share of the time.
constexpr double kShareForLooking = 1.0 / 100;
// All tables together take one of them.
constexpr std::uint64_t kPartsOfLimit = 100;

}  // namespace

SiteWatch::SiteWatch(std::string folder, double interval, std::uint64_t limit, Journal& journal)
    : folder_(std::move(folder)), journal_(journal), interval_(interval) {
  if (limit == 0) return;
  if (auto room = sites::Room::make(folder_, limit / kPartsOfLimit)) room_ = *std::move(room);
}

void SiteWatch::remove(const std::string& path) {
  const std::uint64_t taken = room_ ? sites::TableView::read(path).value_or({}).room : 0;
  if (::unlink(path.c_str()) == 0 && taken > 0) room_->give_back(taken);
}

void SiteWatch::tell_refused(double seconds) {
  const std::uint64_t refused = room_ ? room_->refused() : 0;
  if (refused == refused_) return;
  refused_ = refused;
  journal_.add(record::Event{seconds, name_of(record::EventKind::no_room),
                             std::to_string(refused) +
                                 " processes without sites: their tables may take " +
                                 base::bytes_text(room_->most()) + " together",
                             std::nullopt});
}

void SiteWatch::find_tables() {
  std::map<pid_t, std::pair<std::uint64_t, std::string>> newest;
  std::vector<std::string> older;
  for (const base::FolderEntry& entry : base::entries_of(folder_).value_or({})) {
    const std::string path = folder_ + "/" + entry.name;
    const auto name = table_name(entry.name);
    if (!name) continue;
    auto& best = newest[name->pid];
    if (!best.second.empty()) older.push_back(name->time > best.first ? best.second : path);
    if (name->time >= best.first) best = {name->time, path};
  }
  for (const std::string& path : older)
    remove(path);
  for (const auto& [pid, file] : newest) {
    Table& table = tables_[pid];
    if (table.path.empty()) table.path = file.second;
    if (table.path != file.second) table = {file.second, table.generation + 1, {}};
  }
}

void SiteWatch::look(const Processes& processes, double seconds) {
  const std::int64_t start = base::thread_cpu_clock().now_ns();
  find_tables();
  for (auto& [pid, table] : tables_) {
    const auto process = processes.find(pid);
    if (process != processes.end()) record_table(table, process->second, seconds, false);
  }
  tell_refused(seconds);
  if (++looks_ % kLooksPerInterval == 0) interval_ *= 2;
  const double cost = base::seconds_between(start, base::thread_cpu_clock().now_ns());
  next_ = seconds + std::max(interval_, cost / kShareForLooking);
}

void SiteWatch::ended(const record::ProcessKey& process, double seconds) {
  find_tables();
  tell_refused(seconds);
  const auto table = tables_.find(process.pid);
  if (table == tables_.end()) return;
  record_table(table->second, process, seconds, true);
  remove(table->second.path);
  tables_.erase(table);
}

void SiteWatch::record_table(Table& table, const record::ProcessKey& process, double seconds,
                             bool is_over) {
  const auto view = sites::TableView::read(table.path);
  if (!view) return;  // it is being made
  journal_.add(sampling_row(*view, process, seconds));
  const std::set<std::uint32_t> unnamed = track_largest(*view, table.tracked);
  // Its own tree may be another than ours; afterwards only ours is there.
  const std::string root = sense::folder_to_read(process.pid) + "/root";
  const bool can_enter = !is_over && ::access(root.c_str(), R_OK) == 0;
  for (record::SiteName& name :
       site_names(table.path, unnamed, table.generation, process, seconds, can_enter ? root : ""))
    journal_.add(std::move(name));
  for (const record::Site& row :
       site_rows(*view, table.tracked, table.generation, process, seconds))
    journal_.add(row);
}

}  // namespace ebb::run
