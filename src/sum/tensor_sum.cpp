// SPDX-License-Identifier: Apache-2.0
#include "sum/tensor_sum.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "base/fork.h"

namespace ebb::sum {
namespace {

constexpr std::size_t kElements = Block::kElements;
/// Memory is given back in portions, each a huge page.
constexpr std::size_t kBlocksPerRelease = 2048;

base::Error broken() {
  return base::error(base::Code::out_of_memory,
                     "memory ran out in the middle of an addition: this sum cannot be used");
}

base::Error cut() {
  return base::error(base::Code::unavailable,
                     "this process was forked while another thread used this sum: it is half done");
}

base::Status check_loaded(ElementType type, const double* loaded, std::size_t count,
                          std::size_t first) {
  const std::size_t unusable = first_unusable(type, loaded, count);
  if (unusable == count) return {};
  return base::error(base::Code::bad_input, "element %zu is %g: expected finite numbers%s",
                     first + unusable, loaded[unusable],
                     type == ElementType::int64 ? " up to 2^53" : "");
}

}  // namespace

base::Status check(ElementType type, std::size_t elements, const void* values) {
  if (all_finite(type, elements, values)) return {};
  double loaded[kElements];
  for (std::size_t first = 0; first < elements; first += kElements) {
    const std::size_t count = std::min(kElements, elements - first);
    load(type, values, first, count, loaded);
    if (const base::Status usable = check_loaded(type, loaded, count, first); !usable)
      return usable;
  }
  return {};
}

base::Result<std::unique_ptr<TensorSum>> TensorSum::create(std::size_t elements) {
  auto storage = Storage::create(elements);
  if (!storage) return storage.error();
  return std::unique_ptr<TensorSum>(new TensorSum(elements, *std::move(storage)));
}

TensorSum::TensorSum(std::size_t elements, Storage storage)
    : elements_(elements),
      storage_(std::move(storage)),
      blocks_((elements + kElements - 1) / kElements) {}

TensorSum::Use::Use(const TensorSum& sum) : sum_(sum) {
  sum_.mutex_.lock();
  sum_.used_in_ = base::fork_generation() + 1;
}

TensorSum::Use::~Use() {
  sum_.used_in_ = 0;
  sum_.mutex_.unlock();
}

bool TensorSum::is_cut() const {
  const std::uint64_t used_in = used_in_;
  return used_in != 0 && used_in != base::fork_generation() + 1;
}

std::size_t TensorSum::count_in(std::size_t block) const {
  return std::min(kElements, elements_ - block * kElements);
}

base::Status TensorSum::add(ElementType type, const void* values, double weight) {
  if (!std::isfinite(weight))
    return base::error(base::Code::bad_input, "weight %g: expected a finite number", weight);
  if (is_cut()) return cut();
  const Use use(*this);
  if (broken_) return broken();
  try {
    ++additions_;
    std::size_t added = 0;
    if (base::Status usable = add_blocks(type, values, weight, blocks_.size(), added); !usable) {
      // Sums are exact: what is taken back leaves nothing behind.
      std::size_t taken = 0;
      broken_ = !add_blocks(type, values, -weight, added, taken);
      --additions_;
      return usable;
    }
    weights_.add(&narrow_weights_, &weight, 1, std::fabs(weight), Weight(1), true, additions_);
  } catch (const std::bad_alloc&) {
    broken_ = true;
    return broken();
  }
  return {};
}

base::Status TensorSum::add_blocks(ElementType type, const void* values, double weight,
                                   std::size_t blocks, std::size_t& added) {
  const Weight parts(weight);
  const bool exact_products = significant_bits(type) + parts.bits <= 53;
  double loaded[kElements];
  for (added = 0; added < blocks; ++added) {
    const std::size_t first = added * kElements;
    const std::size_t count = count_in(added);
    load(type, values, first, count, loaded);
    // Here and not before all else: a tensor is read from memory once.
    const double largest = largest_magnitude(type, values, first, count, loaded);
    if (!std::isfinite(largest)) return check_loaded(type, loaded, count, first);
    blocks_[added].add(storage_.data() + first, loaded, count, largest, parts, exact_products,
                       additions_);
  }
  return {};
}

base::Status TensorSum::mean(ElementType type, void* values, bool release) {
  if (is_cut()) return cut();
  const Use use(*this);
  if (broken_) return broken();
  double total = 0;
  weights_.read(&narrow_weights_, 1, 1, &total);
  if (total == 0) return base::error(base::Code::bad_input, "the weights add up to 0");
  double read[kElements];
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const std::size_t count = count_in(block);
    blocks_[block].read(storage_.data() + block * kElements, count, total, read);
    store(type, read, count, values, block * kElements);
    if (!release) continue;
    blocks_[block] = Block();
    if (block % kBlocksPerRelease == 0) storage_.release_before(block * kElements);
  }
  if (release) {
    storage_.release_all();
    weights_ = Block();
    narrow_weights_ = 0;
    additions_ = 0;
  }
  return {};
}

std::uint64_t TensorSum::additions() const {
  if (is_cut()) return 0;
  const Use use(*this);
  return additions_;
}

double TensorSum::weight() const {
  if (is_cut()) return 0;
  const Use use(*this);
  double total = 0;
  weights_.read(&narrow_weights_, 1, 1, &total);
  return total;
}

std::size_t TensorSum::bytes() const {
  if (is_cut()) return 0;
  const Use use(*this);
  std::size_t bytes = elements_ * sizeof(std::int64_t) + blocks_.size() * sizeof(Block);
  for (std::size_t block = 0; block < blocks_.size(); ++block)
    bytes += blocks_[block].extra_bytes(count_in(block));
  return bytes;
}

}  // namespace ebb::sum
