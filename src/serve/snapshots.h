// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "page/document.h"
#include "serve/http.h"
#include "serve/pages.h"
#include "serve/workers.h"

namespace ebb::serve {

class Analysis;

/// Snapshots that are looked at: those that were named when the server was started stay, those that
/// were uploaded are forgotten three minutes after nobody has looked at them any more. Two at a
/// time are worked on, in the background and with little priority. Thread-safe.
class Snapshots {
 public:
  static constexpr std::string_view kFolder = "snapshots/";  ///< of addresses and topics
  static constexpr std::size_t kMostNamed = 16;
  static constexpr std::size_t kMostUploaded = 8;  ///< of more, the one that is unused longest goes
  static constexpr std::size_t kMostAtATime = 2;

  explicit Snapshots(const base::Clock& clock = base::system_clock()) : clock_(&clock) {}
  /// Waits until what goes on has noticed that it is to stop.
  ~Snapshots();
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;

  /// Begins to look at files, under the keys "1", "2" and so on. Code::bad_input where there are
  /// too many; other errors where one cannot be opened.
  base::Status begin(const std::vector<std::string>& paths);
  /// To the pages of those, from the first page.
  std::vector<page::Link> links() const EBB_EXCLUDES(mutex_);

  /// Lets one be uploaded, under a name that is only shown: the answer has a taker, or says that
  /// there are enough. Who uploads it learns its key once it is read, or what is wrong with it.
  Answer upload(const std::string& name) EBB_EXCLUDES(mutex_);

  /// "KEY" is the page of a snapshot's first device, "KEY-1" that of its second. Null where there
  /// is none.
  std::shared_ptr<const MadePage> page(const std::string& name) EBB_EXCLUDES(mutex_);

  /// How far one is: the revision of its pages, and how many percent of what goes on are done.
  std::optional<std::string> state(const std::string& key) EBB_EXCLUDES(mutex_);
  /// What is new to those who listen, whose topics are "snapshots/KEY". Called while they do, it
  /// keeps what they look at.
  std::vector<Event> news(const std::vector<std::string>& topics) EBB_EXCLUDES(mutex_);

  /// Ends the search for better settings. False where there is no such snapshot.
  bool stop(const std::string& key) EBB_EXCLUDES(mutex_);

 private:
  struct Entry;
  using Shared = std::shared_ptr<Entry>;
  using Slot = std::shared_ptr<void>;  ///< one of kMostAtATime, as long as somebody has it

  void work() EBB_EXCLUDES(mutex_);
  Shared next() EBB_REQUIRES(mutex_);
  std::size_t at_a_time() const EBB_REQUIRES(mutex_) { return *slots_ + named_; }
  void forget_unused() EBB_REQUIRES(mutex_);
  bool may_forget() const EBB_REQUIRES(mutex_);
  Shared find(const std::string& key) EBB_REQUIRES(mutex_);

  void take(const std::string& name, Slot slot, base::FileDescriptor body, Reply reply)
      EBB_EXCLUDES(mutex_);
  void attempt(Entry& entry) EBB_EXCLUDES(mutex_);
  void look_at(Entry& entry) EBB_EXCLUDES(mutex_);
  void was_read(Entry& entry) EBB_EXCLUDES(mutex_);
  void fail(Entry& entry, const base::Error& error) EBB_EXCLUDES(mutex_);
  void publish(Entry& entry, std::vector<page::Document> pages, const Analysis* analysis,
               const std::string& task, bool can_stop = false) EBB_EXCLUDES(mutex_);
  void progress(Entry& entry, double share) EBB_EXCLUDES(mutex_);
  bool is_to_stop(const Entry& entry) EBB_EXCLUDES(mutex_);

  const base::Clock* clock_;
  /// Its own, since an upload that never came whole may end after all of this.
  const std::shared_ptr<std::atomic<std::size_t>> slots_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  mutable base::Mutex mutex_;
  base::Condition changed_;
  bool ends_ EBB_GUARDED_BY(mutex_) = false;
  std::size_t named_ EBB_GUARDED_BY(mutex_) = 0;  ///< that are worked on
  std::map<std::string, Shared> entries_ EBB_GUARDED_BY(mutex_);
  std::map<std::string, std::string> told_ EBB_GUARDED_BY(mutex_);
  Workers workers_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::serve
