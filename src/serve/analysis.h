// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pack/byte_source.h"
#include "page/document.h"
#include "replay/job.h"

namespace ebb::serve {

/// What `ebb doctor` and `ebb tune` find in one snapshot, a step at a time, as pages of their own:
/// one for each device with a history. Uses all cores. Not thread-safe.
class Analysis {
 public:
  struct Watch {
    std::function<bool()> stops;                 ///< asked now and then
    std::function<void(double share)> progress;  ///< of the step that goes on
  };

  Analysis(std::string name, Watch watch) : name_(std::move(name)), watch_(std::move(watch)) {}

  /// Reads it. Code::bad_input for what is no snapshot, in one line that begins with its name;
  /// Code::unavailable where it was stopped.
  base::Status read(std::unique_ptr<pack::ByteSource> source);

  /// The verdict, with what it rests on. Requires: read() has succeeded.
  base::Status diagnose();

  /// Whether there is a history that other settings can be tried on.
  bool can_tune() const;
  /// The settings that suit it best, of all devices together. Requires: diagnose() has succeeded.
  base::Status tune();

  /// What is known: a page for each device, in their order; none before diagnose().
  const std::vector<page::Document>& pages() const { return pages_; }
  /// What a link to that page says, e.g. "device 1".
  std::string link_text(std::size_t page) const;

 private:
  std::string name_;
  Watch watch_;
  std::vector<replay::Job> jobs_;
  std::vector<page::Document> pages_;
};

}  // namespace ebb::serve
