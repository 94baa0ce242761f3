// SPDX-License-Identifier: Apache-2.0
#include "trace/value_stack.h"

#include <algorithm>
#include <utility>

namespace ebb::trace {

void ValueStack::grow() {
  const std::size_t count = size();
  const std::size_t after = count == 0 ? 1024 : count + count / 2;
  budget_.charge(after * sizeof(Value));
  auto values = std::make_unique_for_overwrite<Value[]>(after);
  std::copy(values_.get(), top_, values.get());
  values_ = std::move(values);
  budget_.release(count * sizeof(Value));
  top_ = values_.get() + count;
  limit_ = values_.get() + after;
}

}  // namespace ebb::trace
