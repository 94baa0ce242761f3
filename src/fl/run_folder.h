// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"

namespace ebb::fl {

/// The files of one simulation: config.json, rounds.jsonl (one line per round) and checkpoint. One
/// process at a time works in a folder.
class RunFolder {
 public:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}

  std::string checkpoint_path() const { return path_ + "/checkpoint"; }

  /// Makes the folder with its config.json and no rounds. Code::bad_input where a simulation is in
  /// it already.
  base::Status begin(const base::Json& config);

  /// Takes the folder of an earlier simulation. Code::bad_input where another process has it.
  base::Status take();

  /// The lines of the rounds below `rounds`; what follows them is cut off. Code::bad_input where
  /// there are fewer.
  base::Result<std::vector<base::Json>> keep_rounds(std::uint32_t rounds);

  /// On disk before it returns.
  base::Status add_round(const base::Json& report);

 private:
  std::string rounds_path() const { return path_ + "/rounds.jsonl"; }

  std::string config_path() const { return path_ + "/config.json"; }

  std::string path_;
  base::FileDescriptor lock_;
};

}  // namespace ebb::fl
