// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "fl/config.h"
#include "fl/ranks.h"

namespace ebb::fl {

/// One configuration with each of several methods and seeds.
struct Sweep {
  Config config;  ///< of the first method and seed
  std::vector<std::string> methods;
  std::vector<ParameterValues> parameters;  ///< of each method
  std::vector<std::uint64_t> seeds;
  NvflareSettings nvflare;  ///< of the file; how it is executed, not what

  bool is_single() const { return methods.size() * seeds.size() == 1; }
  Config config_of(std::size_t method, std::size_t seed) const;
};

/// As read_sweep takes it.
base::Json to_json(const Sweep& sweep);

/// What a file says of a sweep; a list is empty where it says nothing.
struct SweepFile {
  Config config;
  NvflareSettings nvflare;
  std::vector<std::string> methods;
  std::vector<std::string>
      method_options;  ///< "method:name=value", or of every method "name=value"
  std::vector<std::uint64_t> seeds;
};

/// JSON with the keys of a configuration, NVFlare's among them, and the lists. Code::bad_input
/// names the file and what is wrong in it.
base::Result<SweepFile> read_sweep(const std::string& path);

/// The file beside a sweep's folders that a resumed one is read from.
inline constexpr const char* kComparisonFile = "comparison.json";
/// What came out of it, in its folder.
inline constexpr const char* kResultFile = "result.json";

/// Of one simulation, below the folder of its sweep.
std::string folder_name_of(const std::string& method, std::uint64_t seed);

/// Where a sweep's files go.
class SweepFolder {
 public:
  /// Rank 0 makes it and what a sweep is resumed from; all ranks call it. `path` "": a new one,
  /// named after the time and `name`: ./ebb-runs/20261115-163005-heuristic.random.
  static base::Result<SweepFolder> open(const Sweep& sweep, const std::string& path,
                                        const std::string& name, Ranks& ranks);

  /// "" where nothing is to be written, as before it is opened.
  const std::string& path() const { return path_; }

  /// Of one simulation.
  std::string of(const Sweep& sweep, std::size_t method, std::size_t seed) const;

  /// Removes it again where nothing was written into it.
  void drop_if_empty() const;

 private:
  std::string path_;
  bool is_new_ = false;
};

/// Whether a simulation has left something in `folder` to go on from.
bool can_be_resumed(const std::string& folder);

}  // namespace ebb::fl
