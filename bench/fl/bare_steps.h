// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "fl/data/data_set.h"

namespace ebb::bench {

/// What a federated round cannot do without, written straight against libtorch: steps of SGD with
/// CNN-MNIST on batches that are ready, and a forward pass over the test set, on so many threads.
class BareSteps {
 public:
  BareSteps(const fl::DataSet& data, std::uint32_t batch, std::uint32_t threads);

  /// Seconds of steps over `samples` of each client in turn, last batches being partial.
  double train(const std::vector<std::uint32_t>& samples_of_clients);
  /// Seconds of a forward pass over the whole test set.
  double evaluate();
  /// Seconds of the products of matrices alone that both consist of, each a call of sgemm whose
  /// matrices lie ready: convolutions on windows that nobody had to lay out.
  double multiply(const std::vector<std::uint32_t>& samples_of_clients);

 private:
  struct Model;

  const fl::DataSet& data_;
  const std::uint32_t batch_;
  const std::uint32_t threads_;
};

}  // namespace ebb::bench
