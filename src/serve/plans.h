// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "serve/http.h"
#include "serve/plan_page.h"
#include "serve/workers.h"

namespace ebb::serve {

/// Plans of training steps, each made out of the query that asks for it, beside the pages: two at a
/// time, in the background and with little priority. What nobody waits for any more is not made,
/// and what takes too long is given up. Thread-safe.
class Plans {
 public:
  static constexpr std::string_view kFolder = "plan";  ///< of addresses
  static constexpr std::size_t kMostAtATime = 2;
  static constexpr std::size_t kMostWaiting = 16;
  static constexpr std::size_t kMostKept = 32;  ///< answers, for who goes back to them
  static constexpr double kMostSeconds = 20;    ///< of a processor, for one

  /// `clock` is asked for the time of a processor.
  explicit Plans(const base::Clock& clock = base::thread_cpu_clock()) : clock_(&clock) {}
  /// Waits until what goes on has noticed that it is to stop.
  ~Plans();
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  /// In which of its forms a plan is asked for.
  enum class View : std::uint8_t { page, document, json };

  /// The plan that a query asks for, made later where it is not known yet. 400 with one line for
  /// what cannot be planned; as a page, that line stands beside the form.
  Answer answer(View view, const std::string& query) EBB_EXCLUDES(mutex_);

 private:
  using Made = std::shared_ptr<const MadePlan>;

  struct Job {
    PlanForm form;
    PlanRequest request;
    View view = View::page;
    Reply reply = {};
    Waits waits = {};
  };

  void take(Job job) EBB_EXCLUDES(mutex_);
  void work() EBB_EXCLUDES(mutex_);
  Answer made(const Job& job) EBB_EXCLUDES(mutex_);
  bool is_to_stop(const Job& job, std::int64_t begun_ns) EBB_EXCLUDES(mutex_);
  Made find(const std::string& query) EBB_EXCLUDES(mutex_);
  void keep(const std::string& query, Made made) EBB_EXCLUDES(mutex_);

  const base::Clock* clock_;
  base::Mutex mutex_;
  base::Condition changed_;
  bool ends_ EBB_GUARDED_BY(mutex_) = false;
  std::deque<Job> waiting_ EBB_GUARDED_BY(mutex_);
  std::list<std::pair<std::string, Made>> kept_ EBB_GUARDED_BY(mutex_);  ///< the last asked first
  Workers workers_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::serve
