// SPDX-License-Identifier: Apache-2.0
#include "show/run_view.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/report_hint.h"
#include "show/words.h"

namespace ebb::show {
namespace {

using base::plain_line;

constexpr std::uint64_t kWorthTelling = 32ULL << 20;

/// Which library's own allocator had kept the most of what was returned, where it was much.
std::string beside_text(const run::Summary& summary) {
  const auto most =
      std::max_element(summary.beside.begin(), summary.beside.end(),
                       [](const auto& a, const auto& b) { return a.returned < b.returned; });
  if (most == summary.beside.end() || most->returned < kWorthTelling) return "";
  // Each is measured by itself: while others clean up, the job goes on.
  return ", " + base::bytes_text(std::min(most->returned, summary.returned)) + " of it from " +
         fact::name_of(*most);
}

std::string cleanups_text(const run::Summary& summary) {
  if (summary.cleanups == 0) return "no cleanup was needed";
  return base::format_text("%llu cleanup%s returned %s in %s",
                           static_cast<unsigned long long>(summary.cleanups),
                           summary.cleanups == 1 ? "" : "s",
                           fact::returned_text(summary.returned, summary.devices).c_str(),
                           base::duration_text(summary.cleanup_seconds).c_str()) +
         beside_text(summary);
}

std::string peak_text(const run::Summary& summary) {
  if (summary.peak_group) return base::bytes_text(*summary.peak_group);
  if (summary.peak_rss == 0) return "not known";
  return "at least " + base::bytes_text(summary.peak_rss);
}

const char* what_happens_at_critical(const run::Options& options) {
  return options.on_critical == run::OnCritical::stop
             ? "clean up; where that does not help, stop the job"
             : "clean up";
}

}  // namespace

std::string summary_line(const run::Summary& summary, std::int64_t run_id, const std::string& db) {
  std::string line =
      run_id > 0 ? base::format_text("run %lld: ", static_cast<long long>(run_id)) : std::string();
  line += base::duration_text(summary.seconds) + ", peak " + peak_text(summary) + ", " +
          cleanups_text(summary);
  if (summary.death) line += "; " + plain_line(fact::text_of(*summary.death));
  if (summary.left_running > 0) {
    line += base::format_text("; %zu of its processes go%s on, no longer managed",
                              summary.left_running, summary.left_running == 1 ? "es" : "");
  }
  if (run_id > 0) line += " (" + report_hint(run_id, db) + ")";
  return line;
}

base::Json dry_run_json(const run::Options& options, const run::Preparation& preparation) {
  base::Json variables = base::Json::array();
  for (const run::JobVariable& variable : preparation.variables) {
    variables.push(base::Json::object(
        {{"name", variable.name}, {"value", variable.value}, {"why", variable.why}}));
  }
  base::Json notes = base::Json::array();
  for (const std::string& note : preparation.notes)
    notes.push(note);
  base::Json command = base::Json::array();
  for (const std::string& word : options.command)
    command.push(word);
  return base::Json::object(
      {{"command", command},
       {"path", preparation.target.path},
       {"program", preparation.target.program},
       {"agent", preparation.agent},
       {"variables", variables},
       {"warn_percent", options.thresholds.warn},
       {"critical_percent", options.thresholds.critical},
       {"gpu_warn_percent", options.cards.percent.warn},
       {"gpu_critical_percent", options.cards.percent.critical},
       {"headroom_bytes", options.cards.headroom},
       {"on_critical", options.on_critical == run::OnCritical::stop ? "stop" : "clean"},
       {"interval_seconds", options.interval_seconds},
       {"record", options.record_path},
       {"notes", notes}});
}

std::string dry_run_text(const run::Options& options, const run::Preparation& preparation) {
  const std::string& program = preparation.target.program;
  std::string text = "command   " + plain_line(joined(options.command)) + "\n";
  text += "program   " + (program.empty() ? "not found" : plain_line(program)) + "\n";
  for (const run::JobVariable& variable : preparation.variables)
    text += "set       " + variable.name + "=" + plain_line(variable.value) + "\n          # " +
            variable.why + "\n";
  for (const std::string& note : preparation.notes)
    text += "note      " + plain_line(note) + "\n";
  text += "sample    every " + base::duration_text(options.interval_seconds) +
          ", every process of the job\n";
  text += base::format_text("warn      at %.0f %% of the limit: one line on stderr\n",
                            options.thresholds.warn);
  text += base::format_text("critical  at %.0f %%: %s\n", options.thresholds.critical,
                            what_happens_at_critical(options));
  text += base::format_text(
      "gpu       at %.0f %%: one line; at %.0f %%: empty PyTorch's cache after a round, where that "
      "lasts\n",
      options.cards.percent.warn, options.cards.percent.critical);
  if (options.cards.headroom > 0)
    text += "headroom  " + base::bytes_text(options.cards.headroom) + " of a GPU between rounds\n";
  return text + "record    " +
         (options.record_path.empty() ? "none" : plain_line(options.record_path)) + "\n";
}

}  // namespace ebb::show
