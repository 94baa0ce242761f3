// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/result.h"

namespace ebb::fl {

/// A few kernels of our own, compiled for the card that is here when they are first asked for, by
/// the compiler (NVRTC) that libtorch brings along. Everything is found at run time. Whoever uses
/// them does the same with libtorch's operations where there are none, to the same bits: no
/// multiplication and addition is contracted. Thread-safe.
class CardKernels {
 public:
  enum class Name : std::uint8_t {
    column_sums,
    column_products,
    normalise,
    normalise_back,
    windows,
    windows_of_four,
    windows_back,
    windows_back_of_four,
    rectify,
    rectify_and_pool,
    rectify_and_pool_back,
    dropout_mask,
    measure_moves,
    add_moves
  };
  static constexpr std::size_t kNames = 14;

  /// Null where `device` is no card, where there is no compiler, or where the environment variable
  /// EBB_CARD_KERNELS is 0.
  static const CardKernels* of(at::Device device);

  /// Once in a process: one line where those that are wanted cannot be had; else "". Where a card
  /// computes.
  static std::string line_of_their_absence();

  struct Size {
    std::int64_t x = 1;
    std::int64_t y = 1;
  };

  /// One parameter of a kernel: a tensor's memory (null where it is undefined), or a number.
  class Argument {
   public:
    Argument(const at::Tensor& tensor) : pointer_(tensor.defined() ? tensor.data_ptr() : nullptr) {}
    Argument(std::int64_t number) : number_(number), is_number_(true) {}
    const void* place() const {
      return is_number_ ? static_cast<const void*>(&number_) : static_cast<const void*>(&pointer_);
    }

   private:
    void* pointer_ = nullptr;
    std::int64_t number_ = 0;
    bool is_number_ = false;
  };

  /// Has the card run one after what it was given before, on libtorch's default stream. Throws what
  /// libtorch throws.
  void run(Name name, Size blocks, Size threads, std::initializer_list<Argument> arguments) const;

 private:
  struct Choice {
    const CardKernels* kernels = nullptr;
    std::string why_none{};  ///< "" where nobody wants them
  };

  CardKernels() = default;
  static const Choice& choice();
  base::Status load();

  struct Driver;
  const Driver* driver_ = nullptr;
  void* context_ = nullptr;
  std::array<void*, kNames> functions_{};
};

}  // namespace ebb::fl
