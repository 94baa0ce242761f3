// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "record/model.h"
#include "run/journal.h"
#include "sites/room.h"

namespace ebb::run {

/// Reads the tables that libebb-sites.so keeps in the job's processes and writes into the record
/// what their sites hold, over time. A table outlives its process, however that ended.
class SiteWatch {
 public:
  /// `folder`: where processes make their tables; `interval`: seconds between looks at first.
  /// `limit`: the job's, in bytes, 0 where it is not known: tables take a hundredth of it at most.
  SiteWatch(std::string folder, double interval, std::uint64_t limit, Journal& journal);

  /// The processes that are there now.
  using Processes = std::map<pid_t, record::ProcessKey>;

  bool is_due(double seconds) const { return seconds >= next_; }
  /// Looks at all tables. Less and less often, so that a long run has no more rows than a day of
  /// them needs.
  void look(const Processes& processes, double seconds);

  /// Looks at the table of a process that ended a last time, and removes it.
  void ended(const record::ProcessKey& process, double seconds);

 private:
  struct Table {
    std::string path;
    std::uint32_t generation = 0;     ///< how many programs the process was before
    std::set<std::uint32_t> tracked;  ///< stacks that are recorded
  };

  void remove(const std::string& path);
  void tell_refused(double seconds);
  /// Takes the newest table of each process; older ones are of programs that it was before.
  void find_tables();
  void record_table(Table& table, const record::ProcessKey& process, double seconds, bool is_over);

  std::string folder_;
  std::optional<sites::Room> room_;
  std::uint64_t refused_ = 0;  ///< processes without a table, as far as it was told
  Journal& journal_;
  std::map<pid_t, Table> tables_;
  double interval_;
  double next_ = 0;
  std::size_t looks_ = 0;
};

}  // namespace ebb::run
