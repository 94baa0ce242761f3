// SPDX-License-Identifier: Apache-2.0
// What processes and endings are called.
#include <algorithm>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "story/run_story.h"

namespace ebb::story {
namespace {

constexpr std::size_t kLongestTold = 60;

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// A worker's name begins with its parent's, and what tells it from the others stands last: that
/// stays.
std::string shortened(const std::string& name) {
  const std::size_t comma = name.rfind(", ");
  const std::size_t left = comma == std::string::npos ? 0 : name.size() - comma;
  if (left == 0 || left > kLongestTold / 2) return base::plain_line(name, kLongestTold);
  return base::plain_line(name.substr(0, comma), kLongestTold - left) +
         base::plain_line(name.substr(comma), left);
}

/// What it held, of what it may hold.
std::string level_of(const record::RunSummary& summary) {
  const Peak peak = peak_of(summary);
  if (!peak.bytes) return "a peak that is not known";
  const std::uint64_t limit = summary.run.limit;
  return text_of(peak) + (limit > 0 ? " of " + base::bytes_text(limit) : "");
}

EndingText cut_short(const record::RunSummary& summary, const std::string& after) {
  const char* brief = "cut short";
  const char* by = "ebb itself ended without a word (killed, or the machine went down)";
  if (summary.cut_by == record::CutBy::kill) {
    brief = "cut short: ebb was killed";
    by = "ebb itself was killed";
  } else if (summary.cut_by == record::CutBy::restart) {
    brief = "cut short: restart";
    by = "ebb ended without a word, and the machine has been restarted since";
  }
  const Peak peak = peak_of(summary);
  return {brief,
          "cut short" + after + ": " + by +
              "; how the command ended is not known, until then it had " +
              counted(summary.processes, "process", "processes") + " and " +
              (peak.bytes ? "a peak of " : "") + level_of(summary),
          true};
}

/// "signal 9 (SIGKILL)", "exit status 1".
std::string status_text(const record::Run& run) {
  if (!run.signal) return base::format_text("exit status %d", run.exit_code.value_or(0));
  const std::string name = base::signal_name(*run.signal);
  return base::format_text("signal %d", *run.signal) + (name.empty() ? "" : " (" + name + ")");
}

/// Of a run that did not end by itself; `after` is when, `level` what it held.
EndingText ending_of(const record::Run& run, const fact::Death& death, const std::string& after,
                     const std::string& level) {
  std::string brief = fact::brief_of(death);
  const std::string status = status_text(run);
  if (brief.empty()) {
    brief = status;
  } else if (!run.signal) {
    brief += ", " + status;
  }
  std::string text =
      (death.is_out_of_memory() ? "out of memory: " : "") + fact::text_of(death) + after;
  if (death.is_out_of_memory() || death.by == fact::Killer::ebb) text += ", holding " + level;
  return {brief, text, true};
}

}  // namespace

std::string name_of(const ProcessStory& process) {
  const std::string name = shortened(process.name);
  const std::string pid = std::to_string(process.process.pid);
  return name.empty() ? pid : pid + " (" + name + ")";
}

std::optional<std::uint64_t> seen(std::uint64_t bytes) {
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

Peak peak_of(const record::RunSummary& summary) {
  if (summary.run.peak_group) return {*summary.run.peak_group, true, false};
  return {seen(std::max(summary.peak_rss, summary.peak_process_rss)), false, true};
}

std::string text_of(const Peak& peak) {
  if (!peak.bytes) return "-";
  return (peak.at_least ? "at least " : "") + base::bytes_text(*peak.bytes);
}

EndingText ending_of(const record::RunSummary& summary) {
  const record::Run& run = summary.run;
  const std::string after = " after " + base::duration_text(summary.seconds);
  if (summary.state == record::State::running) return {"running", "still running", false};
  if (summary.state == record::State::lost) return cut_short(summary, after);
  const std::string level = level_of(summary);
  if (run.death) return ending_of(run, *run.death, after, level);
  if (run.ending == fact::RunEnd::out_of_memory) {
    return {"out of memory", "out of memory: the kernel killed it" + after + ", at " + level, true};
  }
  if (run.ending == fact::RunEnd::stopped) {
    return {"stopped", "stopped by Ebb" + after + ": memory was critical, " + level, true};
  }
  if (run.signal) return {status_text(run), "killed by " + status_text(run) + after, true};
  if (run.exit_code) return {status_text(run), status_text(run), *run.exit_code != 0};
  return {"ended", "ended", false};
}

}  // namespace ebb::story
