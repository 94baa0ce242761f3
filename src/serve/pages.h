// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "page/document.h"
#include "serve/http.h"
#include "serve/made_page.h"
#include "serve/run_list.h"
#include "show/simulate/sweep_page.h"

namespace ebb::serve {

/// The pages of a record: "runs" is the list, "runs/7" a run, "runs/7,9" some side by side,
/// "runs/compare-7,9" what they simulate, and "runs/compare-7" what 7 and all of its sweep do. Each
/// is made once for all who look at it. Not thread-safe.
class Pages {
 public:
  explicit Pages(const std::string& record, const base::Clock& clock = base::system_clock())
      : record_(record), clock_(&clock), runs_(record, clock) {}

  /// On the list of runs, to other pages.
  void set_links(std::vector<page::Link> links) { list_links_ = std::move(links); }

  /// A page whose lines have about `points` points at the most. Code::not_found where there is no
  /// such page; other errors as of a record.
  base::Result<std::shared_ptr<const MadePage>> get(const std::string& name, std::size_t points);

  /// What get() would give now has this revision.
  base::Result<std::string> revision_of(const std::string& name);

  /// The pages among `names` that have changed since they were last told, each with its revision.
  /// Pages that somebody has asked for are made anew first, for a quarter of the time at the most:
  /// where that does not suffice, others come later.
  std::vector<Event> news(const std::vector<std::string>& names);

 private:
  using Key = std::pair<std::string, std::size_t>;  ///< name, points
  struct Kept {
    std::shared_ptr<const MadePage> page;
    std::int64_t made_ns = 0;
    std::int64_t used_ns = 0;
  };
  struct Told {
    std::string revision;
    std::int64_t at_ns = 0;
  };

  base::Result<std::shared_ptr<const MadePage>> make(const Key& key, const std::string& revision);
  /// What a page shows, as the list of runs has it now.
  struct Shown {
    enum class Kind : std::uint8_t { list, runs, simulations };

    Kind kind = Kind::list;
    std::vector<const record::RunSummary*> runs;
    bool live = false;
  };

  /// Code::not_found where there is no such page.
  base::Result<Shown> shown_by(const std::string& name) const;
  base::Result<page::Document> document_of(const Shown& shown);
  base::Result<std::shared_ptr<const show::SimulatedRun>> simulation_of(
      record::Store& store, const record::RunSummary& run);
  static std::vector<page::Link> links_of(const std::string& name, const Shown& shown);
  void make_again(const std::string& name, const std::string& revision);
  void forget_oldest();

  std::string record_;
  const base::Clock* clock_;
  RunList runs_;
  std::map<Key, Kept> kept_;
  std::map<std::string, Told> told_;
  /// By run: the state in which it was read, and what it was then.
  std::map<std::int64_t, std::pair<std::string, std::shared_ptr<const show::SimulatedRun>>>
      simulated_;
  std::vector<page::Link> list_links_;
  std::int64_t next_news_ns_ = 0;
};

}  // namespace ebb::serve
