// SPDX-License-Identifier: Apache-2.0
#include "plan/budget.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "plan/network_file.h"
#include "plan/options.h"
#include "plan/presets.h"

namespace ebb::plan {
namespace {

using base::Code;
using base::error;
using base::Result;

constexpr double kMostParameters = 1e15;
constexpr double kMostGigabytes = 1e6;
constexpr std::uint64_t kMostGpus = 1 << 20;
constexpr const char* kMixed = "mixed";

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names = preset_names();
  for (const std::string_view name : network_names())
    names.push_back(name);
  return names;
}

bool is_preset(std::string_view name) {
  const auto names = preset_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<Precision> precision_named(const std::string& name) {
  if (name == kMixed) return Precision::fp16_mixed;
  const auto precision = precision_from(name);
  if (!precision)
    return error(Code::bad_input, "--precision '%s': expected mixed, fp32, amp, bf16 or fp16-mixed",
                 name.substr(0, 60).c_str());
  return precision;
}

Result<double> percent_from(const std::string& text) {
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  const auto percent = base::parse_double(number);
  if (!percent || !(*percent >= 0 && *percent <= 1000))
    return error(Code::bad_input, "--overhead '%s': expected 0%% to 1000%%, e.g. 15%%",
                 text.substr(0, 60).c_str());
  return *percent;
}

/// Bytes for each parameter, by what plan() counts for a large matrix.
struct PerParameter {
  double weights = 0;
  double gradients = 0;
  double master_weights = 0;
  double optimizer_state = 0;
  double sum() const { return weights + gradients + master_weights + optimizer_state; }
};

PerParameter per_parameter(Optimizer optimizer, Precision precision) {
  constexpr std::uint64_t kWidth = 1 << 15;
  Parameter parameter;
  parameter.last = kWidth;
  parameter.before_last = kWidth;
  Value weight;
  weight.elements = kWidth * kWidth;
  weight.type = weight_type(precision);
  const bool master = precision == Precision::fp16_mixed;
  double state = 0;
  for (const std::uint64_t bytes : tensors_of(optimizer, parameter, weight, master).state)
    state += static_cast<double>(bytes) / static_cast<double>(weight.elements);
  PerParameter bytes;
  bytes.weights = bytes.gradients = static_cast<double>(bytes_of(weight.type));
  bytes.master_weights = master ? 4 : 0;
  bytes.optimizer_state = state - bytes.master_weights;
  return bytes;
}

Result<Plan> plan_of_preset(const BudgetOptions& options, const std::string& precision) {
  TransformerOptions words;
  words.preset = options.model;
  words.precision = precision == kMixed ? name_of(Precision::fp16_mixed) : precision;
  words.optimizer = options.optimizer;
  words.batch = options.batch;
  words.sequence = options.sequence;
  if (options.gpus > 1) {
    words.fsdp = true;
    words.gpus = options.gpus;
  }
  const auto request = request_of(words);
  if (!request) return request.error();
  return plan(*request);
}

Result<Plan> plan_of_network(const BudgetOptions& options, const std::string& precision) {
  if (options.gpus > 1)
    return error(Code::bad_input, "--gpus %llu: networks of the simulator train on one device",
                 static_cast<unsigned long long>(options.gpus));
  if (options.sequence)
    return error(Code::bad_input, "--seq: networks of the simulator have no tokens");
  NetworkOptions words;
  words.name = *options.model;
  words.precision = precision == kMixed ? name_of(Precision::fp16_mixed) : precision;
  words.optimizer = options.optimizer;
  words.batch = options.batch;
  const auto request = request_of(words);
  if (!request) return request.error();
  return plan(*request);
}

Result<std::optional<Plan>> exact_plan(const BudgetOptions& options, const std::string& precision) {
  if (!options.model) {
    if (options.batch || options.sequence)
      return error(Code::bad_input, "%s: of which model? expected --model NAME",
                   options.batch ? "--batch" : "--seq");
    return std::optional<Plan>();
  }
  const auto planned = is_preset(*options.model) ? plan_of_preset(options, precision)
                                                 : plan_of_network(options, precision);
  if (!planned) return planned.error();
  return std::optional<Plan>(*planned);
}

/// That the model is known, before anything else is said about it.
base::Status check_model(const std::optional<std::string>& model) {
  if (!model || is_preset(*model) || is_network_file(*model) || network_named(*model, {}, 10))
    return {};
  const std::string shown = model->substr(0, 60);
  if (const auto guess = base::nearest(*model, model_names()))
    return error(Code::bad_input, "--model '%s': did you mean %s?", shown.c_str(),
                 std::string(*guess).c_str());
  return error(Code::bad_input, "--model '%s' is not known (ebb plan budget --help lists them)",
               shown.c_str());
}

Result<std::uint64_t> parameters_of(const BudgetOptions& options,
                                    const std::optional<Plan>& exact) {
  if (options.parameters) {
    const double number = *options.parameters;
    if (!(number >= 1 && number <= kMostParameters) || number != std::floor(number))
      return error(Code::bad_input, "--params %g: expected a whole number from 1 to 1e15, e.g. 7e9",
                   number);
    return static_cast<std::uint64_t>(number);
  }
  if (exact) return exact->parameters;
  return error(Code::bad_input,
               "how many parameters? expected --params, e.g. 7e9, or --model NAME");
}

std::uint64_t times(double bytes, std::uint64_t parameters) {
  return static_cast<std::uint64_t>(std::llround(bytes * static_cast<double>(parameters)));
}

}  // namespace

base::Options options_of(BudgetOptions& o) {
  std::string models;
  for (const std::string_view name : model_names())
    models += (models.empty() ? "" : ", ") + std::string(name);
  return {
      {"params", &o.parameters, "Parameters of the model, e.g. 7e9"},
      {"optimizer", &o.optimizer, "adam, adamw, sgd, sgdm, adam8bit or adafactor"},
      {"precision", &o.precision,
       "mixed (16-bit weights and gradients, a copy in f32), fp32, amp or bf16"},
      {"activation_gb", &o.activation_gb,
       "Activations of all devices together, in GB of 10^9 bytes (not counted)"},
      {"overhead", &o.overhead, "What is added for everything else, e.g. 15%"},
      {"gpus", &o.gpus, "Devices that all of it is split over evenly"},
      {"model", &o.model, "Also plans this model exactly, and counts its parameters: " + models},
      {"batch", &o.batch, "Samples of one step on one device, for --model"},
      {"seq", &o.sequence, "Tokens of one sample, for --model"},
  };
}

std::optional<double> Budget::difference_percent() const {
  if (!exact) return {};
  return 100 * (static_cast<double>(per_gpu()) / static_cast<double>(exact->device_total()) - 1);
}

Result<Budget> budget_of(const BudgetOptions& options) {
  if (const base::Status known = check_model(options.model); !known) return known.error();
  const bool is_network = options.model && !is_preset(*options.model);
  Budget budget;
  budget.precision = options.precision.value_or(is_network ? name_of(Precision::amp) : kMixed);
  budget.optimizer = options.optimizer;
  budget.gpus = options.gpus;
  const auto precision = precision_named(budget.precision);
  if (!precision) return precision.error();
  const auto optimizer = optimizer_from(options.optimizer);
  if (!optimizer) return optimizer.error();
  const auto overhead = percent_from(options.overhead);
  if (!overhead) return overhead.error();
  if (options.gpus < 1 || options.gpus > kMostGpus)
    return error(Code::bad_input, "--gpus %llu: expected 1 to 2^20",
                 static_cast<unsigned long long>(options.gpus));
  if (options.activation_gb &&
      !(*options.activation_gb >= 0 && *options.activation_gb <= kMostGigabytes))
    return error(Code::bad_input, "--activation-gb %g: expected 0 to 1e6", *options.activation_gb);
  auto exact = exact_plan(options, budget.precision);
  if (!exact) return exact.error();
  budget.exact = std::move(*exact);
  const auto parameters = parameters_of(options, budget.exact);
  if (!parameters) return parameters.error();
  budget.parameters = *parameters;

  const PerParameter bytes = per_parameter(*optimizer, *precision);
  budget.bytes_per_parameter = bytes.sum();
  budget.weights = times(bytes.weights, *parameters);
  budget.gradients = times(bytes.gradients, *parameters);
  budget.master_weights = times(bytes.master_weights, *parameters);
  budget.optimizer_state = times(bytes.optimizer_state, *parameters);
  if (options.activation_gb)
    budget.activations = static_cast<std::uint64_t>(std::llround(*options.activation_gb * 1e9));
  budget.overhead_percent = *overhead;
  budget.overhead = times(*overhead / 100, budget.total());
  return budget;
}

base::Json to_json(const Budget& budget) {
  return base::Json::object({{"parameters", budget.parameters},
                             {"optimizer", budget.optimizer},
                             {"precision", budget.precision},
                             {"gpus", budget.gpus},
                             {"bytes_per_parameter", budget.bytes_per_parameter},
                             {"weights_bytes", budget.weights},
                             {"gradients_bytes", budget.gradients},
                             {"master_weights_bytes", budget.master_weights},
                             {"optimizer_bytes", budget.optimizer_state},
                             {"activations_bytes", budget.activations},
                             {"overhead_percent", budget.overhead_percent},
                             {"overhead_bytes", budget.overhead},
                             {"total_bytes", budget.total()},
                             {"per_gpu_bytes", budget.per_gpu()},
                             {"plan", budget.exact ? to_json(*budget.exact) : base::Json()},
                             {"difference_percent", budget.difference_percent()}});
}

}  // namespace ebb::plan
