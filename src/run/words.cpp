// SPDX-License-Identifier: Apache-2.0
#include "run/words.h"

#include <utility>

#include "base/duration.h"
#include "keep/job_environment.h"
#include "record/place.h"

namespace ebb::run {
namespace {

/// --sites alone.
constexpr std::string_view kAllocations = "allocations";

base::Status take_cards(const Words& words, Options& options) {
  keep::CardBounds& bounds = options.cards;
  bounds.percent.warn = words.gpu_warn.value_or(bounds.percent.warn);
  bounds.percent.critical = words.gpu_critical.value_or(bounds.percent.critical);
  bounds.headroom = words.headroom.value_or(0);
  if (const auto valid = keep::check(bounds); !valid) return valid;
  for (const auto& [given, name] : {std::pair(words.gpu_warn.has_value(), "--gpu-warn"),
                                    std::pair(words.gpu_critical.has_value(), "--gpu-critical"),
                                    std::pair(words.headroom.has_value(), "--headroom")}) {
    if (!given) continue;
    options.card_options += options.card_options.empty() ? "" : ", ";
    options.card_options += name;
  }
  return {};
}

base::Status take_sites(const Words& words, Options& options) {
  const bool is_asked = !words.sites.empty();
  const char* refused = words.no_sites    ? "no-sites"
                        : words.observe   ? "observe"
                        : words.no_record ? "no-record"
                                          : nullptr;
  options.sites = is_asked ? Sites::asked_for : refused ? Sites::no : Sites::where_possible;
  options.objects = words.sites == "objects";
  if (is_asked && !options.objects && words.sites != kAllocations) {
    return base::error(base::Code::bad_input, "--sites '%s': expected --sites or --sites=objects",
                       words.sites.c_str());
  }
  if (is_asked && refused != nullptr) {
    return base::error(
        base::Code::bad_input, "--sites and --%s: expected one of them%s", refused,
        words.no_sites ? "" : ", since sites are sampled inside the job and kept in the record");
  }
  return {};
}

/// Code::bad_input for a name by which the run could not be found again.
base::Status check_name(const std::string& name) {
  const bool is_number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  if (name != "last" && !is_number) return {};
  return base::error(base::Code::bad_input, "--name '%s': expected a name; %s", name.c_str(),
                     is_number ? "numbers are given by the record" : "last is the newest run");
}

}  // namespace

base::Options options_of(Words& o) {
  return {
      {"command", &o.command, "The command and its arguments, after --", "command", nullptr, true},
      {"role", &o.role, "server, client, trainer, aggregator or simulator"},
      {.key = "allocator",
       .place = &o.allocator,
       .help = "keep (the job's own), glibc, jemalloc, tcmalloc or mimalloc",
       .shown = "keep"},
      {"warn", &o.warn, "One line on stderr at this percentage of the limit"},
      {"critical", &o.critical, "Clean up at once at this percentage"},
      {.key = "gpu_warn",
       .place = &o.gpu_warn,
       .help = "One line on stderr at this percentage of a GPU's memory",
       .shown = "90"},
      {.key = "gpu_critical",
       .place = &o.gpu_critical,
       .help = "At this percentage empty PyTorch's cache at the end of a round, where that lasts",
       .shown = "97"},
      {"headroom", base::Bytes{&o.headroom},
       "What to keep free on a GPU between rounds, e.g. 1GiB"},
      {"on_critical", &o.on_critical,
       "If a cleanup does not help: clean (go on), or stop (TERM, --grace, KILL)"},
      {"grace", &o.grace, "Time between TERM and KILL"},
      {"interval", &o.interval, "Time between samples"},
      {"name", &o.name, "Name of the run (that of the command)"},
      {"db", &o.db, "File of the record (docs/record.md)"},
      {"no_record", &o.no_record, "Record nothing"},
      {"metrics", &o.metrics, "Serve /metrics to Prometheus at ADDRESS:PORT (docs/metrics.md)"},
      {"private", &o.is_private, "Record of commands the name of the program only"},
      {"observe", &o.observe, "Only watch and record: set and preload nothing"},
      {"nvflare", &o.nvflare,
       "In NVFlare, drop each result once it is processed (docs/nvflare.md)"},
      {.key = "sites",
       .place = &o.sites,
       .help =
           "Say why where allocations cannot be sampled, which is done wherever it can be: which "
           "lines of code hold the memory (docs/sites.md); with =objects, also sample each of "
           "Python's small objects",
       .alone = kAllocations},
      {"no_sites", &o.no_sites, "Do not sample allocations"},
      {"wait_all", &o.wait,
       "Supervise until the last process of the job has ended, not only the command"},
      {"quiet", &o.quiet, "Print only errors on stderr"},
      {"dry_run", &o.dry_run, "Say what would be set, preloaded and done"},
      {"json", &o.json, "The dry run as one JSON object (docs/run.md)"},
  };
}

base::Result<Options> options_from(const Words& words, std::vector<std::string>& notes) {
  Options options;
  options.command = words.command;
  if (!words.role.empty()) {
    const auto role = keep::role_from(words.role);
    if (!role) return role.error();
    options.role = *role;
  }
  options.allocator = words.allocator;
  options.manage = !words.observe;
  if (words.allocator.empty()) {
    const keep::DefaultAllocator chosen = keep::default_allocator("keep");
    options.allocator = options.manage ? chosen.name : "keep";
    if (!chosen.note.empty() && options.manage && !words.quiet)
      notes.push_back(chosen.note + "; the job keeps its own");
  }
  options.thresholds = {words.warn, words.critical};
  if (const auto valid = sense::check(options.thresholds); !valid) return valid.error();
  if (const auto taken = take_cards(words, options); !taken) return taken.error();
  if (words.on_critical == "stop") {
    options.on_critical = OnCritical::stop;
  } else if (words.on_critical != "clean") {
    return base::error(base::Code::bad_input, "--on-critical '%s': expected clean or stop",
                       words.on_critical.c_str());
  }
  const auto interval = base::parse_duration(words.interval);
  if (!interval) return interval.error();
  if (*interval < 0.01 || *interval > 3600) {
    return base::error(base::Code::bad_input, "--interval '%s': expected 10ms to 1h",
                       words.interval.c_str());
  }
  options.interval_seconds = *interval;
  const auto grace = base::parse_duration(words.grace);
  if (!grace) return grace.error();
  options.grace_seconds = *grace;
  if (const auto named = check_name(words.name); !named) return named.error();
  const std::string& first = words.command.front();
  options.name = !words.name.empty() ? words.name : first.substr(first.rfind('/') + 1);
  options.nvflare = words.nvflare;
  if (words.nvflare && words.observe) {
    return base::error(base::Code::bad_input,
                       "--nvflare and --observe: expected one of them, since one changes the job");
  }
  if (const auto taken = take_sites(words, options); !taken) return taken.error();
  options.wait_for_all = words.wait;
  options.is_private = words.is_private;
  options.quiet = words.quiet;
  if (!words.no_record) {
    const auto place = record::place_of(words.db);
    if (!place) return place.error();
    options.record_path = place->path;
    if (!place->trouble.empty()) notes.push_back(place->trouble);
  }
  return options;
}

}  // namespace ebb::run
