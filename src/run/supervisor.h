// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fact/death.h"
#include "fact/private_allocator.h"
#include "fact/run_end.h"
#include "run/death_watch.h"
#include "run/journal.h"
#include "run/launch.h"
#include "run/mapping_watch.h"
#include "run/member.h"
#include "run/options.h"
#include "run/place.h"
#include "run/plain_wait.h"
#include "run/preparation.h"
#include "run/share_watch.h"
#include "run/signals.h"
#include "run/site_watch.h"
#include "trend/series.h"
#include "wire/channel.h"

namespace ebb::run {

/// What a run came to.
struct Summary {
  Ending ending;
  fact::RunEnd how = fact::RunEnd::unknown;
  std::optional<fact::Death> death;  ///< where it did not end by itself
  double seconds = 0;
  std::uint64_t peak_rss = 0;  ///< of all processes together, at least: sampled, or of one
  std::optional<std::uint64_t> peak_group;  ///< of the control group, where it is the job's own
  std::uint64_t steady_rss = 0;             ///< the same, the median of the second half
  std::uint64_t cleanups = 0;
  std::uint64_t returned = 0;
  std::vector<base::DeviceChange> devices;  ///< the same, of cards
  double cleanup_seconds = 0;
  /// Of libraries' own that gave back in a cleanup, each once, with what all processes returned.
  std::vector<fact::PrivateAllocator> beside;
  std::size_t left_running = 0;  ///< processes that go on, no longer managed
};

/// Runs a command with its memory managed, from before it starts until it has ended. Whatever goes
/// wrong here, the command's own result stays what it is. Use once, from one thread.
class Supervisor {
 public:
  /// Without a listener no agent is heard.
  Supervisor(const Options& options, const Preparation& preparation,
             std::optional<wire::Listener> listener, Signals& signals, Journal& journal,
             const base::Clock& clock = base::system_clock());

  /// Starts the command; Launched::trouble says where it could not be run.
  base::Result<Launched> start();
  /// Supervises it to its end. May throw, out of memory for example: the command goes on then, and
  /// wait_plainly(left_to_wait_for()) does what can still be done.
  Summary run();

  pid_t command() const { return command_; }
  PlainWait left_to_wait_for() const;

 private:
  double now() const;
  double interval() const;
  /// Until a look that took `cost` seconds is worth another.
  double pause_after(double cost) const;

  // The loop.
  void wait(double until);
  void met_limit();
  void tick();
  void take_signals();
  void reap();
  void look_at_dead_command();
  bool is_over();
  std::size_t left_in_the_end();

  // Processes of the job.
  void scan(double seconds);
  Member* find_or_add(pid_t pid, double seconds);
  /// One that ended before it was seen, as it described itself.
  Member& add_ended(pid_t pid, const wire::Hello& hello, double seconds);
  void forget(pid_t pid, double seconds);
  /// The kernel's, of a process that ended: its own where it had no children.
  void note_last_peak(pid_t pid, std::uint64_t peak);
  bool look_at(Member& member, double seconds);
  void measure_shares(double seconds);
  void watch_sites(double seconds);
  void read_mappings(double seconds);

  // Their agents.
  void accept_agents();
  void note_left(pid_t pid, double seconds);
  void note_unmanaged(pid_t pid, const Member* member, const std::string& how, double seconds);
  void watch_unmanaged(Member& member, double seconds);
  void note_shared_arenas(const Member& member, double seconds);
  void hear(Member& member);
  void handle(Member& member, const wire::Message& message, double seconds);
  void take(Member& member, const wire::Reading& reading, double seconds);
  void take(Member& member, const wire::Round& round, double seconds);
  void take(const Member& member, const wire::Name& name, double seconds);
  void take(const Member& member, const wire::Marker& marker, double seconds);
  void take(Member& member, fact::Cleanup cleanup, double seconds);
  void take(Member& member, const fact::PrivateAllocator& beside, double seconds);
  void ask_reading(Member& member, double seconds);
  void ask_cleanup(Member& member, std::optional<fact::Trigger> trigger);
  void heard_from(Member& member, double seconds);
  void watch_silence(Member& member, double elapsed, double seconds);
  void drop(Member& member);

  // Cards.
  void watch_cards(double seconds);
  void note_missing_cards(double seconds);
  void ask_cards(Member& member, std::uint64_t round, double seconds);
  void sample_cards(Member& member, double seconds);
  void ask_cards_now(Member& member, std::optional<std::uint64_t> round, double seconds);
  void take(Member& member, const wire::Cards& cards, double seconds);
  void take_emptying(Member& member, const fact::Cleanup& cleanup, double seconds);
  void count(const Member& member, const fact::Cleanup& cleanup, double seconds);

  // Thresholds.
  void watch_level(double seconds);
  void watch_kills(double seconds);
  void judge_ending(double seconds);
  void squeeze(fact::Trigger why, double seconds);

  // Stopping the job because memory stays critical.
  void stop_job(double seconds);
  void tell_all(int number, double seconds);
  void go_on_stopping(double seconds);
  bool is_anybody_left() const;
  bool is_stopped_for_good();

  const Options& options_;
  const Preparation& preparation_;
  std::optional<wire::Listener> listener_;
  Signals& signals_;
  Journal& journal_;
  const base::Clock& clock_;
  const std::int64_t began_ns_;

  pid_t command_ = 0;
  std::optional<Ending> ending_;
  bool is_asked_to_stop_ = false;  // by the terminal, or by somebody: SIGTSTP
  bool is_stopped_ = false;        // the command
  std::map<pid_t, Member> members_;
  std::vector<wire::Channel> strangers_;  // connected, not yet said hello
  Place place_;
  DeathWatch deaths_;
  int moves_ = 0;  // of the job between groups, as far as deaths_ knows

  double next_tick_ = 0;
  double last_tick_ = 0;
  double next_scan_ = 0;
  double tick_cost_ = 0;
  double alarm_rests_until_ = 0;  // however often the group meets its limit meanwhile
  double news_since_ = 0;         // when memory last became critical or met its limit
  ShareWatch shares_;
  MappingWatch mappings_;
  std::optional<SiteWatch> sites_;

  std::optional<double> critical_since_;
  std::optional<double> stopped_at_;
  sense::MemoryLevel level_ = sense::MemoryLevel::normal;
  bool squeezed_since_ = false;  // somebody cleaned up since it became critical
  bool killed_ = false;
  bool arenas_noted_ = false;
  std::size_t unmanaged_ = 0;  // processes named because they run without Ebb or its hook
  std::uint64_t kills_ = 0;
  keep::CardPolicy cards_;                // of the machine: for lines
  std::optional<double> cards_recorded_;  // the reading of them that is in the record
  std::optional<std::uint64_t> last_round_;

  trend::BoundedSeries together_;  // rss of all processes
  Summary summary_;
};

}  // namespace ebb::run
