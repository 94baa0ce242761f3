// SPDX-License-Identifier: Apache-2.0
#include "cache/private_pools.h"

#include <algorithm>

namespace ebb::cache {
namespace {

base::Error about_pool(base::Code code, PoolId id, const char* what) {
  return base::error(code, "pool (%llu, %llu) %s", static_cast<unsigned long long>(id.first),
                     static_cast<unsigned long long>(id.second), what);
}

base::Error no_such_pool(PoolId id) {
  return about_pool(base::Code::not_found, id, "does not exist");
}

}  // namespace

PoolId PrivatePools::next_id(bool for_graph) {
  if (for_graph) return {counters_.graph_pools.fetch_add(1, std::memory_order_relaxed), 0};
  return {0, counters_.user_pools.fetch_add(1, std::memory_order_relaxed)};
}

base::Status PrivatePools::retain(PoolId id, const PrivatePoolOptions& options) {
  if (id.is_default()) return about_pool(base::Code::bad_input, id, "is the default pool");
  if (PrivatePool* pool = find(id)) {
    if (pool->uses == 0) return about_pool(base::Code::bad_input, id, "was released already");
    ++pool->uses;
    return {};
  }
  auto pool = std::make_unique<PrivatePool>();
  pool->id = id;
  pool->options = options;
  set_up(pool->pools, pool.get());
  refresh_rules(pool->pools, settings_, profile_);
  pools_.emplace(id, std::move(pool));
  return {};
}

base::Status PrivatePools::release(PoolId id) {
  PrivatePool* pool = find(id);
  if (pool == nullptr || pool->uses == 0) return no_such_pool(id);
  if (--pool->uses == 0) freeable_.push_back(pool);
  return {};
}

int PrivatePools::uses(PoolId id) const {
  const PrivatePool* pool = find(id);
  return pool == nullptr ? 0 : pool->uses;
}

void PrivatePools::set_use_on_oom(PoolId id, bool on) {
  if (PrivatePool* pool = find(id)) pool->options.use_on_oom = on;
}

base::Status PrivatePools::begin_scope(PoolId id, std::function<bool(StreamId)> filter) {
  const bool open = std::any_of(scopes_.begin(), scopes_.end(),
                                [&](const Scope& scope) { return scope.id == id; });
  if (open) return about_pool(base::Code::bad_input, id, "is being allocated to already");
  if (auto retained = retain(id); !retained) return retained;
  scopes_.push_back({id, std::move(filter)});
  return {};
}

base::Status PrivatePools::end_scope(PoolId id) {
  const auto at = std::find_if(scopes_.begin(), scopes_.end(),
                               [&](const Scope& scope) { return scope.id == id; });
  if (at == scopes_.end()) return no_such_pool(id);
  scopes_.erase(at);
  return {};
}

PrivatePool* PrivatePools::route(StreamId stream) const {
  const auto taken = [&](const Scope& scope) { return scope.filter(stream); };
  if (profile_.newest_scope_first()) {
    const auto at = std::find_if(scopes_.rbegin(), scopes_.rend(), taken);
    return at == scopes_.rend() ? nullptr : find(at->id);
  }
  const auto at = std::find_if(scopes_.begin(), scopes_.end(), taken);
  return at == scopes_.end() ? nullptr : find(at->id);
}

PrivatePool* PrivatePools::find(PoolId id) const {
  const auto at = pools_.find(id);
  return at == pools_.end() ? nullptr : at->second.get();
}

void PrivatePools::discard(PrivatePool* pool) {
  std::erase(freeable_, pool);
  pools_.erase(pool->id);
}

void PrivatePools::refresh() {
  for (const auto& [id, pool] : pools_) {
    refresh_rules(pool->pools, settings_, profile_);
  }
}

}  // namespace ebb::cache
