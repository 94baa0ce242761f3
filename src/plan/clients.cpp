// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/fit.h"

namespace ebb::plan {
namespace {

ParallelClients clients(std::uint64_t per_client, std::uint64_t shared, std::uint64_t available) {
  ParallelClients result;
  result.per_client = per_client;
  result.shared = shared;
  result.available = available;
  if (available > shared)
    result.count = (available - shared) / std::max<std::uint64_t>(result.per_client, 1);
  return result;
}

}  // namespace

ParallelClients clients_on_gpu(const Plan& plan, std::uint64_t available) {
  return clients(plan.reserved() + plan.surroundings.workspaces + plan.error_bytes(),
                 plan.surroundings.context, available);
}

ParallelClients clients_on_host(const Plan& plan, std::uint64_t available) {
  return clients(plan.peak() + plan.error_bytes(), 0, available);
}

base::Json to_json(const ParallelClients& clients) {
  return base::Json::object({{"count", clients.count},
                             {"per_client_bytes", clients.per_client},
                             {"shared_bytes", clients.shared},
                             {"available_bytes", clients.available}});
}

}  // namespace ebb::plan
