// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/tape.h"

namespace ebb::plan {

enum class Optimizer : std::uint8_t { sgd, sgdm, adam, adamw, adam8bit, adafactor };
inline constexpr std::array kOptimizers = {Optimizer::adamw,    Optimizer::adam,
                                           Optimizer::sgd,      Optimizer::sgdm,
                                           Optimizer::adam8bit, Optimizer::adafactor};

/// The word on the command line and in JSON, e.g. "adamw".
const char* name_of(Optimizer optimizer);
base::Result<Optimizer> optimizer_from(std::string_view text);

/// What an optimizer keeps for one weight and what it needs for it during its step, in bytes per
/// tensor.
struct OptimizerTensors {
  std::vector<std::uint64_t> state;
  std::vector<std::uint64_t> step;
  bool step_one_by_one = false;  ///< a weight's step tensors are gone before the next weight's come
};

/// `master` is a copy of the weight in f32 that the optimizer works on instead.
OptimizerTensors tensors_of(Optimizer optimizer, const Parameter& parameter, const Value& weight,
                            bool master);

}  // namespace ebb::plan
