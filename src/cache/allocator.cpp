// SPDX-License-Identifier: Apache-2.0
#include "cache/allocator.h"

#include "cache/summary.h"

namespace ebb::cache {

base::Result<std::unique_ptr<Allocator>> Allocator::create(device::Driver& driver, int device,
                                                           CoreOptions options) {
  std::unique_ptr<Allocator> allocator(new Allocator);
  options.lock_break = allocator.get();
  auto core = Core::create(driver, device, options);
  if (!core) return core.error();
  allocator->device_ = device;
  allocator->profile_ = options.profile;
  allocator->info_ = (*core)->info();
  const FastLock lock(allocator->mutex_);
  allocator->core_ = std::move(*core);
  return allocator;
}

Address Allocator::try_allocate(std::uint64_t bytes, StreamId stream, Failure* failure) {
  mutex_.lock();
  const Address address = core_->allocate(bytes, stream);
  if (address == 0) [[unlikely]]
    return fail(failure);
  mutex_.unlock();
  return address;
}

Address Allocator::fail(Failure* failure) {
  if (failure != nullptr) *failure = core_->last_failure();
  mutex_.unlock();
  return 0;
}

base::Result<Address> Allocator::allocate(std::uint64_t bytes, StreamId stream) {
  Failure failure;
  const Address address = try_allocate(bytes, stream, &failure);
  if (address != 0 || failure.kind == FailureKind::none) return address;
  return error_of(failure, profile_, settings().expandable_segments);
}

bool Allocator::free(Address address) {
  const FastLock lock(mutex_);
  return core_->free(address);
}

bool Allocator::record_stream(Address address, StreamId stream) {
  const FastLock lock(mutex_);
  return core_->record_stream(address, stream);
}

std::uint64_t Allocator::size_of(Address address) const {
  const FastLock lock(mutex_);
  return core_->size_of(address);
}

MemoryRange Allocator::segment_of(Address address) const {
  const FastLock lock(mutex_);
  return core_->segment_of(address);
}

base::Status Allocator::empty_cache() {
  const FastLock lock(mutex_);
  return core_->empty_cache();
}

base::Status Allocator::set_memory_fraction(double fraction) {
  const FastLock lock(mutex_);
  return core_->set_memory_fraction(fraction);
}

std::uint64_t Allocator::limit() const {
  const FastLock lock(mutex_);
  return core_->limit();
}

base::Status Allocator::apply(std::string_view settings) {
  const FastLock lock(mutex_);
  const auto parsed = parse_settings(settings, profile_, core_->settings());
  if (!parsed) return parsed.error();
  core_->apply(*parsed);
  return {};
}

void Allocator::apply(const Settings& settings) {
  const FastLock lock(mutex_);
  core_->apply(settings);
}

Settings Allocator::settings() const {
  const FastLock lock(mutex_);
  return core_->settings();
}

PoolId Allocator::next_pool_id(bool for_graph) {
  const FastLock lock(mutex_);
  return core_->next_pool_id(for_graph);
}

base::Status Allocator::retain_pool(PoolId id, const PrivatePoolOptions& options) {
  const FastLock lock(mutex_);
  return core_->retain_pool(id, options);
}

base::Status Allocator::release_pool(PoolId id) {
  const FastLock lock(mutex_);
  return core_->release_pool(id);
}

base::Status Allocator::empty_pool(PoolId id) {
  const FastLock lock(mutex_);
  return core_->empty_pool(id);
}

base::Status Allocator::begin_scope(PoolId id, std::function<bool(StreamId)> filter) {
  const FastLock lock(mutex_);
  return core_->begin_scope(id, std::move(filter));
}

base::Status Allocator::end_scope(PoolId id) {
  const FastLock lock(mutex_);
  return core_->end_scope(id);
}

void Allocator::set_use_on_oom(PoolId id, bool on) {
  const FastLock lock(mutex_);
  core_->set_use_on_oom(id, on);
}

int Allocator::pool_uses(PoolId id) const {
  const FastLock lock(mutex_);
  return core_->pool_uses(id);
}

StatsTable Allocator::memory_stats() const {
  const FastLock lock(mutex_);
  return cache::memory_stats(core_->stats(), core_->private_reserved(), profile_);
}

Stats Allocator::stats() const {
  const FastLock lock(mutex_);
  return core_->stats();
}

std::uint64_t Allocator::reserved() const {
  const FastLock lock(mutex_);
  return core_->reserved();
}

std::uint64_t Allocator::largest_free() const {
  const FastLock lock(mutex_);
  return core_->largest_free();
}

void Allocator::reset_peaks() {
  const FastLock lock(mutex_);
  core_->reset_peaks();
}

void Allocator::reset_sums() {
  const FastLock lock(mutex_);
  core_->reset_sums();
}

std::string Allocator::memory_summary(bool abbreviated) const {
  return cache::memory_summary(stats(), device_, abbreviated);
}

void Allocator::record_history(const HistoryOptions& options) {
  const FastLock lock(mutex_);
  core_->record_history(options);
}

Snapshot Allocator::snapshot() {
  Snapshot snapshot;
  add_to(snapshot);
  return snapshot;
}

void Allocator::add_to(Snapshot& snapshot) {
  const FastLock lock(mutex_);
  add_device(snapshot, *core_);
}

}  // namespace ebb::cache
