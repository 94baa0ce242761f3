// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "fl/data/data_set.h"
#include "pack/byte_source.h"

namespace ebb::fl {

/// A sample of so many values is a grey picture of 28x28; of any other number, a plain vector.
constexpr std::size_t kLeafPicture = 28 * 28;
constexpr std::size_t kMostLeafValues = 4096;

/// What LEAF's files of one split hold, user by user.
struct LeafSamples {
  std::size_t length = 0;            ///< values of each sample; 0: none was read yet
  std::vector<std::uint8_t> pixels;  ///< of pictures
  std::vector<float> values;         ///< of vectors
  std::vector<std::uint8_t> labels;
  std::vector<std::uint32_t> users;  ///< samples of each, in the order of the files
  std::unordered_set<std::string> names;
};

/// Adds the users of one file: {"users": [...], "num_samples": [...], "user_data": {USER: {"x":
/// [[...], ...], "y": [...]}, ...}}, the first two not needed but right where they are there.
/// Values of pictures are from 0 to 1, and rounded to 255ths. `name` begins the messages;
/// Code::bad_input names the byte.
base::Status read_leaf(pack::ByteSource& source, const std::string& name, LeafSamples& into);

/// The files train/*.json and test/*.json below `folder`, plain or with ".gz", in the order of
/// their names. Sets picture, classes, normalisation, splits and users of `data`. Values of vectors
/// become the nearest of 256 between the least and the largest of their place.
base::Status load_leaf(const std::string& folder, DataSet& data);

}  // namespace ebb::fl
