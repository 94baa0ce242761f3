// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plan/network.h"
#include "plan/optimizer.h"
#include "plan/transformer.h"

namespace ebb::plan {

/// What was measured of one training step, in bytes.
struct Measured {
  std::uint64_t parameters = 0;
  std::uint64_t weights = 0;
  std::uint64_t gradients = 0;
  std::uint64_t optimizer_state = 0;
  std::uint64_t before = 0;
  std::uint64_t after_forward = 0;
  std::uint64_t after_backward = 0;
  std::uint64_t peak = 0;
  std::uint64_t reserved_peak = 0;
  bool warms_libraries = false;  ///< the first of its process: cuBLAS takes its workspaces in it
};

/// One training step measured on a GPU, and how it was configured.
struct MeasuredStep {
  TransformerModel model;
  TransformerTraining training;
  Optimizer optimizer = Optimizer::adamw;
  bool accumulates = false;
  Measured measured;
  std::string text;  ///< the configuration in a few words
};

struct MeasuredNetwork {
  Network network;
  std::uint64_t batch = 0;
  Precision precision = Precision::fp32;
  Optimizer optimizer = Optimizer::sgd;
  Measured measured;
  std::string text;
};

/// The steps of a file under tests/data/plan; a failed expectation where it is no such file.
std::vector<MeasuredStep> measured_steps(const std::string& name);
std::vector<MeasuredNetwork> measured_networks(const std::string& name);

}  // namespace ebb::plan
