// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "base/json.h"
#include "base/text.h"
#include "capi/planned_steps.h"
#include "capi/recorded_jobs.h"
#include "capi/runtime.h"
#include "capi/simulation.h"
#include "capi/torch_shortage.h"
#include "keep/info.h"
#include "keep/job_environment.h"

namespace {

using namespace ebb;
using base::Code;
using base::Json;

base::Result<Json> call_info(const Json& arguments) {
  const Json* pid = arguments.find("pid");
  if (pid != nullptr && !pid->as_int())
    return base::error(Code::bad_input, "pid: expected a number");
  auto info = pid == nullptr ? keep::info_here() : keep::info_of(static_cast<int>(*pid->as_int()));
  if (!info) return info.error();
  const capi::CpuUse::Percent cpu = capi::runtime().cpu.read();
  if (pid == nullptr) info->cpu_percent = cpu.process;
  info->machine_cpu_percent = cpu.machine;
  return keep::to_json(*info);
}

base::Result<Json> call_cleanup(const Json& arguments) {
  keep::CleanupRequest request;
  for (const auto& [key, flag] :
       {std::pair{"cuda_empty_cache", &request.cuda_empty_cache},
        std::pair{"hooks", &request.hooks}, std::pair{"deep", &request.deep},
        std::pair{"collect_garbage", &request.collect_garbage}}) {
    const Json* value = arguments.find(key);
    if (value == nullptr) continue;
    if (!value->as_bool()) return base::error(Code::bad_input, "%s: expected true or false", key);
    *flag = *value->as_bool();
  }
  if (capi::runtime().disabled()) return Json::object({{"disabled", true}});
  return keep::to_json(capi::runtime().cleaner.clean(request));
}

base::Result<Json> call_env(const Json& arguments) {
  const auto role_name = capi::text_argument(arguments, "role", "client");
  const auto allocator_name = capi::text_argument(arguments, "allocator", "glibc");
  if (!role_name) return role_name.error();
  if (!allocator_name) return allocator_name.error();
  const base::Result<keep::Role> role = keep::role_from(*role_name);
  if (!role) return role.error();
  std::optional<int> arenas;
  if (const Json* value = arguments.find("arenas"); value != nullptr && !value->is_null()) {
    const auto number = value->as_int();
    if (!number || *number < 1 || *number > 4096)
      return base::error(Code::bad_input, "arenas %s: expected 1 to 4096", value->text().c_str());
    arenas = static_cast<int>(*number);
  }
  const auto variables = keep::job_environment_for(*role, *allocator_name, arenas);
  if (!variables) return variables.error();
  return Json::object({{"role", *role_name},
                       {"allocator", *allocator_name},
                       {"variables", keep::to_json(*variables)}});
}

struct Verb {
  const char* name;
  base::Result<Json> (*run)(const Json& arguments);
};

constexpr Verb kVerbs[] = {{"info", call_info},
                           {"cleanup", call_cleanup},
                           {"env", call_env},
                           {"replay", capi::call_replay},
                           {"tune", capi::call_tune},
                           {"doctor", capi::call_doctor},
                           {"plan", capi::call_plan},
                           {"simulate", capi::call_simulate},
                           {"compare", capi::call_compare},
                           {"shortage", capi::call_shortage}};

}  // namespace

int ebb_call(const char* verb, const char* arguments, char** result) {
  return capi::guarded([&] {
    if (verb == nullptr || result == nullptr)
      return capi::fail(base::error(Code::bad_input, "verb and result must not be null"));
    const base::Result<Json> parsed =
        base::parse_json(arguments == nullptr || *arguments == '\0' ? "{}" : arguments);
    if (!parsed) return capi::fail(parsed.error());
    if (!parsed->is_object())
      return capi::fail(base::error(Code::bad_input, "arguments: expected a JSON object"));
    for (const Verb& known : kVerbs) {
      if (std::strcmp(known.name, verb) != 0) continue;
      const base::Result<Json> answer = known.run(*parsed);
      if (!answer) return capi::fail(answer.error());
      return capi::store_text(answer->text(), result);
    }
    return capi::fail(base::error(
        Code::bad_input,
        "unknown verb '%s': expected info, cleanup, env, replay, tune, doctor, plan, simulate, "
        "compare or shortage",
        verb));
  });
}

void ebb_free(char* text) {
  std::free(text);
}
