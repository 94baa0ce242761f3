// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/tape.h"
#include "plan/transformer.h"

namespace ebb::plan {

/// One layer of a network, as data: what a trainer builds it from and what its memory follows from.
struct NetworkLayer {
  enum class Kind : std::uint8_t {
    convolution,
    max_pool,      ///< kernel and stride are `kernel`
    average_pool,  ///< over the whole picture, to one value per channel
    relu,
    group_norm,
    dropout,   ///< in training alone, in one or another of its values
    linear,    ///< flattens what comes in
    residual,  ///< `body` plus `around`, which is the input itself where it is empty; then relu
  };

  Kind kind = Kind::relu;
  std::uint64_t outputs = 0;  ///< channels of a convolution, width of a linear layer
  std::uint64_t kernel = 0;
  std::uint64_t stride = 1;
  std::uint64_t padding = 0;
  std::uint64_t groups = 0;  ///< of a group_norm
  double rate = 0;           ///< share that a dropout makes zero
  bool bias = true;
  bool in_place = false;  ///< a relu that writes over its input
  std::vector<NetworkLayer> body;
  std::vector<NetworkLayer> around;

  /// Of a residual layer: whether the sum may be written over what its body gives. That is so where
  /// nothing needs it for a gradient.
  bool sums_in_place() const;
};

/// What a network is given: pictures.
struct Picture {
  std::uint64_t channels = 1;
  std::uint64_t height = 28;
  std::uint64_t width = 28;
};

struct Network {
  std::string name;
  Picture picture;
  std::uint64_t classes = 10;
  std::vector<NetworkLayer> layers;

  /// Of all weights. Code::bad_input where a layer does not fit what comes into it.
  base::Result<std::uint64_t> parameters() const;
};

/// The names that network_named knows.
std::vector<std::string_view> network_names();

/// A network of the federated simulator; case, spaces and punctuation of the name do not matter.
/// Code::bad_input for an unknown name.
base::Result<Network> network_named(std::string_view name, const Picture& picture,
                                    std::uint64_t classes);

/// The tape of one step with `batch` pictures; fp32 or amp. Code::bad_input as parameters().
base::Result<Tape> write_network(const Network& network, std::uint64_t batch, Precision precision);

}  // namespace ebb::plan
