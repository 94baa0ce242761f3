// SPDX-License-Identifier: Apache-2.0
#include "serve/snapshots.h"

#include <algorithm>
#include <utility>

#include "base/plain_text.h"
#include "base/text.h"
#include "serve/guard.h"
#include "serve/snapshot_entry.h"
#include "serve/snapshot_frame.h"
#include "serve/upload_file.h"

namespace ebb::serve {
namespace {

// Enough to load a page again, or to open an address that somebody was sent, and for a page that
// nobody sees to ask again.
constexpr double kForgetSeconds = 180;
constexpr std::size_t kLongestName = 100;

/// "KEY-1" is the second page of "KEY".
std::pair<std::string, std::size_t> parts_of(const std::string& name) {
  const std::size_t hyphen = name.find('-');
  if (hyphen == std::string::npos) return {name, 0};
  const auto index = base::parse_unsigned(std::string_view(name).substr(hyphen + 1));
  if (!index || *index == 0) return {"", 0};
  return {name.substr(0, hyphen), *index};
}

}  // namespace

Snapshots::~Snapshots() {
  const base::Lock lock(mutex_);
  ends_ = true;
  changed_.notify_all();
}

base::Status Snapshots::begin(const std::vector<std::string>& paths) {
  if (paths.size() > kMostNamed) {
    return base::error(base::Code::bad_input, "%zu snapshots: expected at most %zu", paths.size(),
                       kMostNamed);
  }
  std::map<std::string, Shared> entries;
  for (const std::string& path : paths) {
    auto source = pack::open_source(path);
    if (!source) return source.error();
    auto entry = std::make_shared<Entry>();
    entry->key = std::to_string(entries.size() + 1);
    entry->name = base::plain_line(path.substr(path.rfind('/') + 1), kLongestName);
    entry->is_named = true;
    entry->source = *std::move(source);
    entry->share = 0;
    entries[entry->key] = std::move(entry);
  }
  if (entries.empty()) return {};
  for (auto& [key, entry] : entries)
    publish(*entry, {empty_page(entry->name)}, nullptr, "Waiting");
  const base::Lock lock(mutex_);
  entries_ = std::move(entries);
  return workers_.start(kMostAtATime, [this] { work(); });
}

std::vector<page::Link> Snapshots::links() const {
  const base::Lock lock(mutex_);
  std::vector<page::Link> links(kMostNamed);
  std::size_t count = 0;
  for (const auto& [key, entry] : entries_) {
    if (!entry->is_named) continue;
    links[*base::parse_unsigned(key) - 1] = {entry->name, std::string(kFolder) + key};
    ++count;
  }
  links.resize(count);
  return links;
}

Answer Snapshots::upload(const std::string& name) {
  {
    const base::Lock lock(mutex_);
    if (at_a_time() >= kMostAtATime) {
      return refusal(503, base::format_text("%zu snapshots are being looked at: stop one, or try "
                                            "again when one is done",
                                            kMostAtATime));
    }
    ++*slots_;
  }
  const Slot slot(nullptr, [slots = slots_](void*) { --*slots; });
  std::string shown = base::plain_line(name, kLongestName);
  if (shown.empty()) shown = "snapshot";
  Answer answer;
  answer.taker = [this, slot, shown](base::FileDescriptor body, Reply reply) {
    take(shown, slot, std::move(body), std::move(reply));
  };
  return answer;
}

void Snapshots::take(const std::string& name, Slot slot, base::FileDescriptor body, Reply reply) {
  auto source = source_of_upload(std::move(body), name);
  if (!source) return reply(refusal(422, base::plain_line(source.error().message)));
  auto key = make_token();
  if (!key) return reply(refusal(503, key.error().message));
  auto entry = std::make_shared<Entry>();
  entry->key = *std::move(key);
  entry->name = name;
  entry->source = *std::move(source);
  entry->slot = std::move(slot);
  entry->reply = reply;
  const base::Lock lock(mutex_);
  if (const auto started = workers_.start(kMostAtATime, [this] { work(); }); !started)
    return reply(refusal(503, started.error().message));
  entries_[entry->key] = std::move(entry);
  changed_.notify_all();
}

Snapshots::Shared Snapshots::find(const std::string& key) {
  forget_unused();
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  found->second->used_ns = clock_->now_ns();
  return found->second;
}

std::shared_ptr<const MadePage> Snapshots::page(const std::string& name) {
  const auto [key, index] = parts_of(name);
  const base::Lock lock(mutex_);
  const Shared entry = find(key);
  return entry && index < entry->pages.size() ? entry->pages[index] : nullptr;
}

std::optional<std::string> Snapshots::state(const std::string& key) {
  const base::Lock lock(mutex_);
  const Shared entry = find(key);
  if (!entry || entry->pages.empty()) return std::nullopt;
  return entry->progress_text();
}

std::vector<Event> Snapshots::news(const std::vector<std::string>& topics) {
  const base::Lock lock(mutex_);
  std::erase_if(told_, [&](const auto& entry) {
    return std::find(topics.begin(), topics.end(), entry.first) == topics.end();
  });
  std::vector<Event> events;
  for (const std::string& topic : topics) {
    if (!topic.starts_with(kFolder)) continue;
    const Shared entry = find(topic.substr(kFolder.size()));
    const std::string state = entry ? entry->progress_text() : "gone";
    std::string& told = told_[topic];
    if (told != state) events.push_back({topic, state});
    told = state;
  }
  return events;
}

bool Snapshots::stop(const std::string& key) {
  const base::Lock lock(mutex_);
  const Shared entry = find(key);
  if (entry) entry->stops = entry->can_stop;
  return entry != nullptr;
}

bool Snapshots::may_forget() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
    return !entry.second->is_named || entry.second->state == Entry::State::waiting;
  });
}

void Snapshots::forget_unused() {
  const std::int64_t now = clock_->now_ns();
  const auto uploaded = [](const auto& entry) {
    return !entry.second->is_named && entry.second->is_read;
  };
  for (auto& [key, entry] : entries_) {
    if (uploaded(std::pair(key, entry)))
      entry->is_gone = base::seconds_between(entry->used_ns, now) > kForgetSeconds;
  }
  while (std::count_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
           return uploaded(entry) && !entry.second->is_gone;
         }) > static_cast<std::ptrdiff_t>(kMostUploaded)) {
    Shared oldest;
    for (const auto& [key, entry] : entries_) {
      if (uploaded(std::pair(key, entry)) && !entry->is_gone &&
          (!oldest || entry->used_ns < oldest->used_ns))
        oldest = entry;
    }
    oldest->is_gone = true;
  }
  std::erase_if(entries_, [](const auto& entry) { return entry.second->is_gone; });
}

}  // namespace ebb::serve
