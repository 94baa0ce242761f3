// SPDX-License-Identifier: Apache-2.0
#include "fl/memory_plan.h"

namespace ebb::fl {
namespace {

template <class Wanted>
std::uint64_t sum_of(const std::vector<MemoryItem>& items, Wanted wanted) {
  std::uint64_t sum = 0;
  for (const MemoryItem& item : items)
    if (wanted(item)) sum += item.bytes;
  return sum;
}

}  // namespace

std::uint64_t MemoryPlan::fixed() const {
  return sum_of(items, [](const MemoryItem& item) {
    return !item.on_disk && !item.on_card && !item.per_client;
  });
}

std::uint64_t MemoryPlan::per_client() const {
  return sum_of(items, [](const MemoryItem& item) {
    return !item.on_disk && !item.on_card && item.per_client;
  });
}

std::uint64_t MemoryPlan::card_total() const {
  std::uint64_t sum = 0;
  for (const MemoryItem& item : items)
    if (item.on_card) sum += item.bytes * (item.per_client ? parallel_clients : 1);
  return sum;
}

base::Json to_json(const MemoryPlan& plan) {
  base::Json items = base::Json::array();
  for (const MemoryItem& item : plan.items) {
    items.push(base::Json::object({{"purpose", item.purpose},
                                   {"bytes", item.bytes},
                                   {"per_client", item.per_client},
                                   {"on_disk", item.on_disk},
                                   {"on_card", item.on_card}}));
  }
  return base::Json::object({{"items", std::move(items)},
                             {"fixed_bytes", plan.fixed()},
                             {"per_client_bytes", plan.per_client()},
                             {"parallel_clients", std::uint64_t{plan.parallel_clients}},
                             {"total_bytes", plan.total()},
                             {"available_bytes", plan.available},
                             {"available_from", plan.available_from},
                             {"card_bytes", plan.card_total()},
                             {"card_available_bytes", plan.card_available}});
}

}  // namespace ebb::fl
