// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ebb/ebb.h"
#include "ebb/error.hpp"

// Part of ebb.hpp, which is what to include.

namespace ebb {

/// Federated learning, simulated by the program ebb-simulate in a process of its own
/// (docs/simulate.md). Ended at once with this object. One thread waits; any may stop it.
class Simulation {
 public:
  /// Takes a line of JSON, a round or a warning as ebb_simulation_line describes them; false stops
  /// the simulation after the round under way.
  using Each = std::function<bool(std::string_view line)>;

  /// `options`: a JSON object, e.g. R"({"dataset": "synthetic", "rounds": 3})".
  explicit Simulation(const std::string& options) : Simulation("simulate", options) {}
  /// Several methods side by side: R"({"methods": ["heuristic.random", "system_aware.oort"]})".
  static Simulation compare(const std::string& options) { return Simulation("compare", options); }

  Simulation(Simulation&& other) noexcept
      : simulation_(std::exchange(other.simulation_, nullptr)) {}
  Simulation& operator=(Simulation&& other) noexcept {
    std::swap(simulation_, other.simulation_);
    return *this;
  }
  ~Simulation() { ebb_simulation_destroy(simulation_); }

  /// Waits for the end and returns the result: what the program prints with --json. An exception of
  /// `each` ends the simulation at once, and is thrown again from here.
  std::string wait(const Each& each = {}) { return *wait_for(-1, each); }

  /// The same for at most so many seconds; nothing if it has not ended by then.
  std::optional<std::string> wait_for(double seconds, const Each& each = {}) {
    Call call{simulation_, each, nullptr};
    char* result = nullptr;
    const int code = ebb_simulation_wait(simulation_, seconds, each ? &Simulation::call : nullptr,
                                         &call, &result);
    const std::unique_ptr<char, void (*)(char*)> owned(result, &ebb_free);
    if (call.thrown) std::rethrow_exception(call.thrown);
    detail::check(code);
    return result != nullptr ? std::optional<std::string>(result) : std::nullopt;
  }

  /// The next line; nothing if so many seconds pass without one (negative: however long it takes),
  /// or once it has ended.
  std::optional<std::string> next(double seconds = -1) {
    char* line = nullptr;
    detail::check(ebb_simulation_next(simulation_, seconds, &line, nullptr));
    const std::unique_ptr<char, void (*)(char*)> owned(line, &ebb_free);
    return line != nullptr ? std::optional<std::string>(line) : std::nullopt;
  }

  /// After the round under way, or at once. The result is then what there is.
  void stop(bool at_once = false) {
    detail::check(ebb_simulation_stop(simulation_, at_once ? 1 : 0));
  }

  /// Its process.
  int pid() const { return ebb_simulation_pid(simulation_); }

 private:
  struct Call {
    ebb_simulation* simulation;
    const Each& each;
    std::exception_ptr thrown;
  };

  Simulation(const char* verb, const std::string& options) {
    detail::check(ebb_simulation_start(verb, options.c_str(), &simulation_));
  }

  static int call(void* context, const char* line) {
    Call& now = *static_cast<Call*>(context);
    if (now.thrown) return 1;
    try {
      return now.each(line) ? 0 : 1;
    } catch (...) {
      now.thrown = std::current_exception();
      ebb_simulation_stop(now.simulation, 1);
      return 1;
    }
  }

  ebb_simulation* simulation_ = nullptr;
};

}  // namespace ebb
