// SPDX-License-Identifier: Apache-2.0
#include "story/run_story.h"

#include "keep/private_memory.h"

namespace ebb::story {
namespace {

using base::Json;

Json process_json(const ProcessStory& story) {
  const record::Process& process = story.process;
  Json json;
  json.set("pid", std::int64_t{process.pid})
      .set("parent", std::int64_t{process.parent})
      .set("name", story.name)
      .set("command", process.command)
      .set("allocator", process.allocator)
      .set("agent", process.agent)
      .set("seconds", process.seconds)
      .set("ended", process.ended);
  return json;
}

Json cleanups_json(const keep::CleanupSum& sum) {
  return Json::object({{"count", sum.count},
                       {"returned_bytes", sum.returned},
                       {"devices", fact::devices_json(sum.devices)},
                       {"typical_bytes", sum.typical},
                       {"cost_seconds", sum.cost_seconds}});
}

}  // namespace

Json to_json(const record::RunSummary& summary) {
  const record::Run& run = summary.run;
  Json command = Json::array();
  for (const std::string& word : run.command)
    command.push(word);
  Json json;
  json.set("id", run.id)
      .set("name", run.name)
      .set("command", std::move(command))
      .set("role", run.role)
      .set("allocator", run.allocator)
      .set("host", run.host)
      .set("version", run.version)
      .set("state", record::name_of(summary.state))
      .set("started", run.started)
      .set("ended", run.ended)
      .set("seconds", summary.seconds)
      .set("ending", fact::name_of(run.ending))
      .set("exit_code", run.exit_code)
      .set("signal", run.signal)
      .set("outcome", ending_of(summary).text)
      .set("cut_by", summary.cut_by == record::CutBy::unknown
                         ? Json()
                         : Json(record::name_of(summary.cut_by)))
      .set("death", run.death ? fact::to_json(*run.death) : Json())
      .set("interval_seconds", run.interval)
      .set("limit_bytes", run.limit > 0 ? Json(run.limit) : Json())
      .set("peak_rss_bytes", seen(summary.peak_rss))
      .set("peak_process_rss_bytes", seen(summary.peak_process_rss))
      .set("peak_bytes", peak_of(summary).bytes)
      .set("peak_source", peak_of(summary).of_group ? "cgroup" : "samples")
      .set("peak_at_least", peak_of(summary).at_least)
      .set("processes", summary.processes)
      .set("samples", summary.samples)
      .set("rounds", summary.rounds)
      .set("lost", summary.lost)
      .set("detail", summary.detail);
  return json;
}

Json runs_json(const std::string& path, const std::vector<record::RunSummary>& runs) {
  Json list = Json::array();
  for (const record::RunSummary& run : runs)
    list.push(to_json(run));
  return Json::object({{"db", path}, {"runs", std::move(list)}});
}

Json verdict_json(const record::RecordedRun& run, const RunStory& story) {
  Json json;
  json.set("run", to_json(run.summary));
  json.set("process", story.culprit ? process_json(story.processes[*story.culprit]) : Json());
  const Json verdict = fact::to_json(story.diagnosis);
  for (const Json::Member& member : *verdict.as_object())
    json.set(member.first, member.second);
  add_json(json, story.sites);
  json.set("memory", story.memory ? fact::to_json(*story.memory) : Json());
  return json;
}

Json report_json(const record::RecordedRun& run, const RunStory& story) {
  Json json = verdict_json(run, story);
  Json processes = Json::array();
  for (const ProcessStory& one : story.processes) {
    Json process = process_json(one);
    process.set("samples", one.samples)
        .set("peak_rss_bytes", one.peak_rss)
        .set("steady_rss_bytes", one.steady_rss)
        .set("live_bytes", one.live)
        .set("retained_bytes", one.retained)
        .set("ledger", fact::to_json(one.ledger))
        .set("private_allocators", keep::to_json(one.private_allocators))
        .set("rounds", one.rounds)
        .set("cleanups", cleanups_json(one.cleanups));
    const Json verdict = fact::to_json(one.diagnosis);
    for (const Json::Member& member : *verdict.as_object())
      process.set(member.first, member.second);
    processes.push(std::move(process));
  }
  json.set("processes", std::move(processes)).set("cleanups", cleanups_json(story.cleanups));
  Json events = Json::array();
  for (const record::Event& event : run.events) {
    events.push(
        Json::object({{"seconds", event.seconds},
                      {"kind", event.kind},
                      {"text", event.text},
                      {"pid", event.process ? Json(std::int64_t{event.process->pid}) : Json()}}));
  }
  return json.set("events", std::move(events));
}

}  // namespace ebb::story
