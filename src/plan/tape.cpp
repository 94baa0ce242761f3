// SPDX-License-Identifier: Apache-2.0
#include "plan/tape.h"

namespace ebb::plan {

std::uint64_t Tape::parameter_count() const {
  std::uint64_t sum = 0;
  for (const Parameter& parameter : parameters)
    sum += values[parameter.value].elements;
  return sum;
}

std::uint64_t Tape::trainable_count() const {
  std::uint64_t sum = 0;
  for (const Parameter& parameter : parameters)
    if (values[parameter.value].needs_grad) sum += values[parameter.value].elements;
  return sum;
}

}  // namespace ebb::plan
