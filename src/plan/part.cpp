// SPDX-License-Identifier: Apache-2.0
#include "plan/part.h"

#include <numeric>

namespace ebb::plan {

const char* name_of(Part part) {
  switch (part) {
    case Part::weights:
      return "weights";
    case Part::gradients:
      return "gradients";
    case Part::optimizer:
      return "optimizer";
    case Part::inputs:
      return "inputs";
    case Part::embedding:
      return "embedding";
    case Part::attention:
      return "attention";
    case Part::feed_forward:
      return "feed_forward";
    case Part::norm:
      return "norm";
    case Part::residual:
      return "residual";
    case Part::convolution:
      return "convolution";
    case Part::logits:
      return "logits";
    case Part::temporaries:
      return "temporaries";
    case Part::slack:
      return "slack";
  }
  return "unknown";
}

std::uint64_t PartBytes::total() const {
  return std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0});
}

std::uint64_t PartBytes::activations() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kParts; ++i)
    if (is_activation(static_cast<Part>(i))) sum += bytes_[i];
  return sum;
}

}  // namespace ebb::plan
