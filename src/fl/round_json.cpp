// SPDX-License-Identifier: Apache-2.0
#include "fl/privacy_spent.h"
#include "fl/simulation.h"

namespace ebb::fl {
namespace {

base::Json list_of(const std::vector<std::uint32_t>& numbers) {
  base::Json list = base::Json::array();
  for (const std::uint32_t number : numbers)
    list.push(std::uint64_t{number});
  return list;
}

void set_scores(base::Json& json, const std::optional<Scores>& scores) {
  const auto value = [&](double Scores::*member) {
    return scores ? base::Json((*scores).*member) : base::Json();
  };
  json.set("accuracy", value(&Scores::accuracy));
  json.set("loss", value(&Scores::loss));
  json.set("f1", scores ? base::Json(scores->macro.f1) : base::Json());
  json.set("precision", scores ? base::Json(scores->macro.precision) : base::Json());
  json.set("recall", scores ? base::Json(scores->macro.recall) : base::Json());
}

/// Reads members one by one and remembers whether all were there.
class Members {
 public:
  explicit Members(const base::Json& json) : json_(json) {}

  double number(const char* key) {
    const auto value = optional_number(key);
    return value ? *value : missing(0.0);
  }
  std::optional<double> optional_number(const char* key) {
    const base::Json* found = json_.find(key);
    if (found == nullptr) ok_ = false;
    return found == nullptr || found->is_null() ? std::nullopt : found->as_double();
  }
  std::optional<std::uint64_t> optional_whole(const char* key) {
    const base::Json* found = json_.find(key);
    if (found == nullptr) ok_ = false;
    return found == nullptr || found->is_null() ? std::nullopt : found->as_unsigned();
  }
  /// One that an earlier Ebb did not write.
  double later_number(const char* key) { return json_.find(key) == nullptr ? 0 : number(key); }
  std::optional<double> later_optional_number(const char* key) {
    return json_.find(key) == nullptr ? std::nullopt : optional_number(key);
  }
  std::optional<std::uint64_t> later_optional_whole(const char* key) {
    return json_.find(key) == nullptr ? std::nullopt : optional_whole(key);
  }
  std::uint64_t whole(const char* key) {
    const auto value = optional_whole(key);
    return value ? *value : missing(std::uint64_t{0});
  }
  std::vector<std::uint32_t> list(const char* key) {
    std::vector<std::uint32_t> numbers;
    const base::Json* found = json_.find(key);
    if (found == nullptr || found->as_array() == nullptr) return missing(numbers);
    for (const base::Json& item : *found->as_array())
      numbers.push_back(static_cast<std::uint32_t>(item.as_unsigned().value_or(0)));
    return numbers;
  }
  bool ok() const { return ok_; }

 private:
  template <class T>
  T missing(T value) {
    ok_ = false;
    return value;
  }

  const base::Json& json_;
  bool ok_ = true;
};

base::Json to_json(const CardRound& card) {
  return base::Json::object({{"used_percent", card.memory.used_percent()},
                             {"total_bytes", card.memory.total},
                             {"free_bytes", card.memory.free},
                             {"reserved_bytes", card.memory.reserved},
                             {"cached_bytes", card.memory.cached},
                             {"returned_bytes", card.returned},
                             {"seconds", card.seconds}});
}

base::Json to_json(const RoundPrivacy& privacy) {
  return base::Json::object({{"clip", privacy.clip}, {"within_clip", privacy.share}});
}

}  // namespace

base::Json to_json(const RoundReport& report) {
  base::Json json = base::Json::object({{"round", std::uint64_t{report.round}}});
  set_scores(json, report.scores);
  json.set("client_scores", report.client_scores ? to_json(*report.client_scores) : base::Json());
  json.set("cohort", list_of(report.cohort));
  json.set("took_part", list_of(report.took_part));
  json.set("probed_clients", std::uint64_t{report.probed});
  json.set("aggregator",
           report.aggregator ? base::Json(std::uint64_t{*report.aggregator}) : base::Json());
  json.set("lr", report.lr);
  json.set("train_loss", report.train_loss);
  json.set("gini", report.participation.gini);
  json.set("entropy", report.participation.entropy);
  json.set("participation_variance", report.participation.variance);
  json.set("communicated_bytes", report.communicated_bytes);
  json.set("flops", report.flops);
  json.set("simulated_seconds", report.simulated_seconds);
  json.set("energy_joules", report.energy);
  json.set("epsilon", report.epsilon);
  json.set("privacy", report.privacy ? to_json(*report.privacy) : base::Json());
  json.set("rss_bytes", report.memory.now.rss);
  json.set("peak_rss_bytes", report.memory.peak);
  json.set("live_bytes", report.memory.now.live);
  json.set("retained_bytes", report.memory.now.retained);
  json.set("returned_bytes", report.memory.returned);
  json.set("parallel_clients", std::uint64_t{report.memory.parallel_clients});
  json.set("evaluated_together", report.memory.evaluated_together);
  json.set("wall_seconds", report.wall_seconds);
  json.set("selection_seconds", report.selection_seconds);
  json.set("training_seconds", report.training_seconds);
  json.set("evaluation_seconds", report.evaluation_seconds);
  json.set("sums_seconds", report.sums_seconds);
  json.set("cleanup_seconds", report.cleanup_seconds);
  json.set("writing_seconds", report.writing_seconds);
  json.set("other_seconds", report.other_seconds);
  json.set("devices", fact::devices_json(report.memory.devices));
  json.set("card", report.card ? to_json(*report.card) : base::Json());
  return json;
}

std::uint32_t rounds_of(const SimulationResult& result) {
  return result.rounds.empty() ? 0 : result.rounds.back().round + 1;
}

base::Json scores_json(const std::optional<Scores>& scores) {
  base::Json json;
  if (scores) set_scores(json, scores);
  return json;
}

base::Result<std::optional<Scores>> scores_from(const base::Json& json) {
  if (json.is_null()) return std::optional<Scores>();
  Members members(json);
  const Scores scores{
      members.number("accuracy"),
      members.number("loss"),
      {members.number("precision"), members.number("recall"), members.number("f1")}};
  if (!members.ok())
    return base::error(base::Code::bad_input, "expected what a model can do, with all its keys");
  return std::optional(scores);
}

base::Result<RoundReport> round_report_from(const base::Json& json) {
  Members members(json);
  RoundReport report;
  report.round = static_cast<std::uint32_t>(members.whole("round"));
  if (const auto accuracy = members.optional_number("accuracy")) {
    report.scores =
        Scores{*accuracy,
               members.number("loss"),
               {members.number("precision"), members.number("recall"), members.number("f1")}};
  }
  // An earlier Ebb did not evaluate clients.
  if (const base::Json* scores = json.find("client_scores");
      scores != nullptr && !scores->is_null()) {
    const auto read = client_scores_from(*scores);
    if (!read) return read.error();
    report.client_scores = *read;
  }
  report.cohort = members.list("cohort");
  report.took_part = members.list("took_part");
  report.probed =
      static_cast<std::uint32_t>(members.later_optional_whole("probed_clients").value_or(0));
  if (const auto aggregator = members.optional_whole("aggregator"))
    report.aggregator = static_cast<std::uint32_t>(*aggregator);
  report.lr = members.later_optional_number("lr");
  report.train_loss = members.number("train_loss");
  report.participation = {members.number("gini"), members.number("entropy"),
                          members.number("participation_variance")};
  report.communicated_bytes = members.number("communicated_bytes");
  report.flops = members.number("flops");
  report.simulated_seconds = members.number("simulated_seconds");
  report.energy = members.number("energy_joules");
  report.epsilon = members.optional_number("epsilon");
  if (const base::Json* json_of = json.find("privacy"); json_of != nullptr && !json_of->is_null()) {
    Members of_privacy(*json_of);
    report.privacy =
        RoundPrivacy{of_privacy.number("clip"), of_privacy.optional_number("within_clip")};
    if (!of_privacy.ok())
      return base::error(base::Code::bad_input, "privacy: expected all its keys");
  }
  report.memory.now.rss = members.optional_whole("rss_bytes");
  report.memory.peak = members.whole("peak_rss_bytes");
  report.memory.now.live = members.optional_whole("live_bytes");
  report.memory.now.retained = members.optional_whole("retained_bytes");
  report.memory.returned = members.whole("returned_bytes");
  report.memory.parallel_clients = static_cast<std::uint32_t>(members.whole("parallel_clients"));
  report.memory.evaluated_together = members.later_optional_whole("evaluated_together");
  report.wall_seconds = members.number("wall_seconds");
  report.selection_seconds = members.number("selection_seconds");
  report.training_seconds = members.number("training_seconds");
  report.evaluation_seconds = members.number("evaluation_seconds");
  report.sums_seconds = members.later_number("sums_seconds");
  report.cleanup_seconds = members.later_number("cleanup_seconds");
  report.writing_seconds = members.later_number("writing_seconds");
  report.other_seconds = members.later_number("other_seconds");
  // Rounds on the host have none, nor have those of Ebb before it was known.
  if (const base::Json* devices = json.find("devices"))
    report.memory.devices = fact::devices_from(*devices);
  if (const base::Json* card = json.find("card"); card != nullptr && !card->is_null()) {
    Members of_card(*card);
    report.card = CardRound{{of_card.whole("total_bytes"), of_card.whole("free_bytes"),
                             of_card.whole("reserved_bytes"), of_card.whole("cached_bytes")},
                            of_card.whole("returned_bytes"),
                            of_card.number("seconds")};
    if (!of_card.ok()) return base::error(base::Code::bad_input, "card: expected all its keys");
  }
  if (!members.ok())
    return base::error(base::Code::bad_input, "expected the report of a round, with all its keys");
  return report;
}

/// Null where the method looks at everyone.
base::Json candidates_json(const Config& config) {
  const CandidatesDrawn drawn = candidates_of(config.method);
  if (drawn == CandidatesDrawn::never || config.candidates == 0 ||
      config.clients <= config.candidates)
    return {};
  return base::Json::object({{"count", std::uint64_t{config.candidates}},
                             {"of", std::uint64_t{config.clients}},
                             {"drawn", name_of(drawn)}});
}

base::Json to_json(const SimulationResult& result) {
  base::Json card = result.card ? to_json(*result.card) : base::Json();
  if (result.card) card.set("kernels", result.kernels);
  const base::Json* rounding_from = card.find("rounding_from_round");
  base::Json rounds = base::Json::array();
  for (const RoundReport& report : result.rounds)
    rounds.push(to_json(report));
  return base::Json::object(
      {{"config", to_json(result.config)},
       {"candidates", candidates_json(result.config)},
       {"setup_seconds", result.setup_seconds},
       {"untrained", scores_json(result.untrained)},
       {"rounds", rounds},
       {"peak_rss_bytes", result.peak_rss},
       {"model_sha256", result.model_sha256},
       {"plan", to_json(result.plan)},
       {"resumed_at",
        result.resumed_at ? base::Json(std::uint64_t{*result.resumed_at}) : base::Json()},
       {"rounding_from_round", rounding_from != nullptr ? *rounding_from : base::Json()},
       {"card", card},
       {"privacy", privacy_json(result.config, rounds_of(result), result.clip)},
       {"stopped", result.stopped}});
}

}  // namespace ebb::fl
