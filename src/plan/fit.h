// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace ebb::plan {

/// A way to make a plan fit: one or more changes at once.
struct FittingChange {
  std::vector<std::string> changes;  ///< e.g. "--checkpoint full"
  double slowdown_percent = 0;       ///< a rule of thumb, not a measurement
  bool changes_results = false;      ///< numbers of the training itself differ
  Plan plan;
};

/// What fits into `cap` bytes of a device.
struct Fit {
  std::uint64_t cap = 0;
  Plan plan;  ///< as asked for
  bool fits = false;
  std::uint64_t largest_batch = 0;     ///< with the sequence asked for; 0: not even one
  std::uint64_t largest_sequence = 0;  ///< with the batch asked for; 0: not even one
  std::vector<FittingChange> changes;  ///< cheapest first; empty when it fits anyway
};

/// Whether a plan's device bytes and their error stay within `cap`.
bool fits(const Plan& plan, std::uint64_t cap);

/// Asked between two plans of a search: whether nobody needs what is looked for any more.
using Stops = std::function<bool()>;

/// Searches batch, sequence and changes. Fails as plan() does; Code::unavailable where it was
/// stopped.
base::Result<Fit> fit(const TransformerRequest& request, std::uint64_t cap,
                      const Stops& stops = {});

struct NetworkFit {
  std::uint64_t cap = 0;
  Plan plan;
  bool fits = false;
  std::uint64_t largest_batch = 0;
};
base::Result<NetworkFit> fit(const NetworkRequest& request, std::uint64_t cap,
                             const Stops& stops = {});

base::Json to_json(const Fit& fit);
base::Json to_json(const NetworkFit& fit);

/// The plan, with what fits under "fit".
base::Json plan_json(const Fit& fit);
base::Json plan_json(const NetworkFit& fit);

/// How many clients that each train `plan` at once, in one process, fit into `available` bytes.
struct ParallelClients {
  std::uint64_t count = 0;
  std::uint64_t per_client = 0;  ///< bytes
  std::uint64_t shared = 0;      ///< bytes that are there once
  std::uint64_t available = 0;
};

/// On a GPU: each client has its stream, and with it workspaces of its own; the context is shared.
ParallelClients clients_on_gpu(const Plan& plan, std::uint64_t available);
/// On the processor: only tensors count.
ParallelClients clients_on_host(const Plan& plan, std::uint64_t available);

base::Json to_json(const ParallelClients& clients);

}  // namespace ebb::plan
