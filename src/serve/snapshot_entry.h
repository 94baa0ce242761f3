// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "pack/byte_source.h"
#include "serve/snapshots.h"

namespace ebb::serve {

/// One snapshot. What is not set before anybody else sees it belongs to the mutex.
struct Snapshots::Entry {
  enum class State : std::uint8_t { waiting, worked_on, over };

  std::string key;
  std::string name;
  bool is_named = false;
  std::unique_ptr<pack::ByteSource> source;
  Slot slot;
  Reply reply;

  State state = State::waiting;
  bool is_read = false;
  bool can_stop = false;
  bool stops = false;
  bool is_gone = false;
  double share = 0;
  std::uint64_t revision = 0;
  std::int64_t used_ns = 0;
  std::vector<std::shared_ptr<const MadePage>> pages;

  std::string progress_text() const {
    return base::format_text("%llu %.0f", static_cast<unsigned long long>(revision), 100 * share);
  }
};

}  // namespace ebb::serve
