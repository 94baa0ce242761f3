// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstdint>
#include <memory>

namespace ebb::fl {

/// What follows a convolution without its bias, done in one pass: that is added, and what is
/// negative becomes 0.
class Rectifier {
 public:
  virtual at::Tensor rectify(const at::Tensor& flow, const at::Tensor& bias) const = 0;
  /// The same; then the largest of every 2 x 2 pixels; and of those, what `mask` keeps, `scale`
  /// times, where it is defined. Gives [clients, batch, features].
  virtual at::Tensor rectify_and_pool(const at::Tensor& flow, const at::Tensor& bias,
                                      const at::Tensor& mask, double scale) const = 0;

 protected:
  ~Rectifier() = default;
};

/// The layers of a network for several clients at once, each with weights of its own: those stand
/// first in every parameter, unless there is but one client. What flows between layers is laid out
/// as an implementation likes it. Biases may be undefined.
///
/// Where an `lr` is given, weights may go that far down their gradient as soon as it is known, in
/// the product of matrices that makes it, and are left none: that spares a card from writing and
/// reading it.
class Layers {
 public:
  virtual ~Layers() = default;

  /// Whether weights of convolutions are best kept with the channels of an input last.
  virtual bool keeps_channels_last() const { return false; }

  /// [clients, batch, channels, height, width].
  virtual at::Tensor enter(const at::Tensor& pictures) const = 0;
  virtual at::Tensor convolve(const at::Tensor& flow, const at::Tensor& weight,
                              const at::Tensor& bias, std::int64_t stride, std::int64_t padding,
                              double lr = 0) const = 0;
  /// Null where it has none.
  virtual const Rectifier* rectifier() const { return nullptr; }
  virtual at::Tensor max_pool(const at::Tensor& flow, std::int64_t kernel) const = 0;
  /// The same, and then what is negative becomes 0.
  virtual at::Tensor rectified_max_pool(const at::Tensor& flow, std::int64_t kernel) const {
    return max_pool(flow, kernel).relu_();
  }
  virtual at::Tensor average(const at::Tensor& flow) const = 0;
  /// With what follows: `added` is added where it is defined, and then what is negative becomes 0
  /// where it `rectifies`.
  virtual at::Tensor normalise(const at::Tensor& flow, std::int64_t groups, const at::Tensor& scale,
                               const at::Tensor& shift, const at::Tensor& added,
                               bool rectifies) const = 0;
  virtual at::Tensor multiply(const at::Tensor& flow, const at::Tensor& weight,
                              const at::Tensor& bias, double lr = 0) const = 0;
  /// `mask`, [clients, batch, values] with values as channels, rows and columns, laid out as
  /// `flow`.
  virtual at::Tensor lay_out(const at::Tensor& mask, const at::Tensor& flow) const = 0;
  /// [clients, batch, classes].
  virtual at::Tensor leave(const at::Tensor& flow) const = 0;
};

/// libtorch's own, for one client.
std::unique_ptr<Layers> plain_layers();

/// For one client, with channels last: what a card convolves fastest where there are many channels.
std::unique_ptr<Layers> channels_last_layers();

/// Convolutions in groups, one per client: fast where each client has many channels.
std::unique_ptr<Layers> grouped_layers(std::int64_t clients);

/// Windows laid out as columns and multiplied, one matrix per client: keeps a card busy where
/// grouped convolutions of few channels leave it idle. Columns of few inputs (kFewInputs) are kept
/// for the gradient, others made again.
std::unique_ptr<Layers> column_layers();

/// Does in place what follows a normalisation, as Layers::normalise has it.
inline at::Tensor followed(at::Tensor normal, const at::Tensor& added, bool rectifies) {
  if (added.defined()) normal.add_(added);
  return rectifies ? normal.relu_() : normal;
}

/// [clients, batch, features] by weights [clients, outputs, features]. `lr` as with Layers.
at::Tensor multiply_side_by_side(const at::Tensor& flow, const at::Tensor& weight,
                                 const at::Tensor& bias, double lr);

/// What `weight`, [clients, outputs, features], is left for a gradient: that which `pull`,
/// [clients, outputs, rows], and `seen`, [clients, rows, features], come to; nothing where it went
/// `lr` down.
at::Tensor left_by(const at::Tensor& pull, const at::Tensor& seen, const at::Tensor& weight,
                   double lr);

}  // namespace ebb::fl
