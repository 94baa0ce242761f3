// SPDX-License-Identifier: Apache-2.0
#include "capi/simulation.h"

#include <algorithm>

#include "base/clock.h"

#include "capi/runtime.h"
#include "capi/simulator_process.h"

using namespace ebb;
using base::Code;
using base::Json;
using capi::fail;
using capi::guarded;

struct ebb_simulation {
  std::unique_ptr<capi::SimulatorProcess> process;
};

namespace ebb::capi {
namespace {

base::Result<Json> to_the_end(const char* verb, const Json& arguments) {
  const auto process = SimulatorProcess::start(verb, arguments);
  if (!process) return process.error();
  while (!(*process)->has_ended()) {
    const auto line = (*process)->next(-1);
    if (!line) return line.error();
  }
  return (*process)->result();
}

}  // namespace

base::Result<Json> call_simulate(const Json& arguments) {
  return to_the_end("simulate", arguments);
}

base::Result<Json> call_compare(const Json& arguments) {
  return to_the_end("compare", arguments);
}

}  // namespace ebb::capi

int ebb_simulation_start(const char* verb, const char* options, ebb_simulation** simulation) {
  return guarded([&] {
    if (verb == nullptr || simulation == nullptr)
      return fail(base::error(Code::bad_input, "verb and simulation must not be null"));
    const auto parsed = base::parse_json(options == nullptr || *options == '\0' ? "{}" : options);
    if (!parsed) return fail(parsed.error());
    auto started = capi::SimulatorProcess::start(verb, *parsed);
    if (!started) return fail(started.error());
    *simulation = new ebb_simulation{*std::move(started)};
    return static_cast<int>(EBB_OK);
  });
}

int ebb_simulation_next(ebb_simulation* simulation, double seconds, char** line, int* ended) {
  return guarded([&] {
    if (simulation == nullptr || line == nullptr)
      return fail(base::error(Code::bad_input, "simulation and line must not be null"));
    *line = nullptr;
    const auto next = simulation->process->next(seconds);
    if (!next) return fail(next.error());
    if (ended != nullptr) *ended = !*next && simulation->process->has_ended() ? 1 : 0;
    return *next ? capi::store_text(**next, line) : static_cast<int>(EBB_OK);
  });
}

int ebb_simulation_wait(ebb_simulation* simulation, double seconds, ebb_simulation_line each,
                        void* context, char** result) {
  return guarded([&] {
    if (simulation == nullptr)
      return fail(base::error(Code::bad_input, "simulation must not be null"));
    if (result != nullptr) *result = nullptr;
    capi::SimulatorProcess& process = *simulation->process;
    const std::int64_t start = base::system_clock().now_ns();
    while (!process.has_ended()) {
      const double passed = base::seconds_between(start, base::system_clock().now_ns());
      const auto line = process.next(seconds < 0 ? seconds : std::max(0.0, seconds - passed));
      if (!line) return fail(line.error());
      if (*line && each != nullptr && each(context, (*line)->c_str()) != 0) {
        if (const auto stopped = process.stop(false); !stopped) return fail(stopped.error());
      }
      if (!*line && seconds >= 0 && !process.has_ended()) return static_cast<int>(EBB_OK);
    }
    const auto ended = process.result();
    if (!ended) return fail(ended.error());
    return result == nullptr ? static_cast<int>(EBB_OK) : capi::store_text(ended->text(), result);
  });
}

int ebb_simulation_stop(ebb_simulation* simulation, int at_once) {
  return guarded([&] {
    if (simulation == nullptr)
      return fail(base::error(Code::bad_input, "simulation must not be null"));
    const auto stopped = simulation->process->stop(at_once != 0);
    return stopped ? static_cast<int>(EBB_OK) : fail(stopped.error());
  });
}

int ebb_simulation_pid(const ebb_simulation* simulation) {
  return simulation == nullptr ? 0 : static_cast<int>(simulation->process->pid());
}

void ebb_simulation_destroy(ebb_simulation* simulation) {
  delete simulation;
}
