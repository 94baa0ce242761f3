// SPDX-License-Identifier: Apache-2.0
#include "device/event_book.h"

#include <cinttypes>

namespace ebb::device {
namespace {

base::Error no_such_event(EventId event) {
  return base::error(base::Code::bad_input, "no event %" PRIu64 " is recorded here", event);
}

}  // namespace

EventBook::EventBook(int device, Completion completion)
    : completion_(completion), last_(static_cast<EventId>(device) << 48) {}

EventId EventBook::record(StreamId stream) {
  events_.emplace(++last_, Event{stream, completion_ == Completion::at_once});
  return last_;
}

base::Result<bool> EventBook::done(EventId event) const {
  const auto found = events_.find(event);
  if (found == events_.end()) return no_such_event(event);
  return found->second.done;
}

base::Status EventBook::complete(EventId event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return no_such_event(event);
  const StreamId stream = found->second.stream;
  for (auto& [id, other] : events_) {
    if (id > event) break;
    if (other.stream == stream) other.done = true;
  }
  return {};
}

void EventBook::complete_stream(StreamId stream) {
  for (auto& [id, event] : events_) {
    if (event.stream == stream) event.done = true;
  }
}

void EventBook::complete_all() {
  for (auto& [id, event] : events_) {
    event.done = true;
  }
}

base::Status EventBook::destroy(EventId event) {
  if (events_.erase(event) == 0) return no_such_event(event);
  return {};
}

}  // namespace ebb::device
