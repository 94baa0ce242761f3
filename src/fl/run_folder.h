// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "base/sha256.h"

namespace ebb::fl {

/// What a checkpoint says of the lines of the rounds before it, so that neither is changed without
/// the other.
struct RoundsSeal {
  std::string sha256;  ///< of all lines
  std::string marks;   ///< eight hexadecimal digits for each line, to tell which one differs
};
base::Json to_json(const RoundsSeal& seal);
/// Nothing where a checkpoint of an earlier Ebb has none.
std::optional<RoundsSeal> rounds_seal_from(const base::Json* json);

/// The files of one simulation: config.json, rounds.jsonl (one line per round) and checkpoint. One
/// process at a time works in a folder.
class RunFolder {
 public:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}

  std::string checkpoint_path() const { return path_ + "/checkpoint"; }

  /// Makes the folder with its config.json and no rounds. Code::bad_input where a simulation is in
  /// it already, unless this one `begins_again` what was ended before its first checkpoint. Until
  /// the new config.json is there the old one stays.
  base::Status begin(const base::Json& config, bool begins_again = false);

  /// Takes the folder of an earlier simulation, and clears up after one that was killed.
  /// Code::bad_input where another process has it, or where something in it is no file.
  base::Status take();

  /// The lines of the rounds below `rounds`; what follows them is cut off. Code::bad_input where
  /// there are fewer, or where one is not as it was written, where `seal` tells.
  base::Result<std::vector<base::Json>> keep_rounds(std::uint32_t rounds,
                                                    const std::optional<RoundsSeal>& seal = {});

  /// Code::bad_input where `content` of rounds.jsonl does not begin with the lines that were
  /// sealed. Needs no lock and changes nothing.
  base::Status check_rounds(std::string_view content, const RoundsSeal& seal) const;

  /// Of all lines until now.
  RoundsSeal seal() const;

  /// On disk before it returns.
  base::Status add_round(const base::Json& report);

 private:
  std::string rounds_path() const { return path_ + "/rounds.jsonl"; }

  std::string config_path() const { return path_ + "/config.json"; }

  base::Status expect_sealed(const RoundsSeal& seal) const;
  void add_to_seal(std::string_view line);

  std::string path_;
  base::FileDescriptor lock_;
  base::Sha256 lines_;
  std::string marks_;
};

/// Code::bad_input for what is there and is no file: whoever reads a FIFO may wait for ever.
base::Status expect_file(const std::string& path);

}  // namespace ebb::fl
