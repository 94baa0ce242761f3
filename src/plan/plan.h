// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"
#include "plan/network.h"
#include "plan/recorded_step.h"
#include "plan/rehearsal.h"
#include "plan/transformer.h"

/// The memory of a training step before it runs: a model is written down as the operators it runs
/// (`Tape`), and the step is rehearsed over PyTorch's allocator without a device (`rehearse`).
/// docs/plan.md derives what is counted.
namespace ebb::plan {

/// What a process takes on a device beside PyTorch's tensors.
struct Surroundings {
  std::uint64_t context = 512 * base::kMiB;        ///< CUDA's context and loaded kernels
  std::uint64_t workspaces = 2 * 32 * base::kMiB;  ///< cuBLAS, for each of two threads, on Hopper
};

/// A transformer and everything about its training that decides about memory.
struct TransformerRequest {
  TransformerModel model;
  TransformerTraining training;  ///< its tensor_parallel counts in `gpus`
  Optimizer optimizer = Optimizer::adamw;
  int zero = 0;  ///< ZeRO's stage; FSDP is stage 3
  std::uint64_t pipeline = 1;
  std::uint64_t gpus = 1;
  bool accumulates = false;  ///< gradients of several batches are summed before each step
  Surroundings surroundings;
  std::optional<Correction> correction;
};

struct NetworkRequest {
  Network network;
  std::uint64_t batch = 32;
  Precision precision = Precision::fp32;
  Optimizer optimizer = Optimizer::sgd;
  Surroundings surroundings;
  std::optional<Correction> correction;
};

/// The memory of one step, in bytes of one device.
struct Plan {
  std::string subject;  ///< what was planned, in a few words
  std::uint64_t parameters = 0;
  std::uint64_t trainable = 0;

  // Elements times size, as they are spread over the devices.
  std::uint64_t weights = 0;
  std::uint64_t gradients = 0;
  std::uint64_t optimizer = 0;

  StepReport step;              ///< as planned: see corrected()
  std::uint64_t in_flight = 0;  ///< activations of micro-batches that wait for later stages
  Surroundings surroundings;
  std::optional<std::uint64_t> kv_cache_per_token;
  double error_percent = 0;              ///< of peak()
  std::vector<std::string> unverified;   ///< what was never compared with a measurement
  std::optional<Correction> correction;  ///< by a recording; it counts cuBLAS's workspaces

  /// What the backward pass starts with, without logits and loss.
  std::uint64_t activations() const { return step.after_forward.parts.activations() + in_flight; }
  /// Allocated bytes of the step, as the recording corrects them where there is one.
  std::uint64_t corrected(std::uint64_t allocated) const {
    return correction ? correction->applied(step.before.allocated, allocated) : allocated;
  }
  /// Before any correction.
  std::uint64_t planned_peak() const { return step.peak().peak.allocated + in_flight; }
  /// PyTorch's max_memory_allocated, less cuBLAS's workspaces unless corrected.
  std::uint64_t peak() const { return corrected(planned_peak()); }
  /// PyTorch's max_memory_reserved, likewise.
  std::uint64_t reserved() const {
    return step.peak_reserved + in_flight + peak() - planned_peak();
  }
  /// The error of peak() in bytes.
  std::uint64_t error_bytes() const;
  /// What the driver shows for the process: segments, workspaces, context.
  std::uint64_t device_total() const;
};

base::Result<Plan> plan(const TransformerRequest& request);
base::Result<Plan> plan(const NetworkRequest& request);

/// What a recording of the very step that was planned says about this plan and others like it:
/// for TransformerRequest::correction and NetworkRequest::correction.
Correction correction_of(const Plan& planned, const RecordedStep& recorded);

/// The request, corrected by a recording of its step. Fails as plan() does.
template <class Request>
base::Result<Request> corrected(Request request, const RecordedStep& recorded) {
  const auto planned = plan(request);
  if (!planned) return planned.error();
  request.correction = correction_of(*planned, recorded);
  return request;
}

/// As JSON; the keys are documented in docs/plan.md.
base::Json to_json(const Plan& plan);

/// Weights, gradients and optimizer state on each of `sharding.devices` devices: elements times
/// size.
struct StateBytes {
  std::uint64_t weights = 0;
  std::uint64_t gradients = 0;
  std::uint64_t optimizer = 0;
  std::uint64_t total() const { return weights + gradients + optimizer; }
};
StateBytes state_bytes(const Tape& tape, Optimizer optimizer, bool master_weights,
                       const StateSharding& sharding);

}  // namespace ebb::plan
