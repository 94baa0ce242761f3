// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <algorithm>

#include "base/text.h"

namespace ebb::plan {
namespace {

using base::Code;
using base::error;
using ull = unsigned long long;

// What the comparisons in docs/plan.md found, and what is said where there is none.
constexpr double kMeasuredError = 3;
constexpr double kNetworkError = 10;
/// How far workspaces that follow no rule were off at most; to a small network that is much.
constexpr double kNetworkErrorBytes = 24 * static_cast<double>(base::kMiB);
constexpr double kUnmeasuredError = 15;
/// No device has as many; they can be added up.
constexpr std::uint64_t kMostBytes = 1ULL << 56;

std::string subject_of(const TransformerRequest& request) {
  const TransformerModel& model = request.model;
  const TransformerTraining& training = request.training;
  return base::format_text(
      "%s: %llu layers of width %llu, batch %llu x %llu tokens, %s, %s, %s attention",
      name_of(model.architecture), ull{model.layers}, ull{model.d_model}, ull{training.batch},
      ull{training.sequence}, name_of(training.precision), name_of(request.optimizer),
      name_of(training.attention));
}

std::vector<std::string> unverified_of(const TransformerRequest& request) {
  std::vector<std::string> list;
  const TransformerTraining& training = request.training;
  const auto say = [&](bool applies, const char* what) {
    if (applies) list.emplace_back(what);
  };
  say(request.model.architecture == Architecture::megatron, "architecture megatron");
  say(training.precision == Precision::fp16_mixed, "precision fp16-mixed");
  say(training.attention == Attention::flash, "attention flash");
  say(training.checkpoint == Checkpoint::selective, "checkpoint selective");
  say(request.optimizer == Optimizer::adam8bit, "optimizer adam8bit");
  say(request.zero > 0 && request.gpus > 1, "sharded model state");
  say(training.tensor_parallel > 1, "tensor parallel");
  say(request.pipeline > 1, "pipeline parallel");
  return list;
}

base::Status check(const TransformerRequest& request) {
  if (request.zero < 0 || request.zero > 3)
    return error(Code::bad_input, "zero %d: expected 0 to 3", request.zero);
  if (request.gpus < 1 || request.gpus > (1 << 20))
    return error(Code::bad_input, "gpus %llu: expected 1 to 2^20", ull{request.gpus});
  const std::uint64_t tensor = request.training.tensor_parallel;
  if (tensor < 1 || tensor > request.gpus || request.pipeline < 1 ||
      request.pipeline > request.gpus || request.gpus % (tensor * request.pipeline) != 0)
    return error(Code::bad_input,
                 "gpus %llu: expected a multiple of tensor parallel %llu times pipeline %llu",
                 ull{request.gpus}, ull{tensor}, ull{request.pipeline});
  if (request.pipeline > request.model.layers)
    return error(Code::bad_input, "pipeline %llu: the model has %llu layers", ull{request.pipeline},
                 ull{request.model.layers});
  return {};
}

/// What is true of every plan: the recording's word is the last one.
void finish(Plan& plan, const Surroundings& surroundings,
            const std::optional<Correction>& correction) {
  plan.surroundings = surroundings;
  if (!correction) return;
  // The step that was recorded is as certain as one that was measured here.
  const bool is_recorded =
      plan.planned_peak() + surroundings.workspaces == correction->planned_peak;
  if (is_recorded) plan.error_percent = kMeasuredError;
  plan.surroundings.workspaces = 0;
  plan.correction = correction;
}

base::Json to_json(const PartBytes& parts) {
  base::Json json = base::Json::object();
  for (std::size_t i = 0; i < kParts; ++i) {
    const Part part = static_cast<Part>(i);
    if (parts[part] > 0) json.set(name_of(part), parts[part]);
  }
  return json;
}

}  // namespace

StateBytes state_bytes(const Tape& tape, Optimizer optimizer, bool master_weights,
                       const StateSharding& sharding) {
  StateBytes bytes;
  for (const Parameter& parameter : tape.parameters) {
    const Value& weight = tape.values[parameter.value];
    bytes.weights += weight.bytes();
    if (!weight.needs_grad) continue;
    bytes.gradients += weight.bytes();
    for (const std::uint64_t tensor :
         tensors_of(optimizer, parameter, weight, master_weights).state)
      bytes.optimizer += tensor;
  }
  return {sharding.share(bytes.weights, 3), sharding.share(bytes.gradients, 2),
          sharding.share(bytes.optimizer, 1)};
}

std::uint64_t Plan::device_total() const {
  return reserved() + surroundings.context + surroundings.workspaces;
}

std::uint64_t Plan::error_bytes() const {
  return static_cast<std::uint64_t>(static_cast<double>(peak()) * error_percent / 100);
}

Correction correction_of(const Plan& planned, const RecordedStep& recorded) {
  return correction_of(recorded, planned.step.before.allocated, planned.planned_peak(),
                       planned.surroundings.workspaces);
}

base::Result<Plan> plan(const TransformerRequest& request) {
  const auto model = request.model.completed();
  if (!model) return model.error();
  TransformerRequest completed = request;
  completed.model = *model;
  if (const base::Status status = check(completed); !status) return status.error();
  TransformerModel stage = *model;
  stage.layers = (model->layers + request.pipeline - 1) / request.pipeline;
  const auto tape = write_transformer(stage, request.training);
  if (!tape) return tape.error();
  RehearsalOptions options;
  options.optimizer = request.optimizer;
  options.master_weights = request.training.precision == Precision::fp16_mixed;
  options.sharding.stage = request.zero;
  options.accumulates = request.accumulates;
  options.sharding.devices = request.gpus / (request.training.tensor_parallel * request.pipeline);
  const auto step = rehearse(*tape, options);
  if (!step) return step.error();
  const StateBytes state =
      state_bytes(*tape, request.optimizer, options.master_weights, options.sharding);
  Plan result;
  result.subject = subject_of(completed);
  result.parameters = model->parameters();
  result.trainable = request.training.lora_rank == 0 ? result.parameters : tape->trainable_count();
  result.weights = state.weights;
  result.gradients = state.gradients;
  result.optimizer = state.optimizer;
  result.step = *step;
  // The first stage holds the activations of one micro-batch per stage after it.
  const std::uint64_t later_stages = request.pipeline - 1;
  const std::uint64_t activations = step->after_forward.parts.activations();
  if (later_stages > 0 && activations > kMostBytes / later_stages)
    return error(Code::bad_input, "what %llu stages have in flight is larger than any device",
                 ull{request.pipeline});
  result.in_flight = later_stages * activations;
  result.kv_cache_per_token = model->kv_cache_bytes_per_token(
      request.training.precision == Precision::fp32 ? ElementType::f32 : ElementType::bf16);
  result.unverified = unverified_of(completed);
  result.error_percent = result.unverified.empty() ? kMeasuredError : kUnmeasuredError;
  finish(result, request.surroundings, request.correction);
  return result;
}

base::Result<Plan> plan(const NetworkRequest& request) {
  const auto tape = write_network(request.network, request.batch, request.precision);
  if (!tape) return tape.error();
  RehearsalOptions options;
  options.optimizer = request.optimizer;
  const auto step = rehearse(*tape, options);
  if (!step) return step.error();
  const StateBytes state = state_bytes(*tape, request.optimizer, false, {});
  Plan result;
  result.subject =
      base::format_text("%s: pictures of %llu x %llu x %llu, batch %llu, %s, %s",
                        request.network.name.c_str(), ull{request.network.picture.channels},
                        ull{request.network.picture.height}, ull{request.network.picture.width},
                        ull{request.batch}, name_of(request.precision), name_of(request.optimizer));
  result.parameters = tape->parameter_count();
  result.trainable = tape->trainable_count();
  result.weights = state.weights;
  result.gradients = state.gradients;
  result.optimizer = state.optimizer;
  result.step = *step;
  result.error_percent =
      std::max(kNetworkError, 100 * kNetworkErrorBytes / static_cast<double>(result.peak()));
  finish(result, request.surroundings, request.correction);
  return result;
}

base::Json to_json(const Plan& plan) {
  base::Json phases = base::Json::array();
  const std::uint64_t before = plan.corrected(plan.step.before.allocated);
  phases.push(base::Json::object({{"name", "before"},
                                  {"begin_bytes", before},
                                  {"end_bytes", before},
                                  {"peak_bytes", before}}));
  for (std::size_t i = 0; i < kPhases; ++i) {
    const PhaseReport& phase = plan.step.phases[i];
    phases.push(base::Json::object({{"name", name_of(static_cast<Phase>(i))},
                                    {"begin_bytes", plan.corrected(phase.begin)},
                                    {"end_bytes", plan.corrected(phase.end)},
                                    {"peak_bytes", plan.corrected(phase.peak.allocated)},
                                    {"peak_at", phase.peak_doing}}));
  }
  base::Json unverified = base::Json::array();
  for (const std::string& what : plan.unverified)
    unverified.push(what);
  base::Json json = base::Json::object(
      {{"subject", plan.subject},
       {"parameters", plan.parameters},
       {"trainable_parameters", plan.trainable},
       {"weights_bytes", plan.weights},
       {"weights_block_bytes", plan.step.weights_blocks},
       {"gradients_bytes", plan.gradients},
       {"optimizer_bytes", plan.optimizer},
       {"activations_bytes", plan.activations()},
       {"logits_bytes", plan.step.peak().peak.parts[Part::logits]},
       {"temporaries_bytes", plan.step.peak().peak.parts[Part::temporaries]},
       {"slack_bytes", plan.step.peak().peak.parts[Part::slack]},
       {"in_flight_bytes", plan.in_flight},
       {"kv_cache_bytes_per_token", plan.kv_cache_per_token},
       {"before_bytes", before},
       {"after_forward_bytes", plan.corrected(plan.step.after_forward.allocated)},
       {"peak_bytes", plan.peak()},
       {"peak_phase", name_of(plan.step.peak_phase())},
       {"peak_at", plan.step.peak().peak_doing},
       {"peak_parts", to_json(plan.step.peak().peak.parts)},
       {"saved_parts", to_json(plan.step.after_forward.parts)},
       {"phases", std::move(phases)},
       {"reserved_bytes", plan.reserved()},
       {"workspace_bytes", plan.surroundings.workspaces},
       {"context_bytes", plan.surroundings.context},
       {"device_bytes", plan.device_total()},
       {"error_percent", plan.error_percent},
       {"unverified", std::move(unverified)}});
  if (plan.correction) {
    json.set("measured_peak_bytes", plan.correction->recorded.peak);
    json.set("measured_before_bytes", plan.correction->recorded.before);
    json.set("measured_steps", std::uint64_t{plan.correction->recorded.steps});
    json.set("planned_peak_bytes", plan.planned_peak());
    json.set("correction_percent", plan.correction->percent());
  }
  return json;
}

}  // namespace ebb::plan
