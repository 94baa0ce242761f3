// SPDX-License-Identifier: Apache-2.0
#include "story/last_memory.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/text.h"
#include "keep/memory_split.h"
#include "story/process_ledger.h"

namespace ebb::story {
namespace {

using base::bytes_text;
using record::ProcessHistory;
using record::Reading;

// Growth since the allocator was last asked that is worth a word.
constexpr std::uint64_t kMuch = 4 * base::kMiB;
// Of what stayed: what a cleanup returned is no more, where free memory lies in pieces.
constexpr double kLittleReturned = 0.1;

std::optional<std::uint64_t> mean_of(const std::optional<record::Extent>& extent) {
  return extent ? std::optional(extent->mean) : std::nullopt;
}

/// The last reading until `seconds` in which `value` is known; null where there is none.
const Reading* last_with(const ProcessHistory& history, double seconds,
                         std::optional<record::Extent> Reading::*value) {
  const Reading* found = nullptr;
  for (const Reading& reading : history.readings) {
    if (reading.seconds > seconds) break;
    if (reading.*value) found = &reading;
  }
  return found;
}

bool is_there(const ProcessHistory& history, double seconds) {
  return history.process.seconds <= seconds && history.process.ended.value_or(seconds) >= seconds;
}

class Looker {
 public:
  Looker(const record::RecordedRun& run, const std::vector<Label>& labels,
         const std::vector<Copying>& copying, const SitesStory& sites)
      : run_(run), labels_(labels), copying_(copying), sites_(sites) {}

  std::optional<fact::MemorySplit> look() {
    const double killed = last_kill();
    const auto is_told = [](const record::PlaceReading& one) {
      return one.now.group.usage && one.now.group.anon;
    };
    auto last = std::find_if(run_.place.rbegin(), run_.place.rend(),
                             [&](const auto& one) { return is_told(one) && one.until < killed; });
    if (last == run_.place.rend())
      last = std::find_if(run_.place.rbegin(), run_.place.rend(), is_told);
    if (last == run_.place.rend()) return std::nullopt;
    seconds_ = last->until;
    const fact::GroupMemory& group = last->now.group;
    for (std::size_t i = 0; i < run_.processes.size(); ++i)
      if (is_there(run_.processes[i], seconds_)) add(i);
    fact::MemorySplit split = keep::split_of(group, members_);
    split.seconds = seconds_;
    // Of one that was cut short nobody knows the end.
    if (run_.summary.state == record::State::ended)
      split.age = std::max(run_.summary.seconds - seconds_, 0.0);
    if (last->now.limit > 0) split.limit = last->now.limit;
    split.notes.insert(split.notes.begin(), notes_.begin(), notes_.end());
    tell_rest(group, split);
    tell_pieces(split);
    return split;
  }

 private:
  /// When the kill that ended it was seen: its memory may have been gone in a sample of that
  /// moment.
  double last_kill() const {
    const auto& death = run_.summary.run.death;
    // systemd-oomd's kills are not the kernel's: an event would be of another one.
    if (death && (death->by == fact::Killer::cgroup || death->by == fact::Killer::machine)) {
      for (auto event = run_.events.rbegin(); event != run_.events.rend(); ++event)
        if (event->is(record::EventKind::oom_kill)) return event->seconds;
    }
    return std::numeric_limits<double>::infinity();
  }

  void add(std::size_t index) {
    const ProcessHistory& history = run_.processes[index];
    const Reading* last = last_with(history, seconds_, &Reading::rss);
    if (last == nullptr || !last->anon) return;
    keep::GroupMember member;
    member.pid = history.process.pid;
    member.name = labels_[index].name;
    member.memory.anon = last->anon->mean;
    member.memory.shmem = mean_of(last->shmem);
    if (const Reading* shares = last_with(history, seconds_, &Reading::shared))
      member.memory.shared = shares->shared->mean;
    if (const Reading* heap = last_with(history, seconds_, &Reading::live)) {
      const std::uint64_t sampled = sampled_growth(*heap, *last, history);
      member.memory.live = heap->live->mean + sampled;
      member.memory.retained = mean_of(heap->retained);
      tell_growth(*heap, *last, sampled, history);
    }
    auto beside = private_allocators_of(run_, history.process.key());
    if (!beside.empty()) member.private_allocators = std::move(beside);
    if (const auto mapped = mapped_of(run_, history.process.key())) member.mappings = mapped->parts;
    member.is_python = keep::runs_python(history.process.command);
    member.copies = copies_of(index);
    if (sites_.sampling) member.sites = sites_.holding_places(history.process.key());
    members_.push_back(std::move(member));
  }

  /// What samples of its allocations say of the time since its allocator last said what it holds:
  /// no more than it grew by.
  std::uint64_t sampled_growth(const Reading& heap, const Reading& last,
                               const ProcessHistory& history) const {
    if (grown_by(heap, last) < kMuch) return 0;
    std::uint64_t before = 0;
    std::uint64_t now = 0;
    for (const record::Sampling& sampling : run_.samplings) {
      if (sampling.process != history.process.key() || sampling.seconds > seconds_) continue;
      if (sampling.seconds <= heap.seconds) before = sampling.bytes;
      now = sampling.bytes;
    }
    return std::min(now - std::min(now, before), grown_by(heap, last));
  }

  static std::uint64_t grown_by(const Reading& heap, const Reading& last) {
    if (!heap.anon || !last.anon) return 0;
    return last.anon->mean - std::min(last.anon->mean, heap.anon->mean);
  }

  /// What came since the allocator last said what it holds is live as far as it was sampled, and
  /// else neither live nor retained.
  void tell_growth(const Reading& heap, const Reading& last, std::uint64_t sampled,
                   const ProcessHistory& history) {
    const std::uint64_t grown = grown_by(heap, last);
    const std::string age = base::duration_text(last.seconds - heap.seconds);
    if (sampled > 0) {
      notes_.push_back(base::format_text(
          "live: %s of it in process %d by samples of its allocations, of the %s since its "
          "allocator last said what it holds",
          bytes_text(sampled).c_str(), history.process.pid, age.c_str()));
    }
    if (grown - sampled < kMuch) return;
    notes_.push_back(base::format_text(
        "unexplained: process %d grew by %s in the %s since its allocator last said what it holds",
        history.process.pid, bytes_text(grown - sampled).c_str(), age.c_str()));
  }

  /// The part of a worker in the copies of its family.
  std::uint64_t copies_of(std::size_t index) const {
    for (const Copying& family : copying_) {
      double together = 0;
      double own = 0;
      for (const CopyingProcess& one : family.processes) {
        if (one.is_root || one.uss_after <= one.uss_before) continue;
        const auto grown = static_cast<double>(one.uss_after - one.uss_before);
        together += grown;
        if (one.index == index) own = grown;
      }
      if (own > 0) return static_cast<std::uint64_t>(double(family.copied) * own / together);
    }
    return 0;
  }

  void tell_rest(const fact::GroupMemory& group, fact::MemorySplit& split) const {
    const auto& death = run_.summary.run.death;
    if (!death || !death->memory.usage) return;
    split.after = static_cast<std::int64_t>(*death->memory.usage) -
                  static_cast<std::int64_t>(group.usage.value_or(0));
  }

  /// A cleanup that left much and returned next to nothing would have done so again.
  void tell_pieces(fact::MemorySplit& split) const {
    if (split.fix.kind != fact::FixKind::cleanup) return;
    const fact::Cleanup* last = nullptr;
    for (const record::Action& action : run_.actions)
      if (action.seconds <= seconds_) last = &action.cleanup;
    if (last == nullptr || last->after.retained.value_or(0) < split.fix.bytes / 2 ||
        static_cast<double>(last->returned) >
            kLittleReturned * static_cast<double>(*last->after.retained))
      return;
    split.fix.kind = fact::FixKind::settings;
    split.fix.text =
        bytes_text(split.fix.bytes) + " retained in pieces, of which a cleanup had returned " +
        bytes_text(last->returned) + ": try an allocator that keeps less (ebb run --allocator)";
  }

  const record::RecordedRun& run_;
  const std::vector<Label>& labels_;
  const std::vector<Copying>& copying_;
  const SitesStory& sites_;
  double seconds_ = 0;
  std::vector<keep::GroupMember> members_;
  std::vector<std::string> notes_;
};

}  // namespace

std::optional<fact::MemorySplit> last_memory_of(const record::RecordedRun& run,
                                                const std::vector<Label>& labels,
                                                const std::vector<Copying>& copying,
                                                const SitesStory& sites) {
  return Looker(run, labels, copying, sites).look();
}

}  // namespace ebb::story
