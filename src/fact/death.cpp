// SPDX-License-Identifier: Apache-2.0
#include "fact/death.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/signal_name.h"
#include "base/text.h"

namespace ebb::fact {
namespace {

using base::Json;

constexpr std::array<const char*, 9> kKillers{"unknown",      "cgroup",    "machine",
                                              "systemd_oomd", "rlimit_as", "rlimit_cpu",
                                              "sender",       "terminal",  "ebb"};

std::string signal_text(const std::optional<int>& signal) {
  if (!signal) return "a signal";
  const std::string name = base::signal_name(*signal);
  return name.empty() ? "signal " + std::to_string(*signal) : name;
}

/// "process 4711 (bash)".
std::string process_text(const std::optional<std::int32_t>& pid, const std::string& name) {
  if (!pid) return name.empty() ? "a process" : "a process (" + name + ")";
  return "process " + std::to_string(*pid) + (name.empty() ? "" : " (" + name + ")");
}

std::string victim_text(const Death& death) {
  if (death.of_command) return "it";
  return process_text(death.pid, death.process) + " of the job";
}

std::string group_text(const Death& death) {
  if (death.group.empty()) return "a control group that cannot be seen from here";
  if (!death.level || *death.level == 0) return "its control group " + death.group;
  return base::format_text("the control group %s, %llu level%s above its own,", death.group.c_str(),
                           static_cast<unsigned long long>(*death.level),
                           *death.level == 1 ? "" : "s");
}

std::string limit_text(const Death& death) {
  return death.limit ? " (limit " + base::bytes_text(*death.limit) + ")" : "";
}

std::string sender_text(const Death& death) {
  if (!death.sender) return "a process outside of this pid namespace";
  const std::string name =
      death.sender_name.empty() ? "gone before its name could be read" : death.sender_name;
  return process_text(death.sender, name);
}

template <class T>
std::optional<T> whole_number(const Json& json, const char* key) {
  const Json* found = json.find(key);
  const auto number = found == nullptr ? std::nullopt : found->as_int();
  if (!number || *number < std::int64_t{std::numeric_limits<T>::min()} ||
      *number > std::int64_t{std::numeric_limits<T>::max()})
    return std::nullopt;
  return static_cast<T>(*number);
}

std::optional<std::uint64_t> count(const Json& json, const char* key) {
  const Json* found = json.find(key);
  return found == nullptr ? std::nullopt : found->as_unsigned();
}

std::optional<double> real(const Json& json, const char* key) {
  const Json* found = json.find(key);
  return found == nullptr ? std::nullopt : found->as_double();
}

std::string text(const Json& json, const char* key) {
  const Json* found = json.find(key);
  return found == nullptr || found->as_string() == nullptr ? "" : *found->as_string();
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

template <class T>
Json number_or_null(const std::optional<T>& number) {
  return number ? Json(std::int64_t{*number}) : Json();
}

}  // namespace

const char* name_of(Killer killer) {
  return kKillers.at(static_cast<std::size_t>(killer));
}

Killer killer_from(std::string_view name) {
  const auto* const found = std::find(kKillers.begin(), kKillers.end(), name);
  return found == kKillers.end() ? Killer::unknown : static_cast<Killer>(found - kKillers.begin());
}

bool Death::is_out_of_memory() const {
  return by == Killer::cgroup || by == Killer::machine || by == Killer::systemd_oomd;
}

std::string text_of(const Death& death) {
  switch (death.by) {
    case Killer::cgroup:
      return "the kernel killed " + victim_text(death) + ", since " + group_text(death) +
             " was full" + limit_text(death);
    case Killer::machine:
      return "the kernel killed " + victim_text(death) +
             ", since the memory of the machine was full";
    case Killer::systemd_oomd:
      return "systemd-oomd killed " + group_text(death);
    case Killer::rlimit_as:
      return "an allocation failed at the limit of its address space (RLIMIT_AS" +
             (death.limit ? " " + base::bytes_text(*death.limit) : "") +
             (death.reached ? ", of which " + base::bytes_text(*death.reached) + " were used)"
                            : ")");
    case Killer::rlimit_cpu:
      return "the kernel sent " + signal_text(death.signal) +
             ": its time on processors was up (RLIMIT_CPU" +
             (death.limit_seconds ? " " + base::duration_text(*death.limit_seconds) : "") +
             (death.used_seconds ? ", used " + base::duration_text(*death.used_seconds) + ")"
                                 : ")");
    case Killer::sender:
      return signal_text(death.signal) + " from " + sender_text(death);
    case Killer::terminal:
      return signal_text(death.signal) + " from the terminal";
    case Killer::ebb:
      return "stopped by Ebb: memory stayed critical";
    case Killer::unknown:
      break;
  }
  return signal_text(death.signal) + " from outside, sender not known";
}

std::string brief_of(const Death& death) {
  switch (death.by) {
    case Killer::cgroup:
    case Killer::machine:
    case Killer::systemd_oomd:
      return "out of memory";
    case Killer::rlimit_as:
      return "out of address space";
    case Killer::rlimit_cpu:
      return "out of CPU time";
    case Killer::ebb:
      return "stopped";
    default:
      break;
  }
  return "";
}

Json to_json(const Death& death) {
  Json findings = Json::array();
  for (const std::string& finding : death.findings)
    findings.push(finding);
  Json sender;
  if (death.by == Killer::sender) {
    sender = Json::object({{"pid", number_or_null(death.sender)},
                           {"name", text_or_null(death.sender_name)},
                           {"user", number_or_null(death.sender_user)}});
  }
  return Json::object({{"by", name_of(death.by)},
                       {"text", text_of(death)},
                       {"seconds", death.seconds},
                       {"signal", death.signal},
                       {"of_command", death.of_command},
                       {"pid", number_or_null(death.pid)},
                       {"process", text_or_null(death.process)},
                       {"group", text_or_null(death.group)},
                       {"level", death.level},
                       {"limit_bytes", death.limit},
                       {"reached_bytes", death.reached},
                       {"memory", death.memory.usage ? to_json(death.memory) : Json()},
                       {"limit_seconds", death.limit_seconds},
                       {"used_seconds", death.used_seconds},
                       {"sender", std::move(sender)},
                       {"findings", std::move(findings)}});
}

std::optional<Death> death_from(const Json& json) {
  const Json* by = json.find("by");
  if (by == nullptr || by->as_string() == nullptr) return std::nullopt;
  Death death;
  death.by = killer_from(*by->as_string());
  death.seconds = real(json, "seconds").value_or(0);
  death.signal = whole_number<int>(json, "signal");
  const Json* of_command = json.find("of_command");
  death.of_command = of_command == nullptr || of_command->as_bool().value_or(true);
  death.pid = whole_number<std::int32_t>(json, "pid");
  death.process = text(json, "process");
  death.group = text(json, "group");
  death.level = count(json, "level");
  death.limit = count(json, "limit_bytes");
  death.reached = count(json, "reached_bytes");
  death.limit_seconds = real(json, "limit_seconds");
  death.used_seconds = real(json, "used_seconds");
  if (const Json* memory = json.find("memory")) death.memory = group_memory_from(*memory);
  if (const Json* sender = json.find("sender"); sender != nullptr && sender->is_object()) {
    death.sender = whole_number<std::int32_t>(*sender, "pid");
    death.sender_name = text(*sender, "name");
    death.sender_user = whole_number<std::uint32_t>(*sender, "user");
  }
  const Json* findings = json.find("findings");
  if (findings != nullptr && findings->as_array() != nullptr) {
    for (const Json& finding : *findings->as_array())
      if (finding.as_string() != nullptr) death.findings.push_back(*finding.as_string());
  }
  return death;
}

}  // namespace ebb::fact
