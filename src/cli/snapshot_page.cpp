// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot_page.h"

#include <cstdio>

#include "base/bytes.h"
#include "base/text.h"
#include "cli/snapshot_map.h"
#include "cli/verb.h"
#include "page/render.h"

namespace ebb::cli {
namespace {

using base::bytes_text;
using base::Json;

page::Line line_of(const std::string& name, const replay::Outcome& outcome, bool reserved) {
  page::Line line;
  line.name = name;
  for (const replay::CurvePoint& point : outcome.curve) {
    line.x.push_back(static_cast<double>(point.requests));
    line.y.push_back(static_cast<double>(reserved ? point.reserved : point.allocated));
  }
  return line;
}

page::Plot plot_of(const std::vector<replay::Row>& rows) {
  page::Plot plot;
  plot.title = "Reserved and allocated over time";
  plot.x_label = "allocations and frees";
  plot.y_label = "memory";
  for (const replay::Row& row : rows) {
    plot.lines.push_back(line_of("reserved, " + conf_text(row.conf), row.outcome, true));
    if (row.outcome.oom) {
      plot.marks.push_back({static_cast<double>(row.outcome.oom->requests),
                            "out of memory, " + conf_text(row.conf)});
    }
  }
  if (!rows.empty()) {
    plot.lines.push_back(line_of("allocated", rows.front().outcome, false));
    if (rows.front().limit != cache::kUnlimited) {
      plot.limit = page::Limit{"limit", static_cast<double>(rows.front().limit)};
    }
  }
  return plot;
}

page::Table ranking_of(const std::vector<replay::Row>& rows) {
  using page::Unit;
  page::Table table;
  table.title = "Settings";
  table.columns = {{"setting", Unit::text, page::Align::automatic, false},
                   {"peak reserved", Unit::bytes, page::Align::automatic, true},
                   {"peak allocated", Unit::bytes, page::Align::automatic, false},
                   {"driver calls", Unit::count, page::Align::automatic, false},
                   {"their time", Unit::seconds, page::Align::automatic, false},
                   {"retries", Unit::count, page::Align::automatic, false},
                   {"out of memory at request", Unit::count, page::Align::automatic, false},
                   {"check", Unit::text, page::Align::automatic, false}};
  for (const replay::Row& row : rows) {
    table.rows.push_back({Json(conf_text(row.conf)), Json(row.outcome.peak_reserved),
                          Json(row.outcome.peak_allocated), Json(row.outcome.calls.total()),
                          Json(row.outcome.calls.seconds), Json(row.outcome.retries),
                          row.outcome.oom ? Json(row.outcome.oom->requests) : Json(),
                          Json(row.check)});
  }
  return table;
}

page::Document start_page(const Job& job, const std::string& title) {
  const replay::Recording& recording = job.workload.recording;
  page::Document page;
  page.title = title;
  page.subtitle = base::format_text("%s, PyTorch 2.%d", job.name.c_str(), recording.newest_minor);
  page.facts = {{"allocations and frees", std::to_string(job.workload.requests)},
                {"peak reserved, recorded", bytes_text(recording.peak_reserved)},
                {"recorded settings", conf_text(recording.conf)}};
  return page;
}

page::Tone tone_of(replay::Verdict verdict) {
  switch (verdict) {
    case replay::Verdict::healthy:
      return page::Tone::good;
    case replay::Verdict::capacity:
    case replay::Verdict::leak:
      return page::Tone::bad;
    default:
      return page::Tone::warning;
  }
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

}  // namespace

page::Document page_of_replay(const Job& job, const std::vector<replay::Row>& rows) {
  page::Document page = start_page(job, "Replay");
  page.plots.push_back(plot_of(rows));
  page.tables.push_back(ranking_of(rows));
  page.maps.push_back(map_at(job, rows.front(), rows.front().outcome.peak_operation,
                             "Segments and blocks when most was reserved"));
  return page;
}

page::Document page_of_tuning(const Job& job, const replay::TuneResult& result, std::size_t index) {
  page::Document page = start_page(job, "Tuning");
  const replay::Row& best = result.best[index];
  const replay::Row& recorded = result.recorded[index];
  page.facts.push_back({"lower bound", bytes_text(result.lower_bound[index])});
  page.facts.push_back({"offline packing", bytes_text(result.packing[index])});
  page.facts.push_back({"settings replayed", std::to_string(result.tried)});
  page::Verdict verdict;
  verdict.name = "best setting";
  verdict.headline = bytes_text(best.outcome.peak_reserved) + " reserved instead of " +
                     bytes_text(recorded.outcome.peak_reserved);
  verdict.tone = page::Tone::good;
  verdict.confidence = best.check;
  if (!best.conf.empty()) {
    verdict.fix = page::Fix{"Put it into the job's environment",
                            "export " + result.variable + "=" + best.conf};
  }
  page.verdict = std::move(verdict);
  page.plots.push_back(plot_of(result.rows[index]));
  page.tables.push_back(ranking_of(result.rows[index]));
  page.tables.back().highlight = 0;
  page.maps.push_back(
      map_at(job, recorded, recorded.outcome.peak_operation, "As recorded, at its peak"));
  page.maps.push_back(
      map_at(job, best, best.outcome.peak_operation, "With the best setting, at its peak"));
  return page;
}

page::Document page_of_diagnosis(const Job& job, const replay::Diagnosis& diagnosis,
                                 const replay::Circumstances& circumstances) {
  page::Document page = start_page(job, "Diagnosis");
  page::Verdict verdict;
  verdict.name = replay::name_of(diagnosis.verdict);
  verdict.headline = diagnosis.headline;
  verdict.tone = tone_of(diagnosis.verdict);
  verdict.confidence = diagnosis.confidence;
  for (const replay::Verdict also : diagnosis.also) {
    verdict.also.emplace_back(replay::name_of(also));
  }
  verdict.evidence = diagnosis.findings;
  if (!diagnosis.fix.text.empty()) {
    verdict.fix = page::Fix{diagnosis.fix.text, diagnosis.fix.conf};
  }
  page.verdict = std::move(verdict);
  std::vector<replay::Row> rows;
  if (auto row = replay::forecast(job.workload, job.workload.recording.conf, circumstances, true)) {
    rows.push_back(std::move(*row));
  }
  if (diagnosis.fix.row) {
    replay::Circumstances fixed = circumstances;
    fixed.limit = diagnosis.fix.row->limit;
    if (auto row = replay::forecast(job.workload, diagnosis.fix.row->conf, fixed, true)) {
      rows.push_back(std::move(*row));
    }
  }
  if (!rows.empty()) {
    page.plots.push_back(plot_of(rows));
    page.maps.push_back(map_at(job, rows.front(), diagnosis.operation,
                               "Segments and blocks at the moment in question"));
    page.tables.push_back(ranking_of(rows));
  }
  page::Table origins;
  origins.title = "Who holds what was live then";
  origins.columns = {{"bytes", page::Unit::bytes, page::Align::automatic, true},
                     {"blocks", page::Unit::count, page::Align::automatic, false},
                     {"allocated at", page::Unit::text, page::Align::automatic, false}};
  for (const replay::Origin& origin : diagnosis.origins) {
    std::string frames;
    for (const std::string& frame : origin.frames) {
      frames += (frames.empty() ? "" : " < ") + frame;
    }
    origins.rows.push_back({Json(origin.bytes), Json(origin.blocks), Json(frames)});
  }
  page.tables.push_back(std::move(origins));
  page.bars.push_back(ledger_chart(diagnosis.ledger));
  return page;
}

int write_pages(const std::vector<page::Document>& pages, const std::string& path) {
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::string file = path;
    if (pages.size() > 1) {
      const std::size_t dot = path.rfind(".html");
      const std::string stem = dot == std::string::npos ? path : path.substr(0, dot);
      file = stem + base::format_text("-%zu.html", i);
    }
    if (const auto written = page::write(pages[i], file); !written) return report(written.error());
    std::fprintf(stderr, "wrote %s\n", file.c_str());
  }
  return kDone;
}

}  // namespace ebb::cli
