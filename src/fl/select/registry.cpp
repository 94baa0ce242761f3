// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/text.h"
#include "fl/names.h"
#include "fl/select/all.h"
#include "fl/select/candidates.h"

namespace ebb::fl {
namespace {

constexpr std::array<Named<CandidatesDrawn>, 3> kDrawn = {{
    {CandidatesDrawn::never, "never"},
    {CandidatesDrawn::each_round, "each_round"},
    {CandidatesDrawn::once, "once"},
}};

std::string nearest_hint(std::string_view text, const std::vector<std::string_view>& candidates) {
  const auto near = base::nearest(text, candidates);
  return near ? " (did you mean " + std::string(*near) + "?)" : std::string();
}

base::Result<const Method*> find_method(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const Method& method : methods()) {
    if (method.key == key) return &method;
    keys.push_back(method.key);
  }
  return base::error(base::Code::bad_input, "unknown selection method '%.*s'%s",
                     static_cast<int>(key.size()), key.data(), nearest_hint(key, keys).c_str());
}

const Parameter* find_parameter(const Method& method, std::string_view name) {
  const auto found = std::find_if(method.parameters.begin(), method.parameters.end(),
                                  [&](const Parameter& known) { return known.name == name; });
  return found != method.parameters.end() ? &*found : nullptr;
}

base::Result<std::vector<double>> values_of(const Method& method,
                                            const ParameterValues& parameters) {
  std::vector<double> values;
  std::vector<std::string_view> names;
  for (const Parameter& known : method.parameters) {
    values.push_back(known.standard);
    names.push_back(known.name);
  }
  const std::string key(method.key);
  for (const auto& [name, value] : parameters) {
    const Parameter* known = find_parameter(method, name);
    if (known == nullptr)
      return base::error(base::Code::bad_input, "%s has no parameter '%s'%s", key.c_str(),
                         name.c_str(), nearest_hint(name, names).c_str());
    if (!(value >= known->least && value <= known->most))
      return base::error(base::Code::bad_input, "%s of %s is %g, expected %g to %g", name.c_str(),
                         key.c_str(), value, known->least, known->most);
    values[static_cast<std::size_t>(known - method.parameters.data())] = value;
  }
  return values;
}

/// A wrapper over the method that stands behind its separator. Parameters that the wrapper does not
/// know are the other's.
base::Result<std::unique_ptr<Selector>> create_wrapped(std::string_view key,
                                                       std::string_view base_key,
                                                       const ParameterValues& parameters,
                                                       const CandidateLimit& limit) {
  const Method wrapper = select::quota_safety_method();
  if (key != wrapper.key || base_key.find(select::kBaseSeparator) != std::string_view::npos ||
      base_key == wrapper.key)
    return base::error(base::Code::bad_input,
                       "selection method '%.*s:%.*s': expected %.*s before the colon and a method "
                       "other than it behind",
                       static_cast<int>(key.size()), key.data(), static_cast<int>(base_key.size()),
                       base_key.data(), static_cast<int>(wrapper.key.size()), wrapper.key.data());
  ParameterValues own;
  ParameterValues others;
  for (const auto& parameter : parameters)
    (find_parameter(wrapper, parameter.first) != nullptr ? own : others).push_back(parameter);
  const auto values = values_of(wrapper, own);
  if (!values) return values.error();
  auto base = create_selector(base_key, others, limit);
  if (!base) return base;
  return select::create_quota_safety(*values, std::string(base_key), *std::move(base));
}

}  // namespace

base::Status Selector::restore(const base::Json& state) {
  const base::Json::Object* members = state.as_object();
  if (members != nullptr && members->empty()) return {};
  return base::error(base::Code::bad_input,
                     "saved state of a selection method that keeps none: expected {}");
}

const std::vector<Method>& methods() {
  static const std::vector<Method> all = [] {
    std::vector<Method> list = {
        select::bandit_epsilon_greedy_method(),
        select::bandit_linucb_method(),
        select::cluster_balanced_method(),
        select::divfl_method(),
        select::fairness_adjusted_method(),
        select::fedavg_method(),
        select::fedcor_method(),
        select::fedcs_method(),
        select::gradient_norm_method(),
        select::label_coverage_method(),
        select::mmr_diverse_method(),
        select::neural_linear_ucb_method(),
        select::oort_method(),
        select::poc_method(),
        select::proportional_data_method(),
        select::quota_safety_method(),
        select::random_method(),
        select::round_robin_method(),
        select::tifl_method(),
        select::topk_loss_method(),
    };
    std::sort(list.begin(), list.end(),
              [](const Method& a, const Method& b) { return a.key < b.key; });
    return list;
  }();
  return all;
}

base::Result<std::unique_ptr<Selector>> create_selector(std::string_view key,
                                                        const ParameterValues& parameters,
                                                        const CandidateLimit& limit) {
  if (const std::size_t colon = key.find(select::kBaseSeparator); colon != std::string_view::npos)
    return create_wrapped(key.substr(0, colon), key.substr(colon + 1), parameters, limit);
  const auto method = find_method(key);
  if (!method) return method.error();
  const auto values = values_of(**method, parameters);
  if (!values) return values.error();
  auto selector = (*method)->create(*values);
  if (limit.most == 0 || (*method)->candidates == CandidatesDrawn::never) return selector;
  return select::of_candidates(std::move(selector), (*method)->candidates, limit);
}

const char* name_of(CandidatesDrawn drawn) {
  return name_in<CandidatesDrawn>(kDrawn, drawn);
}

CandidatesDrawn candidates_of(std::string_view key) {
  const auto method = find_method(key.substr(key.find(select::kBaseSeparator) + 1));
  return method ? (*method)->candidates : CandidatesDrawn::never;
}

}  // namespace ebb::fl
