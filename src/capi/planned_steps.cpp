// SPDX-License-Identifier: Apache-2.0
#include "capi/planned_steps.h"

#include <string>

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
  const auto planned = plan::plan(*request);
  if (!planned) return planned.error();
  Json json = to_json(*planned);
  if (*cap) {
    const auto fit = plan::fit(*request, **cap);
    if (!fit) return fit.error();
    json.set("fit", to_json(*fit));
  }
  return json;
}

}  // namespace

base::Result<Json> call_plan(const Json& arguments) {
  const Json* transformer = arguments.find("transformer");
  const Json* model = arguments.find("model");
  const Json* what = transformer != nullptr ? transformer : model;
  if (arguments.as_object()->size() != 1 || what == nullptr || !what->is_object())
    return base::error(Code::bad_input,
                       "plan: expected {\"transformer\": {…}} or {\"model\": {…}}");
  return what == transformer ? answer(options_from<plan::TransformerOptions>(*what))
                             : answer(options_from<plan::NetworkOptions>(*what));
}

}  // namespace ebb::capi
