// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "fl/engine.h"

namespace ebb::fl {
namespace {

base::Error not_of_this() {
  return base::error(base::Code::bad_input,
                     "the checkpoint does not fit this simulation, expected one of the same "
                     "configuration");
}

/// The first key whose value differs, "" where none does. A run may be made longer; a setting that
/// an earlier Ebb did not have was as it is by default.
std::string difference(const base::Json& mine, const base::Json& saved) {
  if (mine.as_object() == nullptr) return "config";
  const base::Json defaults = to_json(Config{});
  for (const auto& [key, value] : *mine.as_object()) {
    const base::Json* other = saved.find(key);
    if (other == nullptr) other = defaults.find(key);
    const bool same = other != nullptr && other->text() == value.text();
    if (key != "rounds" && !same) return key;
  }
  return {};
}

}  // namespace

base::Result<base::Json> Engine::save_clients() {
  if (!log_.is_open()) return population_.state();
  if (auto added = log_.add(population_.changes()); !added) return added.error();
  return log_.seal();
}

base::Status Engine::restore_clients(const base::Json& saved) {
  // A checkpoint of an earlier Ebb has all of them.
  if (saved.find("sha256") == nullptr) {
    auto restored = population_.restore(saved);
    if (restored && log_.is_open()) population_.follow_changes();
    return restored;
  }
  std::string records;
  if (resources_.ranks->is_first()) {
    auto taken = log_.take(saved);
    if (!taken) return taken.error();
    records = std::move(*taken);
  }
  if (auto told = broadcast_text(*resources_.ranks, records); !told) return told;
  return population_.take(records);
}

base::Result<std::string> Engine::save(const base::Json& lines) {
  AggregatorState state = aggregator_->state();
  if (!resources_.ranks->is_first()) return std::string();
  const auto clients = save_clients();
  if (!clients) return clients.error();
  base::Json late = base::Json::array();
  for (const Late& one : late_)
    late.push(to_json(one.client).set("due", std::uint64_t{one.due}));
  const base::Json header = base::Json::object(
      {{"config", to_json(config_)},
       {"round", std::uint64_t{round_}},
       {"lines", lines},
       {"clients", *clients},
       {"selector", selector_->state()},
       {"late", late},
       {"card", resources_.card != nullptr ? to_json(groups_) : base::Json()},
       {"clip", clip_},
       {"totals", base::Json::object({{"communicated_bytes", totals_.communicated_bytes},
                                      {"flops", totals_.flops},
                                      {"simulated_seconds", totals_.simulated_seconds},
                                      {"energy", totals_.energy}})}});
  std::vector<std::span<const std::byte>> arrays = {std::as_bytes(std::span(weights_))};
  arrays.insert(arrays.end(), state.parts.begin(), state.parts.end());
  if (controls_) {
    if (auto kept = controls_->keep(); !kept) return kept.error();
    const auto parts = controls_->state();
    arrays.insert(arrays.end(), parts.begin(), parts.end());
  }
  return pack_checkpoint(header, arrays);
}

base::Status Engine::restore(const Checkpoint& checkpoint) {
  const base::Json& header = checkpoint.header;
  const base::Json* config = header.find("config");
  const base::Json* round = header.find("round");
  const base::Json* clients = header.find("clients");
  const base::Json* selector = header.find("selector");
  const base::Json* late = header.find("late");
  const base::Json* clip = header.find("clip");
  const base::Json* totals = header.find("totals");
  if (config == nullptr || round == nullptr || !round->as_unsigned() || clients == nullptr ||
      selector == nullptr || late == nullptr || late->as_array() == nullptr || totals == nullptr ||
      (config_.privacy.adapts() && (clip == nullptr || !(clip->as_double().value_or(0) > 0))))
    return not_of_this();
  if (const std::string key = difference(to_json(config_), *config); !key.empty()) {
    const base::Json* saved = config->find(key);
    return base::error(base::Code::bad_input,
                       "the checkpoint is of another simulation: its %s is %s", key.c_str(),
                       saved == nullptr ? "not known" : saved->text().c_str());
  }
  if (*round->as_unsigned() > config_.rounds)
    return base::error(base::Code::bad_input,
                       "the checkpoint has reached round %llu, expected more rounds than %u",
                       static_cast<unsigned long long>(*round->as_unsigned()), config_.rounds);
  round_ = static_cast<std::uint32_t>(*round->as_unsigned());
  if (auto restored = restore_groups(header.find("card")); !restored) return restored;
  if (auto restored = restore_clients(*clients); !restored) return restored;
  if (auto restored = selector_->restore(*selector); !restored) return restored;
  for (const base::Json& one : *late->as_array()) {
    auto client = client_report_from(one);
    const base::Json* due = one.find("due");
    if (!client || client->client >= config_.clients || due == nullptr || !due->as_unsigned())
      return not_of_this();
    late_.push_back({static_cast<std::uint32_t>(*due->as_unsigned()), std::move(*client)});
  }
  if (config_.privacy.adapts()) clip_ = *clip->as_double();
  const auto total = [&](const char* key, double& into) {
    const base::Json* found = totals->find(key);
    if (found == nullptr || !found->as_double()) return false;
    into = *found->as_double();
    return true;
  };
  if (!total("communicated_bytes", totals_.communicated_bytes) || !total("flops", totals_.flops) ||
      !total("simulated_seconds", totals_.simulated_seconds) || !total("energy", totals_.energy))
    return not_of_this();

  AggregatorState state = aggregator_->state();
  std::vector<std::span<std::byte>> arrays = {std::as_writable_bytes(std::span(weights_))};
  arrays.insert(arrays.end(), state.parts.begin(), state.parts.end());
  if (controls_) {
    const auto parts = controls_->state();
    arrays.insert(arrays.end(), parts.begin(), parts.end());
  }
  if (arrays.size() != checkpoint.arrays.size()) return not_of_this();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].size() != checkpoint.arrays[i].size()) return not_of_this();
    std::memcpy(arrays[i].data(), checkpoint.arrays[i].data(), arrays[i].size());
  }
  // Sums that wait for later rounds are the first rank's.
  aggregator_->forget_others(*resources_.ranks);
  return controls_ ? controls_->restored(*resources_.ranks) : base::Status();
}

}  // namespace ebb::fl
