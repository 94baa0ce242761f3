// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sum/block.h"
#include "sum/element.h"
#include "sum/storage.h"

namespace ebb::sum {

/// Code::bad_input that names the first element which is not finite, or an integer beyond 2^53.
base::Status check(ElementType type, std::size_t elements, const void* values);

/// The weighted mean of tensors of one size, added one by one, in any order, by any thread: the
/// result has the same bits. Sums of products and of weights are exact; each element of the mean is
/// the quotient of the two, rounded to a double, then to its type. 8 bytes per element and 1 in 50
/// more; blocks of 128 elements whose contributions spread over more than 63 bits take 16 bytes per
/// element, or what they need. A contribution of the negative weight takes one back. Thread-safe.
/// In a child that is forked while another thread adds to a sum or reads it, that sum is of no use:
/// calls fail with Code::unavailable. A fork does not wait for tensors.
class TensorSum {
 public:
  static base::Result<std::unique_ptr<TensorSum>> create(std::size_t elements);

  /// Adds weight * values. Code::bad_input, with nothing added, for what is not finite, integers
  /// beyond 2^53 and a weight that is not finite. Code::out_of_memory leaves a sum that only can be
  /// destroyed.
  base::Status add(ElementType type, const void* values, double weight) EBB_EXCLUDES(mutex_);

  /// The mean, into as many elements of a floating-point type. `release` frees the sums while it
  /// reads, so that memory for both is never needed at once; the sum is then empty, as new.
  /// Code::bad_input where the weights add up to 0.
  base::Status mean(ElementType type, void* values, bool release) EBB_EXCLUDES(mutex_);

  /// Whether a fork left this sum in the middle of a call. It can only be forgotten then, not even
  /// destroyed.
  bool is_cut() const;

  std::size_t elements() const { return elements_; }
  std::uint64_t additions() const EBB_EXCLUDES(mutex_);
  double weight() const EBB_EXCLUDES(mutex_);
  /// Of memory, those not yet touched included.
  std::size_t bytes() const EBB_EXCLUDES(mutex_);

 private:
  TensorSum(std::size_t elements, Storage storage);

  /// Holds the mutex, and says to a child in which process its holder is.
  class EBB_SCOPED_CAPABILITY Use {
   public:
    explicit Use(const TensorSum& sum) EBB_ACQUIRE(sum.mutex_);
    ~Use() EBB_RELEASE();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    const TensorSum& sum_;
  };

  std::size_t count_in(std::size_t block) const;

  /// Adds to the first `blocks` blocks. `added`: how many of them it got to; fewer where it says
  /// which element cannot be summed. Throws std::bad_alloc.
  base::Status add_blocks(ElementType type, const void* values, double weight, std::size_t blocks,
                          std::size_t& added) EBB_REQUIRES(mutex_);

  const std::size_t elements_;

  mutable base::Mutex mutex_;
  mutable std::atomic<std::uint64_t> used_in_{
      0};  ///< the holder's fork_generation() + 1; 0: nobody
  Storage storage_ EBB_GUARDED_BY(mutex_);
  std::vector<Block> blocks_ EBB_GUARDED_BY(mutex_);
  Block weights_ EBB_GUARDED_BY(mutex_);
  std::int64_t narrow_weights_ EBB_GUARDED_BY(mutex_) = 0;
  std::uint64_t additions_ EBB_GUARDED_BY(mutex_) = 0;
  bool broken_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::sum
