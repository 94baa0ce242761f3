// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fl/data/data_set.h"
#include "pack/byte_source.h"

namespace ebb::fl {

/// The two binary formats of CIFAR: records of labels and 3 x 32 x 32 bytes.
struct CifarFormat {
  std::uint32_t classes = 10;
  std::size_t labels = 1;  ///< bytes before the pixels; the last of them is the class
  std::vector<std::string> train_files;
  std::string test_file;
};
CifarFormat cifar_10();
CifarFormat cifar_100();

/// Appends the records of a whole file to `split`. Code::bad_input, with the file called `name`,
/// where it is not a whole number of them or a label is out of range.
base::Status read_cifar(pack::ByteSource& source, const std::string& name,
                        const CifarFormat& format, Split& split);

/// The files of `format` in `folder`, plain or packed by gzip. Sets picture, classes and splits.
base::Status load_cifar(const std::string& folder, const CifarFormat& format, DataSet& data);

}  // namespace ebb::fl
