// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/prefetch.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace ebb::fl {
namespace {

/// How often the thread that gathers looks whether a place has been read. A step takes
/// milliseconds.
constexpr std::chrono::microseconds kPause(20);

c10::Stream present_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace

Prefetch::Prefetch(const DeviceSplit& split, const Way& way, Samples samples)
    : split_(split), way_(way), samples_(std::move(samples)), relay_(way.ahead, way.count) {
  const at::Device device = split.device();
  const auto places = static_cast<std::int64_t>(std::max<std::size_t>(way.ahead, 1));
  const auto bytes = static_cast<std::int64_t>(split.bytes_of(way.size));
  // In one piece, so that there is room for all of them or none.
  const at::Tensor host = staging({places, bytes}, at::kByte, device);
  const at::Tensor there =
      device.is_cpu()
          ? host
          : at::empty({places, bytes}, at::TensorOptions().dtype(at::kByte).device(device));
  if (!device.is_cpu())
    stream_ = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  for (std::int64_t i = 0; i < places; ++i) {
    Place& place = places_.emplace_back(
        Place{host[i], there[i], c10::Event(device.type()), c10::Event(device.type())});
    // Memory that was had from a cache may be in use until here.
    if (stream_) place.is_clear.record(present_stream(device));
  }
  thread_ = std::thread([this] { gather(); });
}

Prefetch::~Prefetch() {
  relay_.stop();
  thread_.join();
  if (!stream_) return;
  // The memory goes back to the cache of this thread's stream.
  for (const Place& place : places_)
    place.arrives.block(present_stream(split_.device()));
}

DeviceSplit::Batch Prefetch::next() {
  const bool on_card = stream_.has_value();
  const at::Device device = split_.device();
  if (on_card && used_ != nullptr) used_->is_clear.record(present_stream(device));
  used_ = nullptr;
  used_ = &places_[relay_.take() % places_.size()];
  if (on_card) used_->arrives.block(present_stream(device));
  return split_.batch_in(used_->there, way_.size);
}

void Prefetch::gather() {
  try {
    std::vector<std::uint32_t> samples(way_.size);
    while (const auto batch = relay_.begin()) {
      Place& place = places_[*batch % places_.size()];
      samples_(*batch, samples);
      while (stream_ && !place.arrives.query())
        std::this_thread::sleep_for(kPause);
      split_.gather(samples, place.host.data_ptr<std::uint8_t>());
      send(place);
      relay_.done();
    }
  } catch (...) {
    relay_.fail(std::current_exception());
  }
}

void Prefetch::send(Place& place) const {
  if (!stream_) return;
  const at::NoGradGuard no_gradients;
  const c10::StreamGuard on_its_own(*stream_);
  place.is_clear.block(*stream_);
  place.there.copy_(place.host, /*non_blocking=*/true);
  place.arrives.record(*stream_);
}

}  // namespace ebb::fl
