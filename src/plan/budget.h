// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/option.h"
#include "plan/plan.h"

/// The sheet of paper: bytes for each parameter, summed up. It knows no operators, no allocator and
/// no phases; a Plan does, and stands beside it where the model is known.
namespace ebb::plan {

/// The options of `ebb plan budget`, on the command line and through the C interface.
struct BudgetOptions {
  std::optional<double> parameters;              ///< not given: those of `model`
  std::optional<std::string> model;              ///< a preset, or a network of the simulator
  std::optional<std::string> precision;          ///< not given: mixed; amp for a network
  std::optional<double> activation_gb;           ///< of all devices together, 10^9 bytes
  std::optional<std::uint64_t> batch, sequence;  ///< of the plan
  std::string optimizer = "adam";
  std::string overhead = "15%";
  std::uint64_t gpus = 1;
};
base::Options options_of(BudgetOptions& options);

/// Bytes of all devices together.
struct Budget {
  std::uint64_t parameters = 0;
  std::string optimizer, precision;  ///< as they were named
  std::uint64_t gpus = 1;
  double overhead_percent = 0;
  double bytes_per_parameter = 0;

  std::uint64_t weights = 0;
  std::uint64_t gradients = 0;
  std::uint64_t master_weights = 0;  ///< the copy in f32 that the optimizer works on
  std::uint64_t optimizer_state = 0;
  std::optional<std::uint64_t> activations;
  std::uint64_t overhead = 0;

  std::optional<Plan> exact;  ///< of one device

  std::uint64_t total() const {
    return weights + gradients + master_weights + optimizer_state + activations.value_or(0) +
           overhead;
  }
  /// All of it split evenly.
  std::uint64_t per_gpu() const { return (total() + gpus - 1) / gpus; }
  /// By how much per_gpu() is off the plan's device bytes; nothing without a plan.
  std::optional<double> difference_percent() const;
};

/// Code::bad_input for what is unknown, missing or out of range.
base::Result<Budget> budget_of(const BudgetOptions& options);

/// As JSON; the keys are documented in docs/plan.md.
base::Json to_json(const Budget& budget);

}  // namespace ebb::plan
