// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cache/core.h"

namespace ebb::cache {
namespace {

base::Error no_such_pool(PoolId id) {
  return base::error(base::Code::not_found, "pool (%llu, %llu) does not exist",
                     static_cast<unsigned long long>(id.first),
                     static_cast<unsigned long long>(id.second));
}

}  // namespace

void Core::set_up_pool(PoolPair& pools, PrivatePool* owner) {
  pools.small.small = true;
  for (Pool* half : {&pools.small, &pools.large}) {
    half->owner = owner;
    refresh_pool(*half);
  }
}

void Core::refresh_pool(Pool& pool) const {
  const PrivatePool* owner = pool.owner;
  const bool custom = owner != nullptr && owner->options.source != nullptr;
  const bool on = settings_.expandable_segments;
  // Up to 2.9 the option alone decides how finely blocks are split.
  const bool fine = on && !(custom && profile_.at_least(10));
  pool.expandable = on && owner == nullptr;
  if (on && owner != nullptr) {
    switch (profile_.private_expandable) {
      case PrivateExpandable::off:
      case PrivateExpandable::refused:
        pool.expandable = false;
        break;
      case PrivateExpandable::refused_custom:
      case PrivateExpandable::plain_custom:
        pool.expandable = !custom;
        break;
    }
  }
  pool.least_remainder = pool.small || fine ? kMinBlock : kSmallLimit + 1;
  pool.split_below = pool.small || fine ? kUnlimited : settings_.max_split_size;
  if (owner != nullptr && owner->options.no_split && profile_.at_least(10)) pool.split_below = 0;
}

void Core::refresh_pools() {
  refresh_pool(default_.small);
  refresh_pool(default_.large);
  for (const auto& [id, pool] : private_pools_) {
    refresh_pool(pool->pools.small);
    refresh_pool(pool->pools.large);
  }
}

PoolPair& Core::route(StreamId stream) {
  const auto taken = [&](const Scope& scope) { return scope.filter(stream); };
  const Scope* scope = nullptr;
  if (profile_.newest_scope_first()) {
    const auto at = std::find_if(scopes_.rbegin(), scopes_.rend(), taken);
    if (at != scopes_.rend()) scope = &*at;
  } else {
    const auto at = std::find_if(scopes_.begin(), scopes_.end(), taken);
    if (at != scopes_.end()) scope = &*at;
  }
  PrivatePool* pool = scope != nullptr ? find_pool(scope->id) : nullptr;
  return pool != nullptr ? pool->pools : default_;
}

PrivatePool* Core::find_pool(PoolId id) const {
  const auto at = private_pools_.find(id);
  return at == private_pools_.end() ? nullptr : at->second.get();
}

PoolId Core::next_pool_id(bool for_graph) {
  if (for_graph) return {counters_->graph_pools.fetch_add(1, std::memory_order_relaxed), 0};
  return {0, counters_->user_pools.fetch_add(1, std::memory_order_relaxed)};
}

base::Status Core::retain_pool(PoolId id, const PrivatePoolOptions& options) {
  if (id.is_default()) {
    return base::error(base::Code::bad_input, "pool (0, 0) is the default pool");
  }
  if (PrivatePool* pool = find_pool(id)) {
    if (pool->uses == 0) {
      return base::error(base::Code::bad_input, "pool (%llu, %llu) was released already",
                         static_cast<unsigned long long>(id.first),
                         static_cast<unsigned long long>(id.second));
    }
    ++pool->uses;
    return {};
  }
  auto pool = std::make_unique<PrivatePool>();
  pool->id = id;
  pool->options = options;
  set_up_pool(pool->pools, pool.get());
  private_pools_.emplace(id, std::move(pool));
  return {};
}

base::Status Core::release_pool(PoolId id) {
  PrivatePool* pool = find_pool(id);
  if (pool == nullptr || pool->uses == 0) return no_such_pool(id);
  if (--pool->uses == 0) freeable_.push_back(pool);
  return {};
}

base::Status Core::empty_pool(PoolId id) {
  if (id.is_default()) return empty_cache();
  release_all(id, in_capture(0));
  return {};
}

base::Status Core::begin_scope(PoolId id, std::function<bool(StreamId)> filter) {
  const bool open = std::any_of(scopes_.begin(), scopes_.end(),
                                [&](const Scope& scope) { return scope.id == id; });
  if (open) {
    return base::error(base::Code::bad_input, "pool (%llu, %llu) is being allocated to already",
                       static_cast<unsigned long long>(id.first),
                       static_cast<unsigned long long>(id.second));
  }
  if (auto retained = retain_pool(id); !retained) return retained;
  scopes_.push_back({id, std::move(filter)});
  return {};
}

base::Status Core::end_scope(PoolId id) {
  const auto at = std::find_if(scopes_.begin(), scopes_.end(),
                               [&](const Scope& scope) { return scope.id == id; });
  if (at == scopes_.end()) return no_such_pool(id);
  scopes_.erase(at);
  if (settings_.graph_capture_record_stream_reuse && profile_.completes_deferred_at_scope_end()) {
    complete_deferred_of(find_pool(id));
  }
  return {};
}

void Core::set_use_on_oom(PoolId id, bool on) {
  if (PrivatePool* pool = find_pool(id)) pool->options.use_on_oom = on;
}

int Core::pool_uses(PoolId id) const {
  const PrivatePool* pool = find_pool(id);
  return pool == nullptr ? 0 : pool->uses;
}

}  // namespace ebb::cache
