// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "capi/runtime.h"
#include "sum/tensor_sum.h"

using namespace ebb;
using capi::fail;
using capi::guarded;

struct ebb_sum {
  std::unique_ptr<sum::TensorSum> sum;
};

namespace {

int answer(const base::Status& status) {
  return status ? static_cast<int>(EBB_OK) : fail(status.error());
}

}  // namespace

int ebb_sum_create(uint64_t elements, ebb_sum** sum) {
  return guarded([&] {
    if (sum == nullptr) return fail(base::error(base::Code::bad_input, "sum is null"));
    auto made = sum::TensorSum::create(elements);
    if (!made) return fail(made.error());
    *sum = new ebb_sum{*std::move(made)};
    return static_cast<int>(EBB_OK);
  });
}

void ebb_sum_destroy(ebb_sum* sum) {
  if (sum != nullptr && sum->sum->is_cut()) static_cast<void>(sum->sum.release());
  delete sum;
}

int ebb_sum_add(ebb_sum* sum, int type, const void* values, double weight) {
  return guarded([&] {
    if (sum == nullptr || (values == nullptr && sum->sum->elements() != 0))
      return fail(base::error(base::Code::bad_input, "sum and values must not be null"));
    const auto element = sum::element_type_from(type);
    if (!element) return fail(element.error());
    return answer(sum->sum->add(*element, values, weight));
  });
}

int ebb_sum_check(int type, uint64_t elements, const void* values) {
  return guarded([&] {
    if (values == nullptr && elements != 0)
      return fail(base::error(base::Code::bad_input, "values must not be null"));
    const auto element = sum::element_type_from(type);
    if (!element) return fail(element.error());
    return answer(sum::check(*element, elements, values));
  });
}

int ebb_sum_mean(ebb_sum* sum, int type, void* values, int release) {
  return guarded([&] {
    if (sum == nullptr || (values == nullptr && sum->sum->elements() != 0))
      return fail(base::error(base::Code::bad_input, "sum and values must not be null"));
    if (type < EBB_FLOAT32 || type > EBB_BFLOAT16)
      return fail(base::error(base::Code::bad_input,
                              "type %d: expected EBB_FLOAT32 to EBB_BFLOAT16", type));
    return answer(sum->sum->mean(static_cast<sum::ElementType>(type), values, release != 0));
  });
}

int ebb_sum_info(const ebb_sum* sum, ebb_sum_report* report) {
  return guarded([&] {
    if (sum == nullptr || report == nullptr)
      return fail(base::error(base::Code::bad_input, "sum and report must not be null"));
    const std::uint32_t size = report->struct_size;
    if (size < 2 * sizeof(std::uint32_t)) {
      return fail(base::error(base::Code::bad_input,
                              "ebb_sum_report.struct_size is %u: set it to sizeof(ebb_sum_report)",
                              size));
    }
    ebb_sum_report whole{};
    whole.elements = sum->sum->elements();
    whole.additions = sum->sum->additions();
    whole.bytes = sum->sum->bytes();
    whole.weight = sum->sum->weight();
    std::memcpy(report, &whole, std::min<std::size_t>(size, sizeof whole));
    report->struct_size = size;
    return static_cast<int>(EBB_OK);
  });
}
