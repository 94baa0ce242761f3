// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cache/pool.h"

namespace ebb::cache {

/// The private pools of one device: which there are, who uses them, and which requests go to them.
/// What they hold is their owner's business. Not thread-safe.
class PrivatePools {
 public:
  /// Everything given outlives this object; `settings` may change, followed by refresh().
  PrivatePools(const Settings& settings, const VersionProfile& profile, ProcessCounters& counters)
      : settings_(settings), profile_(profile), counters_(counters) {}

  /// A new name: a user's pool, or a graph's own.
  PoolId next_id(bool for_graph);
  /// Makes the pool, or adds a use to it. Fails when it was released already.
  base::Status retain(PoolId id, const PrivatePoolOptions& options = {});
  /// Takes one use away; without uses a pool is freeable.
  base::Status release(PoolId id);
  /// 0 where there is no such pool.
  int uses(PoolId id) const;
  void set_use_on_oom(PoolId id, bool on);

  /// Requests that `filter` accepts go to the pool (which gets a use) until end_scope.
  base::Status begin_scope(PoolId id, std::function<bool(StreamId)> filter);
  /// Leaves the use to release().
  base::Status end_scope(PoolId id);
  /// Whether requests may go anywhere but to the default pool. Read on every request.
  bool has_scopes() const { return !scopes_.empty(); }
  /// The pool that a request on `stream` goes to; null: the default pool.
  PrivatePool* route(StreamId stream) const;

  /// Null where there is none.
  PrivatePool* find(PoolId id) const;
  const std::map<PoolId, std::unique_ptr<PrivatePool>>& all() const { return pools_; }
  /// Without uses, in order of their last release.
  const std::vector<PrivatePool*>& freeable() const { return freeable_; }
  /// Takes away a freeable pool that holds nothing any more.
  void discard(PrivatePool* pool);

  /// The settings changed: what follows from them for the pools.
  void refresh();

 private:
  struct Scope {
    PoolId id;
    std::function<bool(StreamId)> filter;
  };

  std::vector<Scope> scopes_;  ///< oldest first
  std::map<PoolId, std::unique_ptr<PrivatePool>> pools_;
  std::vector<PrivatePool*> freeable_;
  const Settings& settings_;
  const VersionProfile& profile_;
  ProcessCounters& counters_;
};

}  // namespace ebb::cache
