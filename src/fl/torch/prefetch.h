// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "fl/relay.h"
#include "fl/torch/device_split.h"

namespace ebb::fl {

/// Batches of a split that a device does not hold, some of them on their way there while it is busy
/// with those before: a thread gathers them on the host, in memory that a card reads by itself, and
/// sends them on a stream of their own, for which that of the calling thread waits. Not
/// thread-safe. The split outlives it.
class Prefetch {
 public:
  /// Says which samples are in a batch. Asked in the order of the batches, on another thread.
  using Samples = std::function<void(std::size_t batch, std::span<std::uint32_t> samples)>;
  struct Way {
    std::size_t size = 0;   ///< samples in each batch
    std::size_t count = 0;  ///< batches
    std::size_t ahead = 0;  ///< room for so many, with the one in use; at least one
  };

  /// Throws where there is no room, or no thread to be had.
  Prefetch(const DeviceSplit& split, const Way& way, Samples samples);
  /// What is still on its way does not arrive any more.
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next batch; `count` of them come. Of its pixels nothing may be begun any more after the
  /// next call. Throws what the other thread did.
  DeviceSplit::Batch next();

 private:
  struct Place {
    at::Tensor host;
    at::Tensor there;     ///< the same bytes on the device; on the host the same tensor
    c10::Event arrives;   ///< of what was sent last
    c10::Event is_clear;  ///< of what was there before
  };

  void gather();
  void send(Place& place) const;

  const DeviceSplit& split_;
  const Way way_;
  const Samples samples_;
  std::vector<Place> places_;
  std::optional<c10::Stream> stream_;  ///< none on the host
  Place* used_ = nullptr;
  Relay relay_;
  std::thread thread_;
};

}  // namespace ebb::fl
