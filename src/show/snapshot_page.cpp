// SPDX-License-Identifier: Apache-2.0
#include "show/snapshot_page.h"

#include "base/bytes.h"
#include "base/text.h"
#include "show/device_site_view.h"
#include "show/page_parts.h"
#include "show/snapshot_map.h"
#include "show/tuning_words.h"
#include "show/verdict.h"
#include "show/words.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::Json;

page::Line curve_of(const std::string& name, const replay::Outcome& outcome, bool reserved) {
  page::Line line;
  line.name = name;
  for (const replay::CurvePoint& point : outcome.curve) {
    line.x.push_back(static_cast<double>(point.requests));
    line.y.push_back(static_cast<double>(reserved ? point.reserved : point.allocated));
  }
  return line;
}

page::Plot curves_of(const std::vector<replay::Row>& rows,
                     const char* title = "Reserved and allocated over time") {
  page::Plot plot;
  plot.title = title;
  plot.x_label = "allocations and frees";
  plot.y_label = "memory";
  for (const replay::Row& row : rows) {
    plot.lines.push_back(curve_of("reserved, " + conf_text(row.conf), row.outcome, true));
    if (row.outcome.oom) {
      plot.marks.push_back({static_cast<double>(row.outcome.oom->requests),
                            "out of memory, " + conf_text(row.conf)});
    }
  }
  if (!rows.empty()) {
    plot.lines.push_back(curve_of("allocated", rows.front().outcome, false));
    if (rows.front().limit != cache::kUnlimited) {
      plot.limit = page::Limit{"limit", static_cast<double>(rows.front().limit)};
    }
  }
  return plot;
}

/// What is held as the job goes on: as a rule, and from the best to the worst of its futures.
page::Line fan_of(const std::string& conf, const std::vector<replay::FanStep>& fan) {
  page::Line line;
  line.name = "reserved, " + conf_text(conf);
  line.step = false;
  for (std::size_t step = 0; step < fan.size(); ++step) {
    line.x.push_back(static_cast<double>(step + 1));
    line.y.push_back(static_cast<double>(fan[step].median));
    line.band_low.push_back(static_cast<double>(fan[step].least));
    line.band_high.push_back(static_cast<double>(fan[step].worst));
  }
  return line;
}

page::Line live_of(const std::vector<replay::FanStep>& fan) {
  page::Line line;
  line.name = "live, at the most";
  line.step = false;
  for (std::size_t step = 0; step < fan.size(); ++step) {
    line.x.push_back(static_cast<double>(step + 1));
    line.y.push_back(static_cast<double>(fan[step].live));
  }
  return line;
}

page::Plot steps_plot(std::uint64_t futures) {
  page::Plot plot;
  plot.title = "As the job goes on";
  plot.x_label = "steps";
  plot.y_label = "most so far";
  plot.note = base::format_text(
      futures == 1 ? "Most reserved so far in %llu future of this job."
                   : "Most reserved so far in %llu futures of this job: as a rule, and shaded from "
                     "the least to the most.",
      static_cast<unsigned long long>(futures));
  return plot;
}

page::Plot fans_of(const replay::TunedJob& tuned) {
  page::Plot plot = steps_plot(tuned.later->futures().size());
  const std::vector<replay::FanStep> fan = tuned.later->fan();
  const std::string& recorded = tuned.recorded.conf;
  const auto draw = [&](page::Line line) {
    if (!line.x.empty()) plot.lines.push_back(std::move(line));
  };
  draw(fan_of(tuned.best.conf, fan));
  if (tuned.later_as_recorded && !recorded.empty() && recorded != tuned.best.conf)
    draw(fan_of(recorded, tuned.later_as_recorded->fan()));
  if (tuned.later_by_default && !tuned.best.conf.empty())
    draw(fan_of("", tuned.later_by_default->fan()));
  draw(live_of(fan));
  if (tuned.best.limit != cache::kUnlimited)
    plot.limit = page::Limit{"limit", static_cast<double>(tuned.best.limit)};
  return plot;
}

/// Nothing where every future runs out of memory in its first step.
void add_fans(page::Document& page, const replay::TunedJob& tuned, const char* title) {
  if (!tuned.later) return;
  page::Plot plot = fans_of(tuned);
  if (plot.lines.empty()) return;
  plot.title = title;
  page.plots.push_back(std::move(plot));
}

page::Plot growth_plot(const replay::ReservedGrowth& growth, const std::string& conf) {
  page::Plot plot = steps_plot(growth.futures);
  plot.note += " It goes beyond the " + bytes_text(growth.from) +
               " recorded by more than live memory explains; it " + end_text(growth) + ".";
  plot.lines = {fan_of(conf, growth.fan), live_of(growth.fan)};
  return plot;
}

page::Table settings_table(const std::vector<replay::Row>& rows, const char* title = "Settings") {
  using page::Unit;
  page::Table table;
  table.title = title;
  table.columns = {column("setting", Unit::text),
                   column("peak reserved", Unit::bytes, true),
                   column("peak allocated", Unit::bytes),
                   column("driver calls", Unit::count),
                   column("their time", Unit::seconds),
                   column("retries", Unit::count),
                   column("out of memory at request", Unit::count),
                   column("check", Unit::text)};
  for (const replay::Row& row : rows) {
    table.rows.push_back({Json(conf_text(row.conf)), Json(row.outcome.peak_reserved),
                          Json(row.outcome.peak_allocated), Json(row.outcome.calls.total()),
                          Json(row.outcome.calls.seconds), Json(row.outcome.retries),
                          row.outcome.oom ? Json(row.outcome.oom->requests) : Json(),
                          Json(check_text(row))});
  }
  return table;
}

page::Document start_page(const replay::Job& job, const std::string& title) {
  const replay::Recording& recording = job.workload.recording;
  page::Document page;
  page.title = title;
  page.subtitle = base::format_text("%s, PyTorch 2.%d", job.name.c_str(), recording.newest_minor);
  page.facts = {{"allocations and frees", std::to_string(job.workload.requests)},
                {"peak reserved, recorded", bytes_text(recording.peak_reserved)},
                {"recorded settings", conf_text(recording.conf)}};
  return page;
}

page::BarChart ledger_chart(const replay::Ledger& ledger) {
  page::BarChart chart;
  chart.title = "Where every reserved byte is";
  page::Bar bar;
  bar.name = "reserved";
  const auto part = [&](const char* name, std::uint64_t bytes) {
    if (bytes != 0) bar.parts.push_back({name, static_cast<double>(bytes)});
  };
  part("needed", ledger.needed);
  part("rounding", ledger.rounding);
  part("oversize", ledger.oversize);
  part("pending", ledger.pending);
  part("free in private pools", ledger.private_free);
  part("free in pieces", ledger.split_free);
  part("free as a whole", ledger.cached);
  chart.bars.push_back(std::move(bar));
  return chart;
}

page::Table origins_table(const std::vector<replay::Origin>& origins) {
  page::Table table;
  table.title = "Who holds what was live then";
  table.columns = {column("bytes", page::Unit::bytes, true), column("blocks", page::Unit::count),
                   column("allocated at", page::Unit::text)};
  for (const replay::Origin& origin : origins)
    table.rows.push_back(
        {Json(origin.bytes), Json(origin.blocks), Json(joined(origin.frames, " < "))});
  return table;
}

page::Verdict best_card(const replay::TuneResult& result, const replay::TunedJob& tuned) {
  page::Verdict verdict;
  verdict.name = "best setting";
  const std::string bytes = bytes_text(tuned.best.outcome.peak_reserved);
  verdict.headline =
      conf_text(tuned.best.conf) + ": " + bytes + " reserved; " + gain_text({&tuned});
  verdict.tone = tuned.best.outcome.oom ? page::Tone::bad : page::Tone::good;
  verdict.confidence = check_text(tuned.best);
  const auto say = [&](const std::vector<LabelledText>& texts) {
    for (const LabelledText& each : texts)
      verdict.evidence.push_back(each.label + ": " + each.text);
  };
  verdict.evidence.push_back(tried_text(result));
  say(bounds_texts(tuned));
  say(outlook_texts(tuned));
  if (result.futures) say(futures_texts(*result.futures));
  for (const std::string& note : tuning_notes(result))
    verdict.evidence.push_back("note: " + note);
  verdict.fix = page::Fix{"Put it into the job's environment", shell_line(result)};
  return verdict;
}

void add_bounds(page::Document& page, const replay::TuneResult& result,
                const replay::TunedJob& tuned) {
  page.facts.push_back({"lower bound", bytes_text(tuned.lower_bound)});
  page.facts.push_back({"offline packing", bytes_text(tuned.packing)});
  page.facts.push_back({"settings replayed", std::to_string(result.tried)});
}

void add_cards(page::Document& page, const replay::TunedJob& tuned) {
  if (!tuned.card) return;
  page.facts.push_back({"smallest card, no retries", bytes_text(tuned.card->without_retries)});
  page.facts.push_back({"smallest card, with retries", bytes_text(tuned.card->with_retries)});
}

}  // namespace

page::Document page_of_replay(const replay::Job& job, const std::vector<replay::Row>& rows,
                              const replay::Outcome& at_peak) {
  page::Document page = start_page(job, "Replay");
  page.plots.push_back(curves_of(rows));
  page.tables.push_back(settings_table(rows));
  page.maps.push_back(
      map_of(job, rows.front(), at_peak, "Segments and blocks when most was reserved"));
  return page;
}

page::Document page_of_tuning(const replay::Job& job, const replay::TuneResult& result,
                              std::size_t index, const replay::Outcome& recorded_at_peak,
                              const replay::Outcome& best_at_peak) {
  page::Document page = start_page(job, "Tuning");
  const replay::TunedJob& tuned = result.jobs[index];
  const replay::Row& best = tuned.best;
  const replay::Row& recorded = tuned.recorded;
  add_bounds(page, result, tuned);
  page.verdict = best_card(result, tuned);
  for (const std::string& note : job.workload.notes)
    page.verdict->evidence.push_back("note: " + note);
  add_cards(page, tuned);
  add_fans(page, tuned, "As the job goes on");
  page.plots.push_back(curves_of(tuned.rows));
  page.tables.push_back(settings_table(tuned.rows));
  page.tables.back().highlight = 0;
  page.maps.push_back(map_of(job, recorded, recorded_at_peak, "As recorded, at its peak"));
  page.maps.push_back(map_of(job, best, best_at_peak, "With the best setting, at its peak"));
  return page;
}

page::Document page_of_diagnosis(const replay::Job& job, const replay::SnapshotDiagnosis& diagnosis,
                                 const replay::DiagnosisReplays& replays) {
  const std::vector<replay::Row>& rows = replays.rows;
  page::Document page = start_page(job, "Diagnosis");
  page.verdict = card_of(diagnosis);
  if (!rows.empty()) {
    page.maps.push_back(
        map_of(job, rows.front(), replays.moment, "Segments and blocks at the moment in question"));
  }
  if (diagnosis.growth && !diagnosis.growth->fan.empty())
    page.plots.push_back(growth_plot(*diagnosis.growth, job.workload.recording.conf));
  // Without a history there is one moment, and nothing to replay.
  if (!rows.empty() && job.workload.requests > 0) {
    page.plots.push_back(curves_of(rows));
    page.tables.push_back(settings_table(rows));
  }
  page::FlameGraph sites = device_sites_flame(diagnosis.sites, job.device);
  if (!sites.stacks.empty()) page.flames.push_back(std::move(sites));
  page.tables.push_back(origins_table(diagnosis.origins));
  page.bars.push_back(ledger_chart(diagnosis.ledger));
  return page;
}

void add_tuning(page::Document& page, const replay::Job& job, const replay::TuneResult& result,
                std::size_t index, const replay::Outcome& best_at_peak) {
  const replay::TunedJob& tuned = result.jobs[index];
  add_bounds(page, result, tuned);
  page.advice = best_card(result, tuned);
  add_cards(page, tuned);
  add_fans(page, tuned, "As the job goes on, with other settings");
  page.plots.push_back(curves_of(tuned.rows, "Over time, with other settings"));
  page.tables.push_back(settings_table(tuned.rows, "Other settings"));
  page.tables.back().highlight = 0;
  page.maps.push_back(map_of(job, tuned.best, best_at_peak, "With the best setting, at its peak"));
}

}  // namespace ebb::show
