// SPDX-License-Identifier: Apache-2.0
#include "fl/card_use.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/bytes.h"
#include "fl/network_shape.h"
#include "plan/plan.h"

namespace ebb::fl {
namespace {

/// Fewer pictures at a time would leave a card idle.
constexpr std::uint32_t kPicturesThatFillACard = 1024;
constexpr std::uint32_t kMostPictures = 8192;

std::uint32_t rounded_up(std::uint32_t count, std::uint32_t divisor) {
  return count / divisor + (count % divisor > 0 ? 1 : 0);
}

std::uint64_t sum_bytes_of_a_client(const NetworkShape& shape) {
  return std::min<std::uint64_t>(shape.elements, kParametersAtATime) * kBytesOfAParameter;
}

/// What of one tensor of a client is copied to be looked at in order.
std::uint64_t largest_parameter_bytes(const NetworkShape& shape) {
  std::size_t most = 0;
  for (const ParameterShape& parameter : shape.parameters)
    most = std::max(most, parameter.elements);
  return most * sizeof(float);
}

/// What batches of so many samples take that are on their way, labels and all.
std::uint64_t ahead_bytes(const CardUse& use, const DataSet& data, std::uint64_t samples) {
  const plan::Picture& picture = data.picture;
  return use.ahead * samples * (picture.channels * picture.height * picture.width + 1);
}

/// The same of the host, where libtorch keeps pinned memory in powers of two, and what training had
/// beside what evaluation has.
std::uint64_t pinned_bytes(const CardUse& use, const DataSet& data, std::uint32_t batch) {
  if (use.ahead == 0) return 0;
  return std::bit_ceil(ahead_bytes(use, data, std::uint64_t{use.clients} * batch)) +
         std::bit_ceil(ahead_bytes(use, data, use.evaluated));
}

/// Those that take no more memory than training has; more where that is little and there is room.
base::Status add_evaluation(const plan::Network& network, const DataSet& data, std::uint32_t batch,
                            std::uint64_t of_training, std::uint64_t room, CardUse& use) {
  const auto bytes_of = [&](std::uint32_t pictures) -> base::Result<std::uint64_t> {
    auto step = step_bytes(network, pictures);
    if (step) *step += ahead_bytes(use, data, pictures);
    return step;
  };
  const std::uint64_t together = std::uint64_t{use.clients} * batch;
  use.evaluated = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      together, std::max(batch, kPicturesThatFillACard), std::max(batch, kMostPictures)));
  auto bytes = bytes_of(use.evaluated);
  if (!bytes) return bytes.error();
  if (*bytes > of_training + room) {
    use.evaluated = batch;
    bytes = bytes_of(batch);
    if (!bytes) return bytes.error();
  }
  use.items.push_back({"evaluation beyond training",
                       *bytes > of_training ? *bytes - of_training : 0, false, false, true});
  return {};
}

}  // namespace

base::Result<CardUse> card_use(const plan::Network& network, std::uint32_t batch,
                               std::uint32_t wanted, const DataSet& data, std::uint64_t available,
                               const CardWork& work) {
  const auto shape = shape_of(network);
  if (!shape) return shape.error();
  const auto training = side_by_side_bytes(network, batch);
  if (!training) return training.error();
  const std::uint64_t correction = work.corrects ? shape->elements * sizeof(float) : 0;
  const std::uint64_t sketch = work.sketches ? largest_parameter_bytes(*shape) : 0;
  const std::uint64_t projection = work.sketches ? kProjectionBytes : 0;
  const std::uint64_t sums = shape->elements * sizeof(std::int64_t) + projection;
  std::uint64_t each = *training + correction + sum_bytes_of_a_client(*shape) + sketch;
  if (sums + each > available)
    return base::error(base::Code::bad_input,
                       "the card has %s for it, but training one client needs %s",
                       base::bytes_text(available).c_str(), base::bytes_text(sums + each).c_str());
  CardUse use;
  wanted = std::max(wanted, 1U);
  const std::uint64_t pictures = data.bytes();
  use.holds_data = work.may_hold_data && (pictures + sums + each * wanted <= available ||
                                          pictures + sums + each <= available / 2);
  use.ahead = use.holds_data || !work.may_prefetch ? 0 : kBatchesAhead;
  if (sums + each + ahead_bytes(use, data, batch) > available) use.ahead = 0;
  const std::uint64_t ahead = ahead_bytes(use, data, batch);
  each += ahead;
  const std::uint64_t fixed = sums + (use.holds_data ? pictures : 0);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  use.room = static_cast<std::uint32_t>(std::min((available - fixed) / each, kMost));
  const std::uint32_t groups = rounded_up(wanted, use.room);
  use.clients = rounded_up(wanted, groups);
  use.items = {{"data set", use.holds_data ? pictures : 0, false, false, true},
               {"training of a client", *training, true, false, true},
               {"batches of a client on their way", ahead, true, false, true},
               {"correction of a client", correction, true, false, true},
               {"adding up a client", sum_bytes_of_a_client(*shape), true, false, true},
               {"sketch of a client", sketch, true, false, true},
               {"projection of updates", projection, false, false, true},
               {"sums", sums - projection, false, false, true}};
  const std::uint64_t of_training = (*training + ahead) * use.clients;
  const std::uint64_t taken = fixed + each * use.clients;
  if (auto added = add_evaluation(network, data, batch, of_training, available - taken, use);
      !added)
    return added.error();
  use.pinned = pinned_bytes(use, data, batch);
  return use;
}

base::Result<std::uint64_t> step_bytes(const plan::Network& network, std::uint32_t batch) {
  plan::NetworkRequest request;
  request.network = network;
  request.batch = batch;
  request.surroundings = {.context = 0, .workspaces = 0};
  const auto planned = plan::plan(request);
  if (!planned) return planned.error();
  return planned->peak() + planned->error_bytes();
}

base::Result<std::uint64_t> side_by_side_bytes(const plan::Network& network, std::uint32_t batch) {
  const auto shape = shape_of(network);
  if (!shape) return shape.error();
  const auto step = step_bytes(network, batch);
  if (!step) return step.error();
  // Beyond the step itself: a layer's input laid out as columns, and its gradient laid out the same
  // way while the first is still there; and all columns that are kept. Normalising copies its
  // input, which is no larger than either.
  std::uint64_t largest_mask = 0;
  for (const DropoutShape& dropout : shape->dropouts)
    largest_mask = std::max<std::uint64_t>(largest_mask, dropout.values);
  const std::size_t columns =
      shape->largest_columns + std::max(shape->largest_columns, shape->kept_columns);
  return *step + batch * columns * sizeof(float) + batch * largest_mask * kBytesOfAMaskInTheMaking;
}

}  // namespace ebb::fl
