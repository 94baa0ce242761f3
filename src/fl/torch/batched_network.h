// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fl/network_shape.h"
#include "fl/torch/dropout.h"
#include "fl/torch/layers.h"
#include "plan/network.h"

namespace ebb::fl {

/// One network with the weights of several clients, who train side by side. With one client it is
/// the plain network. Not thread-safe.
class BatchedNetwork {
 public:
  /// One client trains as on the host, and is evaluated as a card likes it.
  enum class Use : std::uint8_t { training, evaluation };

  /// `network` and `shape` outlive it.
  BatchedNetwork(const plan::Network& network, const NetworkShape& shape, std::int64_t clients,
                 at::Device device, Use use = Use::training);

  std::int64_t clients() const { return clients_; }

  /// Gives every client these weights, which outlive the steps that follow.
  void load(std::span<const float> weights);
  /// The parameters in their order: of all clients, [clients, ...] where there are several; and
  /// those that were last loaded, of one client.
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  const std::vector<at::Tensor>& loaded() const { return loaded_; }

  /// Whether all weights of a client are numbers, for each: on the host.
  at::Tensor finite() const;
  /// Copies the weights of one client into a row on the host.
  void store(std::int64_t client, at::Tensor row) const;

  /// `pictures`: [clients, batch, channels, height, width]; gives [clients, batch, classes]. A step
  /// of training has a `dropout`; without one nothing is dropped. With an `lr` backward() may have
  /// weights go that far down their gradients, and leave them none.
  at::Tensor forward(const at::Tensor& pictures, const Dropout* dropout = nullptr,
                     double lr = 0) const;

  /// Goes `lr` down the gradients that backward() left, pulled by `proximal` towards what was last
  /// loaded; and forgets them. `pulled`: 1 for each client that still trains, else 0; undefined
  /// where all do.
  void step(double lr, double proximal, const at::Tensor& pulled = at::Tensor());
  /// Goes `lr` down `directions`, a number for each weight: [clients, weights], on the device.
  void follow(double lr, const at::Tensor& directions);
  /// Copies the gradients that backward() left since the last step() or forget_gradients(), of one
  /// client, into a row on the host.
  void gradient(std::int64_t client, at::Tensor row) const;
  void forget_gradients();

 private:
  class Pass;

  /// What a client has of one parameter, or of its gradient, in a row.
  at::Tensor of_client(const at::Tensor& values, std::int64_t client) const;

  const plan::Network& network_;
  const NetworkShape& shape_;
  const std::int64_t clients_;
  const std::unique_ptr<Layers> layers_;
  std::vector<at::Tensor> parameters_;  ///< [clients, ...], or plain where there is one client
  std::vector<at::Tensor> loaded_;      ///< one client's
};

}  // namespace ebb::fl
