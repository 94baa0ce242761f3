// SPDX-License-Identifier: Apache-2.0
#include "keep/memory_split.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "keep/ledger.h"

namespace ebb::keep {
namespace {

using base::bytes_text;
using Bytes = std::optional<std::uint64_t>;

// What retained memory has to be worth before it is called the fix.
constexpr std::uint64_t kBytesWorthReturning = 8 * base::kMiB;
constexpr double kShareWorthReturning = 0.05;
// Of what one place in the code holds: less would have carried a leak on for a moment only.
constexpr double kShareOfPlace = 0.25;
// What the kernel and the processes say is not read in one moment.
constexpr double kSlack = 1.02;

std::uint64_t scaled(std::uint64_t bytes, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * factor);
}

void add(Bytes& sum, const Bytes& part, double factor) {
  if (part) sum = sum.value_or(0) + scaled(*part, factor);
}

constexpr const char* kFree = ": free what is not used";
// A place in the code that holds less of the live heap is not what the job died of.
constexpr double kShareOfTellingSite = 0.25;

/// The place that holds most of what is live, if that is much: no more than its process touched.
std::optional<fact::SiteShare> telling_site(const fact::MemorySplit& split) {
  std::optional<fact::SiteShare> most;
  for (const fact::MemorySplit::Share& share : split.processes) {
    if (!share.live || !share.sites || share.sites->empty()) continue;
    const fact::SiteShare& first = share.sites->front();
    const fact::SiteShare site{first.place, std::min(first.bytes, *share.live)};
    if (!most || site.bytes > most->bytes) most = site;
  }
  const auto live = static_cast<double>(split.live.value_or(0));
  if (most && static_cast<double>(most->bytes) < kShareOfTellingSite * live) most.reset();
  return most;
}

// How far samples may be from what a place has mapped.
constexpr double kLeastOfMapping = 0.75;
constexpr double kMostOfMapping = 1.25;

/// The place that mapped shared memory: it holds about as much as there is, and more than all of
/// its process's heap.
std::string who_mapped(const fact::MemorySplit& split) {
  const auto shared = static_cast<double>(split.shared.value_or(0));
  for (const fact::MemorySplit::Share& share : split.processes) {
    if (!share.sites || share.sites->empty()) continue;
    const fact::SiteShare& first = share.sites->front();
    const auto bytes = static_cast<double>(first.bytes);
    if (first.bytes > share.live.value_or(0) && bytes > kLeastOfMapping * shared &&
        bytes < kMostOfMapping * shared)
      return ", mapped at " + first.place;
  }
  return "";
}

std::string who_holds(const fact::MemorySplit& split) {
  if (split.processes.empty() || !split.processes.front().live) return "";
  const fact::MemorySplit::Share& first = split.processes.front();
  return base::format_text(", %s of it in process %d", bytes_text(*first.live).c_str(), first.pid);
}

/// Anonymous memory of a process with shared pages divided by their sharers.
std::uint64_t own_anon(const fact::ProcessSample& memory) {
  const std::uint64_t anon = memory.anon.value_or(0);
  return anon - std::min(anon, memory.shared.value_or(0));
}

/// The anonymous memory of one process alone: no byte of it is shared memory or a file.
fact::Ledger ledger_of_anon(const GroupMember& member) {
  fact::ProcessSample anon;
  anon.rss = member.memory.anon;
  anon.live = member.memory.live;
  anon.retained = member.memory.retained;
  std::optional<fact::MappedParts> mappings = member.mappings;
  if (mappings) mappings->pinned.reset();  // the kernel counts it as shared memory or files
  std::optional<std::span<const fact::PrivateAllocator>> beside;
  if (member.private_allocators) beside = *member.private_allocators;
  return ledger_of(anon, beside, mappings);
}

class Splitter {
 public:
  Splitter(const fact::GroupMemory& group, std::span<const GroupMember> members)
      : group_(group), members_(members) {}

  fact::MemorySplit split() {
    split_.usage = group_.usage.value_or(0);
    split_anon();
    split_shmem();
    split_cache();
    split_kernel();
    std::uint64_t known = 0;
    for (const fact::MemorySplit::Part& part : split_.parts())
      known += part.bytes.value_or(0);
    split_.unexplained = split_.usage - std::min(split_.usage, known);
    tell_unexplained();
    split_.fix = smallest_fix(split_);
    return std::move(split_);
  }

 private:
  void split_anon() {
    std::uint64_t together = 0;
    for (const GroupMember& member : members_)
      together += own_anon(member.memory);
    std::uint64_t all = group_.anon.value_or(together);
    if (group_.supervisor) {
      split_.supervisor = std::min(*group_.supervisor, all);
      all -= *split_.supervisor;
    }
    double factor = 1;
    if (together > all) {
      factor = static_cast<double>(all) / static_cast<double>(together);
      if (static_cast<double>(together) > kSlack * static_cast<double>(all)) {
        split_.notes.push_back(
            "processes claim " + bytes_text(together - all) +
            " more than the group holds: they share pages, or lie partly in other groups");
      }
    }
    for (const GroupMember& member : members_)
      add_member(member, factor);
    std::stable_sort(split_.processes.begin(), split_.processes.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  }

  void add_member(const GroupMember& member, double factor) {
    const std::uint64_t anon = member.memory.anon.value_or(0);
    if (anon == 0) return;
    const std::uint64_t own = scaled(own_anon(member.memory), factor);
    const std::uint64_t copies = std::min(member.copies, own);
    if (copies > 0) split_.copies = split_.copies.value_or(0) + copies;
    // What is left is the process's own doing; its parts shrink alike, since nobody knows which of
    // them lie in shared pages.
    const double share = static_cast<double>(own - copies) / static_cast<double>(anon);
    const fact::Ledger ledger = ledger_of_anon(member);
    add(split_.live, ledger.live, share);
    add(split_.retained, ledger.retained, share);
    add(split_.private_allocators, ledger.private_allocators, share);
    add(split_.python, ledger.python, share);
    fact::MemorySplit::Share one;
    one.pid = member.pid;
    one.name = member.name;
    one.bytes = own - copies;
    one.sites = member.sites;
    add(one.live, ledger.live, share);
    if (member.memory.live && ledger.live) {
      one.untouched = *member.memory.live - std::min(*member.memory.live, *ledger.live);
      split_.untouched = split_.untouched.value_or(0) + *one.untouched;
    }
    if (!one.live) silent_ += one.bytes;
    if (member.is_python && !ledger.python) has_unknown_arenas_ = true;
    split_.processes.push_back(std::move(one));
  }

  void split_shmem() {
    if (!group_.shmem) return;
    std::uint64_t mapped = 0;
    std::size_t mappers = 0;
    for (const GroupMember& member : members_) {
      mapped += member.memory.shmem.value_or(0);
      if (member.memory.shmem.value_or(0) > 0) ++mappers;
    }
    split_.shared = std::min(mapped, *group_.shmem);
    split_.tmpfs = *group_.shmem - *split_.shared;
    if (mappers > 1 && mapped > *group_.shmem && *split_.shared > 0) {
      split_.notes.emplace_back(
          "shared memory: several processes have mapped it; files in tmpfs may be in it");
    }
  }

  void split_cache() {
    if (!group_.cache) return;
    if (group_.dirty) split_.cache_dirty = std::min(*group_.dirty, *group_.cache);
    split_.cache_clean = *group_.cache - split_.cache_dirty.value_or(0);
  }

  void split_kernel() {
    if (!group_.kernel) return;
    std::uint64_t left = *group_.kernel;
    const auto take = [&](const Bytes& part) -> Bytes {
      if (!part) return std::nullopt;
      const std::uint64_t taken = std::min(*part, left);
      left -= taken;
      return taken;
    };
    split_.sockets = take(group_.sockets);
    split_.kernel_stacks = take(group_.stacks);
    split_.page_tables = take(group_.page_tables);
    split_.slab = take(group_.slab);
    split_.kernel_other = left;
  }

  void tell_unexplained() {
    if (split_.untouched.value_or(0) > 0) {
      split_.notes.push_back("live: " + bytes_text(*split_.untouched) +
                             " more were asked for and never touched");
    }
    if (silent_ > 0) {
      split_.notes.push_back("unexplained: " + bytes_text(silent_) +
                             " of processes whose allocator did not say what it holds");
    }
    if (has_unknown_arenas_)
      split_.notes.emplace_back(
          "Python's arenas of small objects are not told apart; in unexplained");
  }

  const fact::GroupMemory& group_;
  const std::span<const GroupMember> members_;
  fact::MemorySplit split_;
  std::uint64_t silent_ = 0;  ///< of processes without live
  bool has_unknown_arenas_ = false;
};

}  // namespace

bool runs_python(std::string_view command) {
  return command.substr(0, command.find(' ')).find("python") != std::string_view::npos;
}

fact::MemorySplit split_of(const fact::GroupMemory& group, std::span<const GroupMember> members) {
  return Splitter(group, members).split();
}

fact::Fix smallest_fix(const fact::MemorySplit& split) {
  using fact::FixKind;
  const auto fix = [](FixKind kind, std::uint64_t bytes, const std::string& text) {
    return fact::Fix{kind, bytes_text(bytes) + " " + text, std::nullopt, bytes};
  };
  const std::uint64_t retained = split.retained.value_or(0);
  const auto site = telling_site(split);
  const double least = std::max(kShareWorthReturning * static_cast<double>(split.usage),
                                site ? kShareOfPlace * static_cast<double>(site->bytes) : 0);
  if (retained >= kBytesWorthReturning && static_cast<double>(retained) >= least)
    return fix(FixKind::cleanup, retained, "retained: a cleanup would have carried it on");
  struct Candidate {
    std::uint64_t bytes;
    FixKind kind;
    std::string text;
  };
  const Candidate candidates[] = {
      {split.live.value_or(0), FixKind::code, "live on the heap" + who_holds(split) + kFree},
      {split.private_allocators.value_or(0), FixKind::settings,
       "in allocators that libraries bring for themselves"},
      {split.python.value_or(0), FixKind::code, "in Python's small objects: keep fewer of them"},
      {split.copies.value_or(0), FixKind::code,
       "of copies after a fork: keep what workers only read in arrays, not in lists or dicts"},
      {split.shared.value_or(0), FixKind::code,
       "of shared memory" + who_mapped(split) + ": unmap and remove it once used"},
      {split.tmpfs.value_or(0), FixKind::code,
       "of files in tmpfs, /dev/shm among them: remove them once used, or keep them on disk"},
      {split.cache_dirty.value_or(0), FixKind::code,
       "of written files that the disk did not yet have: write slower, or call fsync"},
      {split.slab.value_or(0) + split.sockets.value_or(0) + split.kernel_stacks.value_or(0) +
           split.page_tables.value_or(0) + split.kernel_other.value_or(0),
       FixKind::code, "of the kernel's own: fewer open files, sockets and threads"},
      {split.unexplained, FixKind::probe,
       "beside what allocators told: mappings of libraries, Python's small objects, other "
       "processes"},
  };
  const Candidate* largest =
      std::max_element(std::begin(candidates), std::end(candidates),
                       [](const Candidate& a, const Candidate& b) { return a.bytes < b.bytes; });
  if (largest->bytes == 0) return {};
  if (largest == candidates && site)
    return fix(FixKind::code, site->bytes, "live at " + site->place + kFree);
  return fix(largest->kind, largest->bytes, largest->text);
}

}  // namespace ebb::keep
