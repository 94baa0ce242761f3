// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "fl/data/data_set.h"
#include "fl/select/selector.h"
#include "term/style.h"

namespace ebb::show {

/// What can be simulated.
struct Catalogue {
  struct Model {
    std::string name;
    std::uint64_t parameters = 0;  ///< for pictures as Fashion-MNIST has them
  };

  std::vector<fl::Method> methods;
  std::vector<Model> models;
  std::vector<fl::DataSetKind> data_sets;
};

std::string catalogue_text(const Catalogue& catalogue, const term::Style& style);
base::Json catalogue_json(const Catalogue& catalogue);

}  // namespace ebb::show
