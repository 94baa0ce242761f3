// SPDX-License-Identifier: Apache-2.0
#include "run/preparation.h"

#include <unistd.h>

#include <algorithm>

#include "base/program.h"
#include "base/text.h"

extern char** environ;

namespace ebb::run {
namespace {

constexpr const char* kAgentName = "libebb-agent.so";
constexpr const char* kSitesName = "libebb-sites.so";
/// Whether one comes with this build.
constexpr bool kHasAgent = EBB_HAS_AGENT != 0;
constexpr bool kHasSites = EBB_HAS_SITES != 0;

/// In front of what stands there, or behind it, unless it is in it already.
std::string joined(const std::string& value, const std::string& before, bool in_front) {
  const auto parts = base::split(before, ':');
  if (before.empty()) return value;
  if (std::find(parts.begin(), parts.end(), value) != parts.end()) return before;
  return in_front ? value + ":" + before : before + ":" + value;
}

class Collector {
 public:
  explicit Collector(const keep::Environment& environment) : environment_(environment) {}

  void set(const std::string& name, const std::string& value, const std::string& why,
           Preparation& into) {
    if (const auto users = environment_(name.c_str())) {
      into.notes.push_back(name + " stays " + *users + ", as you set it");
      return;
    }
    into.variables.push_back({name, value, why});
  }

  void prepend(const std::string& name, const std::string& value, const std::string& why,
               Preparation& into) {
    join(name, value, why, true, into);
  }
  void append(const std::string& name, const std::string& value, const std::string& why,
              Preparation& into) {
    join(name, value, why, false, into);
  }

 private:
  void join(const std::string& name, const std::string& value, const std::string& why,
            bool in_front, Preparation& into) {
    for (JobVariable& variable : into.variables) {
      if (variable.name != name) continue;
      variable.value = joined(value, variable.value, in_front);
      variable.why += "; " + why;
      return;
    }
    into.variables.push_back(
        {name, joined(value, environment_(name.c_str()).value_or(""), in_front), why});
  }

  const keep::Environment& environment_;
};

/// In front of everything else that is preloaded, the allocator among it.
void prepare_sites(const std::string& folder, const std::string& socket, const Options& options,
                   Collector& collector, Preparation& into) {
  if (!kHasSites) {
    if (options.sites == Sites::asked_for)
      into.notes.emplace_back(
          "no sites: this ebb was built without them; they need x86-64 and glibc");
    return;
  }
  const std::string object = folder + "/" + kSitesName;
  if (::access(object.c_str(), R_OK) != 0) {
    into.notes.push_back("no sites: " + object + " is not there");
    return;
  }
  if (const std::string why = why_no_sites_in(into.target.program); !why.empty()) {
    into.notes.push_back("no sites: " + why);
    return;
  }
  if (!into.target.no_agent.empty() && !into.target.path.empty())
    into.notes.push_back("no sites: " + into.target.no_agent +
                         "; its children have them if they can");
  into.sites = socket.substr(0, socket.rfind('/'));
  collector.prepend("LD_PRELOAD", object, "allocations are sampled", into);
  into.variables.push_back({"EBB_SITES", into.sites, "where samples are kept"});
  if (options.objects)
    into.variables.push_back({"EBB_SITES_OBJECTS", "1", "Python's small objects are sampled"});
}

base::Result<std::vector<keep::EnvironmentVariable>> recommended(const Options& options) {
  const bool keeps = options.allocator == "keep" || options.allocator == "glibc";
  auto variables = keep::job_environment_for(options.role.value_or(keep::Role::server),
                                             keeps ? "glibc" : options.allocator);
  if (!variables) return variables;
  // Without a role nothing is known of the job's threads: arenas and thresholds stay glibc's own.
  if (keeps && !options.role)
    std::erase_if(*variables,
                  [](const auto& variable) { return variable.name != "GLIBC_TUNABLES"; });
  return variables;
}

}  // namespace

base::Result<std::string> agent_folder() {
  const auto agent = base::file_of_program(kAgentName, {"agent"});  // there in a Python package
  if (!agent) return agent.error();
  return agent->substr(0, agent->rfind('/'));
}

base::Result<Preparation> prepare(const Options& options, const std::string& socket,
                                  const keep::Environment& environment) {
  Preparation made;
  made.target = find_target(options.command.front(), environment("PATH").value_or("/usr/bin:/bin"));
  if (!options.manage) {
    made.notes.emplace_back("not managed: nothing is set, preloaded or cleaned up");
    return made;
  }
  auto variables = recommended(options);
  if (!variables) return variables.error();
  Collector collector(environment);
  for (const keep::EnvironmentVariable& variable : *variables) {
    switch (variable.place) {
      case keep::Placement::if_unset:
        collector.set(variable.name, variable.value, variable.why, made);
        break;
      case keep::Placement::front:
        collector.prepend(variable.name, variable.value, variable.why, made);
        break;
      case keep::Placement::back:
        collector.append(variable.name, variable.value, variable.why, made);
        break;
    }
  }
  if (options.role)
    collector.set("EBB_ROLE", keep::name_of(*options.role), "libebb's schedules follow it", made);
  if (options.nvflare) {
    made.variables.push_back(
        {"EBB_NVFLARE", "1", "NVFlare lets go of each result once it is processed"});
  }
  if (!kHasAgent) {
    made.notes.emplace_back(
        "no agent: this ebb was built for musl, which has none; processes are watched from "
        "outside");
    return made;
  }
  if (!made.target.no_agent.empty() && !made.target.path.empty()) {
    made.notes.push_back("no agent: " + made.target.no_agent +
                         "; its children get one if they can");
  }
  const auto folder = agent_folder();
  if (!folder) {
    made.notes.push_back("no agent: " + folder.error().message);
    return made;
  }
  made.agent = *folder + "/" + kAgentName;
  collector.prepend("LD_PRELOAD", made.agent, "the agent reads the heap and cleans up", made);
  made.variables.push_back({"EBB_SOCKET", socket, "where the agent finds the supervisor"});
  collector.prepend("PYTHONPATH", *folder + "/python",
                    "in Python jobs garbage collection takes part in cleanups", made);
  if (options.sites != Sites::no) prepare_sites(*folder, socket, options, collector, made);
  return made;
}

std::vector<std::string> environment_with(const std::vector<JobVariable>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_replaced = std::any_of(variables.begin(), variables.end(),
                                         [&](const JobVariable& v) { return v.name == name; });
    if (!is_replaced) all.emplace_back(text);
  }
  for (const JobVariable& variable : variables)
    all.push_back(variable.name + "=" + variable.value);
  return all;
}

}  // namespace ebb::run
