// SPDX-License-Identifier: Apache-2.0
#include "fl/data/population.h"

#include <algorithm>

#include "fl/data/client_records.h"
#include "fl/in_parts.h"

namespace ebb::fl {
namespace {

base::Error damaged(const char* what) {
  return base::error(base::Code::bad_input, "checkpoint: %s is missing or not what was saved",
                     what);
}

base::Json numbers(std::span<const float> values) {
  base::Json list = base::Json::array();
  for (const float value : values)
    list.push(static_cast<double>(value));
  return list;
}

}  // namespace

Population::Population(const Holdings& holdings, const DataSet& data, bool with_labels)
    : clients_(holdings.clients()) {
  for (std::uint32_t id = 0; id < holdings.clients(); ++id) {
    clients_[id].samples = holdings.size_of(id);
    if (with_labels) clients_[id].labels = holdings.label_counts(id, data);
  }
}

void Population::meet(const World& world) {
  in_parts(clients_.size(), [&](std::size_t begin, std::size_t end) {
    for (auto id = static_cast<std::uint32_t>(begin); id < end; ++id) {
      const Condition condition = world.condition(id);
      Client& client = clients_[id];
      client.speed = condition.speed;
      client.channel = condition.channel;
      client.seconds = condition.seconds;
      client.energy = condition.energy;
      client.tier = condition.tier;
    }
  });
}

void Population::choose(std::span<const std::uint32_t> cohort) {
  for (const std::uint32_t id : cohort)
    ++clients_[id].unanswered;
  for (const std::uint32_t id : cohort)
    changed(id);
}

void Population::learn(const ClientReport& report) {
  Client& client = clients_[report.client];
  client.unanswered = 0;
  ++client.participations;
  client.last_round = report.round;
  client.loss = report.loss;
  client.loss_rms = report.loss_rms;
  client.gradient_norm = report.gradient_norm;
  client.sketch = report.sketch;
  changed(report.client);
}

void Population::follow_changes() {
  follows_changes_ = true;
  for (std::uint32_t id = 0; id < clients_.size(); ++id)
    if (clients_[id].last_round || clients_[id].unanswered > 0) changed(id);
}

std::string Population::changes() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  std::string records;
  for (const std::uint32_t id : changed_)
    append_record(records, id, clients_[id]);
  changed_.clear();
  return records;
}

base::Status Population::take(std::string_view records) {
  while (!records.empty())
    if (!take_record(records, clients_)) return damaged("a record of a client");
  return {};
}

Participation Population::participation() const {
  std::vector<std::uint32_t> counts;
  counts.reserve(clients_.size());
  for (const Client& client : clients_)
    counts.push_back(client.participations);
  return participation_of(counts);
}

base::Json to_json(const ClientReport& report) {
  return base::Json::object({{"client", std::uint64_t{report.client}},
                             {"round", std::uint64_t{report.round}},
                             {"loss", report.loss},
                             {"loss_rms", report.loss_rms},
                             {"gradient_norm", report.gradient_norm},
                             {"sketch", numbers(report.sketch)}});
}

base::Result<ClientReport> client_report_from(const base::Json& json) {
  const auto number = [&](const char* key) {
    const base::Json* found = json.find(key);
    return found == nullptr ? std::nullopt : found->as_double();
  };
  const auto whole = [&](const char* key) {
    const base::Json* found = json.find(key);
    return found == nullptr ? std::nullopt : found->as_unsigned();
  };
  const auto client = whole("client");
  const auto round = whole("round");
  const auto loss = number("loss");
  const auto loss_rms = number("loss_rms");
  const auto norm = number("gradient_norm");
  const base::Json* sketch = json.find("sketch");
  if (!client || *client > UINT32_MAX || !round || *round > UINT32_MAX || !loss || !loss_rms ||
      !norm || sketch == nullptr || sketch->as_array() == nullptr)
    return damaged("a client's report");
  ClientReport report;
  report.client = static_cast<std::uint32_t>(*client);
  report.round = static_cast<std::uint32_t>(*round);
  report.loss = *loss;
  report.loss_rms = *loss_rms;
  report.gradient_norm = *norm;
  for (const base::Json& value : *sketch->as_array()) {
    const auto one = value.as_double();
    if (!one) return damaged("a client's sketch");
    report.sketch.push_back(static_cast<float>(*one));
  }
  return report;
}

base::Json Population::state() const {
  base::Json seen = base::Json::array();
  base::Json unanswered = base::Json::array();
  for (std::uint32_t id = 0; id < clients_.size(); ++id) {
    const Client& client = clients_[id];
    unanswered.push(std::uint64_t{client.unanswered});
    if (!client.last_round) continue;
    base::Json one = to_json(ClientReport{id, *client.last_round, *client.loss, *client.loss_rms,
                                          *client.gradient_norm, client.sketch});
    one.set("participations", std::uint64_t{client.participations});
    seen.push(std::move(one));
  }
  return base::Json::object({{"seen", seen}, {"unanswered", unanswered}});
}

base::Status Population::restore(const base::Json& state) {
  const base::Json* seen = state.find("seen");
  const base::Json* unanswered = state.find("unanswered");
  if (seen == nullptr || seen->as_array() == nullptr || unanswered == nullptr ||
      unanswered->as_array() == nullptr || unanswered->as_array()->size() != clients_.size())
    return damaged("the list of clients");
  for (const base::Json& one : *seen->as_array()) {
    const auto report = client_report_from(one);
    if (!report) return report.error();
    const base::Json* count = one.find("participations");
    const std::uint64_t participations = count == nullptr ? 0 : count->as_unsigned().value_or(0);
    if (report->client >= clients_.size() || participations == 0 || participations > UINT32_MAX)
      return damaged("a client");
    learn(*report);
    clients_[report->client].participations = static_cast<std::uint32_t>(participations);
  }
  for (std::size_t id = 0; id < clients_.size(); ++id) {
    const auto count = (*unanswered->as_array())[id].as_unsigned();
    if (!count || *count > UINT32_MAX) return damaged("a client");
    clients_[id].unanswered = static_cast<std::uint32_t>(*count);
  }
  return {};
}

}  // namespace ebb::fl
