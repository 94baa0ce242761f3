// SPDX-License-Identifier: Apache-2.0
#include "fl/data/client_records.h"

#include <cstring>
#include <type_traits>

namespace ebb::fl {
namespace {

template <class T>
void append_value(std::string& bytes, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
bool take_value(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return true;
}

}  // namespace

void append_record(std::string& records, std::uint32_t id, const Client& client) {
  append_value(records, id);
  append_value(records, client.unanswered);
  append_value(records, client.participations);
  append_value(records, client.last_round.value_or(0));
  append_value(records, client.loss.value_or(0));
  append_value(records, client.loss_rms.value_or(0));
  append_value(records, client.gradient_norm.value_or(0));
  append_value(records, static_cast<std::uint32_t>(client.sketch.size()));
  for (const float value : client.sketch)
    append_value(records, value);
}

bool take_record(std::string_view& records, std::span<Client> clients) {
  std::string_view left = records;
  std::uint32_t id = 0;
  std::uint32_t unanswered = 0;
  std::uint32_t participations = 0;
  std::uint32_t last_round = 0;
  double loss = 0;
  double loss_rms = 0;
  double gradient_norm = 0;
  std::uint32_t length = 0;
  const bool whole = take_value(left, id) && take_value(left, unanswered) &&
                     take_value(left, participations) && take_value(left, last_round) &&
                     take_value(left, loss) && take_value(left, loss_rms) &&
                     take_value(left, gradient_norm) && take_value(left, length);
  if (!whole || id >= clients.size() || length > kSketchLength) return false;
  std::vector<float> sketch(length);
  for (float& value : sketch)
    if (!take_value(left, value)) return false;
  Client& client = clients[id];
  client.unanswered = unanswered;
  client.participations = participations;
  if (participations > 0) {
    client.last_round = last_round;
    client.loss = loss;
    client.loss_rms = loss_rms;
    client.gradient_norm = gradient_norm;
    client.sketch = std::move(sketch);
  }
  records = left;
  return true;
}

}  // namespace ebb::fl
