// SPDX-License-Identifier: Apache-2.0
// What Snapshots does in the background.
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "base/plain_text.h"
#include "heap/host_allocator.h"
#include "serve/analysis.h"
#include "serve/snapshot_entry.h"
#include "serve/snapshot_frame.h"
#include "serve/snapshots.h"

namespace ebb::serve {
namespace {

constexpr double kLookSeconds = 5;
// Pages go first.
constexpr int kNice = 10;

}  // namespace

Snapshots::Shared Snapshots::next() {
  Shared found;
  for (const auto& [key, entry] : entries_) {
    if (entry->state != Entry::State::waiting) continue;
    // What came over the network has a slot of its own; what was named waits for one.
    if (!entry->is_named) {
      found = entry;
      break;
    }
    const bool is_first = !found || key.size() < found->key.size() ||
                          (key.size() == found->key.size() && key < found->key);
    if (at_a_time() < kMostAtATime && is_first) found = entry;
  }
  if (!found) return nullptr;
  found->state = Entry::State::worked_on;
  if (found->is_named) ++named_;
  return found;
}

void Snapshots::work() {
  ::setpriority(PRIO_PROCESS, 0, kNice);  // of this thread and its own
  while (true) {
    Shared entry;
    {
      const base::Lock lock(mutex_);
      while (!ends_ && !(entry = next())) {
        forget_unused();
        if (may_forget()) {
          changed_.wait_for(mutex_, kLookSeconds);
        } else {
          changed_.wait(mutex_);
        }
      }
      if (ends_) return;
    }
    attempt(*entry);
    entry->slot.reset();
    {
      const base::Lock lock(mutex_);
      entry->state = Entry::State::over;
      if (!entry->is_named && !entry->is_read) entries_.erase(entry->key);
      if (entry->is_named) --named_;
      changed_.notify_all();
    }
    // The largest there is in this process is gone. What the search's threads have freed at the end
    // of their arenas only a deep cleanup reaches.
    heap::make_host_allocator(heap::detect_here())->give_back(fact::Depth::deep);
  }
}

void Snapshots::attempt(Entry& entry) try { look_at(entry); } catch (const std::exception&) {
  try {
    fail(entry, base::error(base::Code::out_of_memory, "%s: not enough memory to show it",
                            entry.name.c_str()));
  } catch (const std::exception&) {
    entry.reply = {};  // who waits hears that there is no answer
  }
}

void Snapshots::look_at(Entry& entry) {
  Analysis analysis(entry.name, {[&] { return is_to_stop(entry); },
                                 [&](double share) { progress(entry, share); }});
  publish(entry, {empty_page(entry.name)}, nullptr, "Reading");
  if (const auto read = analysis.read(std::move(entry.source)); !read)
    return fail(entry, read.error());
  was_read(entry);
  publish(entry, {empty_page(entry.name)}, nullptr, "Looking for what is wrong");
  if (const auto diagnosed = analysis.diagnose(); !diagnosed) return fail(entry, diagnosed.error());
  if (!analysis.can_tune()) return publish(entry, analysis.pages(), &analysis, "");
  publish(entry, analysis.pages(), &analysis, "Searching for better settings", true);
  const auto tuned = analysis.tune();
  std::vector<page::Document> pages = analysis.pages();
  for (page::Document& page : pages) {
    if (tuned) continue;
    const bool stopped = is_to_stop(entry);
    page.advice = stopped ? said("stopped", "The search for better settings was stopped.",
                                 page::Tone::neutral)
                          : said("no search", tuned.error().message, page::Tone::warning);
  }
  publish(entry, std::move(pages), &analysis, "");
}

void Snapshots::was_read(Entry& entry) {
  {
    const base::Lock lock(mutex_);
    entry.is_read = true;
    entry.used_ns = clock_->now_ns();
  }
  if (!entry.reply) return;
  const std::string path = std::string(kFolder) + entry.key;
  Answer made{201, "application/json", base::Json::object({{"page", path}}).text() + "\n"};
  made.headers = {{"Location", path}};
  std::exchange(entry.reply, {})(std::move(made));
}

void Snapshots::fail(Entry& entry, const base::Error& error) {
  const std::string line = base::plain_line(error.message);
  if (!entry.is_named && !entry.is_read) {
    entry.slot.reset();  // who reads the answer may send the next one
    const bool is_theirs = error.code == base::Code::bad_input;
    return std::exchange(entry.reply, {})(refusal(is_theirs ? 422 : 503, line));
  }
  page::Document page = empty_page(entry.name);
  page.verdict = said("cannot be looked at", line, page::Tone::bad);
  publish(entry, {std::move(page)}, nullptr, "");
}

void Snapshots::publish(Entry& entry, std::vector<page::Document> pages, const Analysis* analysis,
                        const std::string& task, bool can_stop) {
  if (task.empty()) entry.slot.reset();  // who sees that it is over may send the next one
  SnapshotFrame frame;
  frame.key = entry.key;
  frame.name = entry.name;
  frame.revision = std::to_string(entry.revision + 1);  // it changes here alone
  frame.task = task;
  frame.can_stop = can_stop;
  frame.stays = entry.is_named;
  for (std::size_t i = 0; i < pages.size() && pages.size() > 1; ++i)
    frame.links.push_back(analysis->link_text(i));
  auto made = made_pages(std::move(pages), frame);
  const base::Lock lock(mutex_);
  entry.pages = std::move(made);
  entry.can_stop = can_stop;
  entry.share = 0;
  ++entry.revision;
}

void Snapshots::progress(Entry& entry, double share) {
  const base::Lock lock(mutex_);
  entry.share = share;
}

bool Snapshots::is_to_stop(const Entry& entry) {
  const base::Lock lock(mutex_);
  forget_unused();
  return ends_ || entry.is_gone || entry.stops;
}

}  // namespace ebb::serve
