// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "plan/layer_flow.h"
#include "plan/network.h"

namespace ebb::plan {

/// Reads the layers of a network out of JSON. Each has to fit what comes into it.
class LayerReader {
 public:
  /// Without a picture only the layers themselves are looked at.
  LayerReader(const std::optional<Picture>& picture, std::uint64_t classes)
      : flow_(picture, classes) {}

  /// Once. Code::bad_input begins with where: layers[3].kernel_size.
  base::Result<std::vector<NetworkLayer>> read(const base::Json& layers);

 private:
  class Members;

  base::Result<std::vector<NetworkLayer>> read_list(const base::Json& list,
                                                    const std::string& where, int depth,
                                                    LayerFlow& flow);
  base::Result<NetworkLayer> read_one(const base::Json& json, const std::string& where, int depth,
                                      LayerFlow& flow);
  base::Status read_residual(const Members& members, int depth, LayerFlow& flow,
                             NetworkLayer& layer);

  LayerFlow flow_;
  std::size_t layers_ = 0;
};

}  // namespace ebb::plan
