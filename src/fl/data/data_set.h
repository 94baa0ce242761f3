// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/network.h"

namespace ebb::fl {

/// Pictures as bytes, channel by channel, and the class of each.
struct Split {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  std::size_t size() const { return labels.size(); }
};

/// How a byte becomes a network's input: (byte / 255 - mean) / deviation, per channel.
struct Normalisation {
  std::vector<float> mean;
  std::vector<float> deviation;
};

/// Labelled pictures in memory, once for all clients; a client is a list of indices into `train`.
/// Immutable once loaded.
struct DataSet {
  std::string name;
  plan::Picture picture;
  std::uint32_t classes = 0;
  Normalisation normalisation;
  bool augments = false;  ///< training crops (4 pixels of padding) and flips at random
  Split train;
  Split test;
  /// How many training samples each user has, one user after the other; empty where nobody owns
  /// any.
  std::vector<std::uint32_t> users;

  std::size_t bytes() const {
    return train.pixels.size() + train.labels.size() + test.pixels.size() + test.labels.size() +
           users.size() * sizeof(std::uint32_t);
  }
};

/// How large a synthetic set is.
struct SyntheticOptions {
  plan::Picture picture;
  std::uint32_t classes = 10;
  std::uint32_t train = 60000;
  std::uint32_t test = 10000;
  std::uint64_t seed = 42;
};

/// The data set whose users are the clients.
inline constexpr std::string_view kLeafName = "leaf";

/// Where pictures come from.
enum class DataSource : std::uint8_t { files, seed };

/// A data set that load_data_set knows.
struct DataSetKind {
  std::string_view name;     ///< e.g. "fashion-mnist"
  std::string_view files;    ///< what is looked for in the folder
  std::string_view summary;  ///< one line
  DataSource source = DataSource::files;
};
std::vector<DataSetKind> data_set_kinds();

/// Of an unknown name: files, which load_data_set then refuses.
DataSource data_source(std::string_view name);

/// Code::bad_input names the nearest.
base::Status check_data_set_name(std::string_view name);

/// `folder` empty: the place of Debian's package where there is one. Code::bad_input names the
/// file, the offset and what was expected there; an unknown name gets the nearest.
base::Result<std::shared_ptr<const DataSet>> load_data_set(std::string_view name,
                                                           const std::string& folder);

/// Pictures that a small network can learn to tell apart, out of `seed` alone.
base::Result<std::shared_ptr<const DataSet>> synthetic_data_set(const SyntheticOptions& options);

}  // namespace ebb::fl
