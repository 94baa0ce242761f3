// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/torch_card.h"

#include <dlfcn.h>

#include <chrono>
#include <thread>

#include "fl/torch/backend.h"
#if __has_include(<torch/headeronly/version.h>)
#include <ATen/DeviceAccelerator.h>
#define EBB_TELLS_WHAT_IT_CACHES
#endif

namespace ebb::fl {
namespace {

class TorchCard final : public Card {
 public:
  std::uint32_t index() const override { return 0; }

  std::optional<CardMemory> read() override {
#ifdef EBB_TELLS_WHAT_IT_CACHES
    // CUDA's own library is there where libtorch uses it; its headers need not be.
    using GetInfo = int (*)(std::size_t * free, std::size_t * total);
    static const auto get_info = reinterpret_cast<GetInfo>(::dlsym(RTLD_DEFAULT, "cudaMemGetInfo"));
    std::size_t free = 0;
    std::size_t total = 0;
    if (get_info == nullptr || get_info(&free, &total) != 0) return std::nullopt;
    const auto stats = at::accelerator::getDeviceStats(0);
    const auto reserved = static_cast<std::uint64_t>(stats.reserved_bytes.front().current);
    const auto in_use = static_cast<std::uint64_t>(stats.active_bytes.front().current);
    return CardMemory{total, free, reserved, reserved - in_use};
#else
    return std::nullopt;
#endif
  }

  void empty_cache() override {
    empty_device_cache();
  }

  void wait(double seconds) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
};

}  // namespace

std::unique_ptr<Card> torch_card() {
  return std::make_unique<TorchCard>();
}

}  // namespace ebb::fl
