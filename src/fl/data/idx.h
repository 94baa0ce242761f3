// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fl/data/data_set.h"
#include "pack/byte_source.h"

namespace ebb::fl {

/// Grey pictures of one size, one after the other.
struct IdxPictures {
  plan::Picture picture;
  std::uint64_t count = 0;
  std::vector<std::uint8_t> pixels;
};

/// Reads the IDX format of MNIST: three dimensions of bytes. `name` begins the messages;
/// Code::bad_input for anything that is not one whole file of that kind.
base::Result<IdxPictures> read_idx_pictures(pack::ByteSource& source, const std::string& name);

/// The same for one dimension of bytes.
base::Result<std::vector<std::uint8_t>> read_idx_labels(pack::ByteSource& source,
                                                        const std::string& name);

/// Both splits of a set in `folder`: PREFIXtrain-images-idx3-ubyte, PREFIXtrain-labels-idx1-ubyte
/// and the same with TEST in place of "train", each plain or with ".gz". Sets picture, classes and
/// splits of `data`. `classes` 0: as many as the training labels have.
base::Status load_idx(const std::string& folder, const std::string& prefix, const std::string& test,
                      std::uint32_t classes, DataSet& data);

}  // namespace ebb::fl
