// SPDX-License-Identifier: Apache-2.0
#include "fl/select/state.h"

#include <cmath>
#include <limits>

namespace ebb::fl::select {
namespace {

/// No selector comes near; products of what is below stay finite.
constexpr double kMost = 1e30;

}  // namespace

base::Json to_json(std::span<const double> numbers) {
  base::Json::Array items(numbers.begin(), numbers.end());
  return items;
}

base::Json to_json(std::span<const std::uint32_t> numbers) {
  base::Json::Array items;
  items.reserve(numbers.size());
  for (const std::uint32_t number : numbers)
    items.emplace_back(std::uint64_t{number});
  return items;
}

base::Status same_clients(std::size_t remembered, std::size_t now) {
  if (remembered == 0 || remembered == now) return {};
  return base::error(base::Code::bad_input,
                     "the selector's state is of %zu clients, but there are %zu", remembered, now);
}

const base::Json& StateReader::read(std::string_view key) {
  static const base::Json nothing;
  const base::Json* found = state_.find(key);
  require(found != nullptr, std::string(key) + " is missing");
  ++keys_read_;
  return found != nullptr ? *found : nothing;
}

double StateReader::number(std::string_view key, double least, double most) {
  const double value = read(key).as_double().value_or(std::nan(""));
  require(value >= least && value <= most, std::string(key) + " is not a number in its range");
  return value;
}

std::uint32_t StateReader::whole(std::string_view key) {
  const auto value = read(key).as_unsigned();
  const bool fits = value && *value <= std::numeric_limits<std::uint32_t>::max();
  require(fits, std::string(key) + " is not a whole number");
  return fits ? static_cast<std::uint32_t>(*value) : 0;
}

std::vector<double> StateReader::numbers(std::string_view key) {
  std::vector<double> values;
  const base::Json::Array* items = read(key).as_array();
  require(items != nullptr, std::string(key) + " is not a list");
  if (items == nullptr) return values;
  for (const base::Json& item : *items) {
    const auto value = item.as_double();
    const bool fits = value && std::abs(*value) <= kMost;
    require(fits, std::string(key) + " holds something that is not a number in its range");
    values.push_back(fits ? *value : 0);
  }
  return values;
}

std::vector<std::uint32_t> StateReader::wholes(std::string_view key) {
  std::vector<std::uint32_t> values;
  for (const double value : numbers(key)) {
    const bool fits = value >= 0 && value <= std::numeric_limits<std::uint32_t>::max() &&
                      std::trunc(value) == value;
    require(fits, std::string(key) + " holds something that is not a whole number");
    values.push_back(fits ? static_cast<std::uint32_t>(value) : 0);
  }
  return values;
}

std::string StateReader::text(std::string_view key) {
  const std::string* found = read(key).as_string();
  require(found != nullptr, std::string(key) + " is not a text");
  return found != nullptr ? *found : std::string();
}

base::Json StateReader::value(std::string_view key) {
  return read(key);
}

void StateReader::require(bool holds, std::string_view expectation) {
  if (!holds && wrong_.empty()) wrong_ = expectation;
}

base::Status StateReader::finish() {
  const base::Json::Object* members = state_.as_object();
  require(members != nullptr && members->size() == keys_read_, "other members than expected");
  if (wrong_.empty()) return {};
  return base::error(base::Code::bad_input, "saved state of %.*s: %s",
                     static_cast<int>(method_.size()), method_.data(), wrong_.c_str());
}

}  // namespace ebb::fl::select
