// SPDX-License-Identifier: Apache-2.0
#include "plan/optimizer.h"

#include "base/text.h"

namespace ebb::plan {
namespace {

// bitsandbytes: one scale per block of 256 values; weights below 4096 elements stay in f32.
constexpr std::uint64_t kScaleBlock = 256;
constexpr std::uint64_t kLeastQuantised = 4096;

}  // namespace

const char* name_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return "sgd";
    case Optimizer::sgdm:
      return "sgdm";
    case Optimizer::adam:
      return "adam";
    case Optimizer::adamw:
      return "adamw";
    case Optimizer::adam8bit:
      return "adam8bit";
    case Optimizer::adafactor:
      return "adafactor";
  }
  return "unknown";
}

base::Result<Optimizer> optimizer_from(std::string_view text) {
  for (const Optimizer optimizer : kOptimizers)
    if (text == name_of(optimizer)) return optimizer;
  return base::error(base::Code::bad_input,
                     "optimizer '%.*s': expected adamw, adam, sgd, sgdm, adam8bit or adafactor",
                     static_cast<int>(text.size()), text.data());
}

OptimizerTensors tensors_of(Optimizer optimizer, const Parameter& parameter, const Value& weight,
                            bool master) {
  OptimizerTensors tensors;
  const std::uint64_t elements = weight.elements;
  const std::uint64_t bytes = elements * (master ? 4 : bytes_of(weight.type));
  if (master) tensors.state.push_back(bytes);
  switch (optimizer) {
    case Optimizer::sgd:
      break;
    case Optimizer::sgdm:
      tensors.state.push_back(bytes);
      break;
    case Optimizer::adam:
    case Optimizer::adamw:
      tensors.state.insert(tensors.state.end(), {bytes, bytes});
      // The multi-tensor step takes the root of all second moments before it uses the first.
      tensors.step.push_back(bytes);
      break;
    case Optimizer::adam8bit:
      if (elements < kLeastQuantised) {
        tensors.state.insert(tensors.state.end(), {elements * 4, elements * 4});
      } else {
        const std::uint64_t scales = (elements + kScaleBlock - 1) / kScaleBlock * 4;
        tensors.state.insert(tensors.state.end(), {elements, elements, scales, scales});
      }
      break;
    case Optimizer::adafactor:
      tensors.step_one_by_one = true;
      if (parameter.last > 1 || parameter.before_last > 1) {
        tensors.state.push_back(bytes / parameter.last);
        tensors.state.push_back(bytes / parameter.before_last);
        tensors.step.push_back(bytes);
      } else {
        tensors.state.push_back(bytes);
        tensors.step.insert(tensors.step.end(), {bytes, bytes});
      }
      break;
  }
  return tensors;
}

}  // namespace ebb::plan
