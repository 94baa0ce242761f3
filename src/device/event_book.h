// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "base/result.h"
#include "device/driver.h"

namespace ebb::device {

/// When an event of a device without real streams is done.
enum class Completion : std::uint8_t {
  at_once,  ///< when it is recorded
  by_hand,  ///< when the test says so, or when somebody waits for it
};

/// The events of one device without real streams. Events of one stream are done in the order in
/// which they were recorded. Not thread-safe.
class EventBook {
 public:
  /// Ids differ between the books of different devices.
  EventBook(int device, Completion completion);

  EventId record(StreamId stream);
  base::Result<bool> done(EventId event) const;
  /// Makes it, and what its stream recorded before it, done.
  base::Status complete(EventId event);
  void complete_stream(StreamId stream);
  void complete_all();
  base::Status destroy(EventId event);

 private:
  struct Event {
    StreamId stream = 0;
    bool done = false;
  };

  Completion completion_;
  EventId last_;
  std::map<EventId, Event> events_;  // by id, which is the order of recording
};

}  // namespace ebb::device
