// SPDX-License-Identifier: Apache-2.0
#include "capi/planned_steps.h"

#include <string>

#include "plan/budget.h"
#include "plan/client_table.h"
#include "plan/fit.h"
#include "plan/options.h"

namespace ebb::capi {
namespace {

using base::Code;
using base::Json;

/// What `arguments` say, as the options of `ebb plan`.
template <class Options>
base::Result<Options> options_from(const Json& arguments) {
  Options options;
  const base::Options known = plan::options_of(options);
  for (const auto& [key, value] : *arguments.as_object()) {
    const base::Option* const option = base::find(known, key);
    if (option == nullptr)
      return base::error(Code::bad_input, "%s: no such argument of plan",
                         key.substr(0, 60).c_str());
    if (value.is_null()) continue;
    if (const base::Status set = base::set(*option, value); !set) return set.error();
  }
  for (const base::Option& option : known)
    if (option.required && arguments.find(option.key) == nullptr)
      return base::error(Code::bad_input, "%s: expected that of a model",
                         std::string(option.key).c_str());
  return options;
}

template <class Options>
base::Result<Json> answer(const base::Result<Options>& options) {
  if (!options) return options.error();
  auto request = plan::request_of(*options);
  if (!request) return request.error();
  const auto cap = plan::cap_of(*options);
  if (!cap) return cap.error();
  if (options->measured) {
    const auto recorded = plan::read_recorded_step(*options->measured);
    if (!recorded) return recorded.error();
    request = plan::corrected(*request, *recorded);
    if (!request) return request.error();
  }
  if (*cap) {
    const auto fit = plan::fit(*request, **cap);
    if (!fit) return fit.error();
    return plan_json(*fit);
  }
  const auto planned = plan::plan(*request);
  if (!planned) return planned.error();
  return to_json(*planned);
}

base::Result<Json> budget_answer(const base::Result<plan::BudgetOptions>& options) {
  if (!options) return options.error();
  const auto budget = plan::budget_of(*options);
  if (!budget) return budget.error();
  return to_json(*budget);
}

base::Result<Json> clients_answer(const base::Result<plan::ClientTableOptions>& options) {
  if (!options) return options.error();
  const auto table = plan::client_table(*options);
  if (!table) return table.error();
  return to_json(*table);
}

}  // namespace

base::Result<Json> call_plan(const Json& arguments) {
  const base::Json::Object& kinds = *arguments.as_object();
  if (kinds.size() == 1 && kinds.front().second.is_object()) {
    const auto& [kind, what] = kinds.front();
    if (kind == "transformer") return answer(options_from<plan::TransformerOptions>(what));
    if (kind == "model") return answer(options_from<plan::NetworkOptions>(what));
    if (kind == "budget") return budget_answer(options_from<plan::BudgetOptions>(what));
    if (kind == "clients") return clients_answer(options_from<plan::ClientTableOptions>(what));
  }
  return base::error(
      Code::bad_input,
      "plan: expected {\"transformer\": {…}}, {\"model\": {…}}, {\"budget\": {…}} or "
      "{\"clients\": {…}}");
}

}  // namespace ebb::capi
