// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fl/torch/layers.h"

namespace ebb::fl {

/// What layers for one client have in common, however they lay out what flows: that is [batch,
/// channels, height, width], and [batch, features] from the first linear layer on.
class OneClient : public Layers {
 public:
  at::Tensor average(const at::Tensor& flow) const override {
    return at::adaptive_avg_pool2d(flow, {1, 1});
  }
  at::Tensor multiply(const at::Tensor& flow, const at::Tensor& weight, const at::Tensor& bias,
                      double /*lr*/) const override {
    return at::linear(flow.flatten(1), weight, bias);
  }
  at::Tensor lay_out(const at::Tensor& mask, const at::Tensor& flow) const override {
    return mask.reshape(flow.sizes());
  }
  at::Tensor leave(const at::Tensor& flow) const override { return flow.unsqueeze(0); }
};

}  // namespace ebb::fl
