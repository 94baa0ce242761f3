// SPDX-License-Identifier: Apache-2.0
#include "run/site_watch.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "sense/living_thread.h"
#include "sites/frame_names.h"
#include "sites/table_view.h"

namespace ebb::run {
namespace {

// So many looks at one interval; then it doubles. A day has some 700 of them.
constexpr std::size_t kLooksPerInterval = 60;
// Looking may take this share of the time.
constexpr double kShareForLooking = 1.0 / 100;
// What a stack has to hold to be recorded: in bytes, and of what all hold.
constexpr std::uint64_t kLeastBytes = 256 << 10;
constexpr double kLeastShare = 0.002;
constexpr std::size_t kMostTracked = 128;

/// A process that becomes another program has another table, whose stacks are others.
std::uint32_t number_of(std::uint32_t generation, std::uint32_t stack) {
  constexpr unsigned kBitsOfStack = 21;
  return generation << kBitsOfStack | stack;
}

/// "sites-PID-TIME" of a table's name.
struct TableName {
  pid_t pid = 0;
  std::uint64_t time = 0;
};

std::optional<TableName> table_name(const std::string& name) {
  const auto parts = base::split(name, '-');
  if (parts.size() != 3 || parts[0] != "sites") return std::nullopt;
  const auto pid = base::parse_unsigned(parts[1]);
  const auto time = base::parse_unsigned(parts[2]);
  if (!pid || !time || *pid == 0 || *pid > 1 << 30) return std::nullopt;
  return TableName{static_cast<pid_t>(*pid), *time};
}

}  // namespace

SiteWatch::SiteWatch(std::string folder, double interval, Journal& journal)
    : folder_(std::move(folder)), journal_(journal), interval_(interval) {}

void SiteWatch::find_tables() {
  std::map<pid_t, std::pair<std::uint64_t, std::string>> newest;
  std::vector<std::string> older;
  std::error_code failure;
  for (auto entry = std::filesystem::directory_iterator(folder_, failure);
       !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    const std::string path = entry->path().string();
    const auto name = table_name(entry->path().filename().string());
    if (!name) continue;
    auto& best = newest[name->pid];
    if (!best.second.empty()) older.push_back(name->time > best.first ? best.second : path);
    if (name->time >= best.first) best = {name->time, path};
  }
  for (const std::string& path : older)
    ::unlink(path.c_str());
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
  if (++looks_ % kLooksPerInterval == 0) interval_ *= 2;
  const double cost = base::seconds_between(start, base::thread_cpu_clock().now_ns());
  next_ = seconds + std::max(interval_, cost / kShareForLooking);
}

void SiteWatch::ended(const record::ProcessKey& process, double seconds) {
  find_tables();
  const auto table = tables_.find(process.pid);
  if (table == tables_.end()) return;
  record_table(table->second, process, seconds, true);
  ::unlink(table->second.path.c_str());
  tables_.erase(table);
}

void SiteWatch::record_table(Table& table, const record::ProcessKey& process, double seconds,
                             bool is_over) {
  const auto view = sites::TableView::read(table.path);
  if (!view) return;  // it is being made
  record::Sampling sampling{
      process, seconds, 0, view->samples, view->dropped, view->no_python, view->spent_seconds};
  std::vector<std::pair<std::uint64_t, std::uint32_t>> largest;
  for (const auto& [stack, site] : view->sites) {
    sampling.bytes += site.bytes;
    largest.emplace_back(site.bytes, stack);
  }
  journal_.add(sampling);
  std::sort(largest.rbegin(), largest.rend());
  std::set<std::uint32_t> unnamed;
  for (const auto& [bytes, stack] : largest) {
    const bool is_worth =
        bytes >= kLeastBytes &&
        static_cast<double>(bytes) >= kLeastShare * static_cast<double>(sampling.bytes);
    if (!is_worth || table.tracked.size() >= kMostTracked) break;
    if (table.tracked.insert(stack).second) unnamed.insert(stack);
  }
  if (!unnamed.empty()) name(table, unnamed, process, seconds, is_over);
  for (const std::uint32_t stack : table.tracked) {
    const auto site = view->sites.find(stack);
    record::Site row{process, seconds, number_of(table.generation, stack), 0, 0, 0};
    if (site != view->sites.end()) {
      row.bytes = site->second.bytes;
      row.error = static_cast<std::uint64_t>(site->second.error);
      row.samples = site->second.samples;
    }
    journal_.add(row);
  }
}

void SiteWatch::name(const Table& table, const std::set<std::uint32_t>& stacks,
                     const record::ProcessKey& process, double seconds, bool is_over) {
  const auto reader = sites::StackReader::open(table.path);
  if (!reader) return;
  std::vector<sites::RawStack> raw;
  for (const std::uint32_t stack : stacks)
    raw.push_back(reader->stack(stack));
  // Its own tree may be another than ours; afterwards only ours is there.
  const std::string root = sense::folder_to_read(process.pid) + "/root";
  const bool can_enter = !is_over && ::access(root.c_str(), R_OK) == 0;
  auto names = sites::named(raw, reader->modules(), can_enter ? root : "");
  std::size_t next = 0;
  for (const std::uint32_t stack : stacks)
    journal_.add(record::SiteName{process, seconds, number_of(table.generation, stack),
                                  std::move(names[next++])});
}

}  // namespace ebb::run
