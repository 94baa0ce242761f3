// SPDX-License-Identifier: Apache-2.0
#include "page/document.h"

#include <type_traits>

#include "base/text.h"

namespace ebb::page {
namespace {

using base::Json;

const char* name_of(Unit unit) {
  switch (unit) {
    case Unit::number:
      return "number";
    case Unit::count:
      return "count";
    case Unit::bytes:
      return "bytes";
    case Unit::percent:
      return "percent";
    case Unit::seconds:
      return "seconds";
    case Unit::text:
      break;
  }
  return "text";
}

const char* name_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "good";
    case Tone::warning:
      return "warning";
    case Tone::bad:
      return "bad";
    case Tone::neutral:
      break;
  }
  return "neutral";
}

const char* name_of(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::small:
      return "small";
    case SegmentKind::expandable:
      return "expandable";
    case SegmentKind::large:
      break;
  }
  return "large";
}

/// A null is left out, and so are empty text and an empty list: the page treats them alike.
void add(Json& object, const char* key, Json value) {
  const bool empty = value.is_null() || (value.is_string() && value.as_string()->empty()) ||
                     (value.is_array() && value.as_array()->empty());
  if (!empty) object.set(key, std::move(value));
}

/// Numbers and strings as they are.
template <class T>
Json list(const std::vector<T>& items) {
  return Json::Array(items.begin(), items.end());
}

template <class T>
Json list(const std::vector<T>& items, Json (*convert)(const std::type_identity_t<T>&)) {
  Json::Array array;
  array.reserve(items.size());
  for (const T& item : items)
    array.push_back(convert(item));
  return array;
}

Json to_json(const Fact& fact) {
  return Json::object({{"label", fact.label}, {"value", fact.value}});
}

Json to_json(const Verdict& verdict) {
  Json json = Json::object({{"name", verdict.name}, {"tone", name_of(verdict.tone)}});
  add(json, "headline", verdict.headline);
  add(json, "confidence", verdict.confidence);
  add(json, "also", list(verdict.also));
  add(json, "evidence", list(verdict.evidence));
  if (verdict.fix)
    json.set("fix", Json::object({{"text", verdict.fix->text}, {"paste", verdict.fix->paste}}));
  return json;
}

Json to_json(const std::optional<Limit>& limit) {
  if (!limit) return {};
  return Json::object({{"name", limit->name}, {"value", limit->value}});
}

Json to_json(const Mark& mark) {
  return Json::object({{"x", mark.x}, {"label", mark.label}});
}

Json to_json(const Line& line) {
  Json json = Json::object(
      {{"name", line.name}, {"step", line.step}, {"x", list(line.x)}, {"y", list(line.y)}});
  add(json, "band_low", list(line.band_low));
  add(json, "band_high", list(line.band_high));
  return json;
}

Json to_json(const Plot& plot) {
  Json json = Json::object({{"x_unit", name_of(plot.x_unit)}, {"y_unit", name_of(plot.y_unit)}});
  add(json, "title", plot.title);
  add(json, "note", plot.note);
  add(json, "x_label", plot.x_label);
  add(json, "y_label", plot.y_label);
  add(json, "limit", to_json(plot.limit));
  add(json, "marks", list(plot.marks, to_json));
  add(json, "lines", list(plot.lines, to_json));
  if (plot.stacked) json.set("stacked", true);
  return json;
}

Json to_json(const HeatMap::Row& row) {
  return Json::object({{"name", row.name}, {"values", list(row.values)}});
}

Json to_json(const HeatMap& map) {
  Json json = Json::object({{"unit", name_of(map.unit)}});
  add(json, "title", map.title);
  add(json, "note", map.note);
  add(json, "x_label", map.x_label);
  add(json, "y_label", map.y_label);
  add(json, "measured", map.measured);
  add(json, "rows", list(map.rows, to_json));
  if (map.columns_each > 1) json.set("columns_each", std::uint64_t{map.columns_each});
  if (map.columns > 0) json.set("columns", std::uint64_t{map.columns});
  return json;
}

Json to_json(const Block& block) {
  const Json stack = block.stack ? Json(std::int64_t{*block.stack}) : Json(-1);
  return Json::array(
      {block.offset, block.size, block.requested, static_cast<int>(block.state), stack});
}

Json to_json(const Segment& segment) {
  const auto address = static_cast<unsigned long long>(segment.address);
  Json json = Json::object({{"address", base::format_text("0x%llx", address)},
                            {"size", segment.size},
                            {"kind", name_of(segment.kind)}});
  add(json, "name", segment.name);
  add(json, "stream", segment.stream);
  add(json, "pool", segment.pool);
  add(json, "blocks", list(segment.blocks, to_json));
  return json;
}

Json to_json(const MemoryMap& map) {
  Json json = Json::object();
  add(json, "title", map.title);
  add(json, "note", map.note);
  add(json, "segments", list(map.segments, to_json));
  add(json, "stacks", list(map.stacks));
  return json;
}

const char* name_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::root:
      return "root";
    case FrameKind::python:
      return "python";
    case FrameKind::native:
      break;
  }
  return "native";
}

Json to_json(const Measure& measure) {
  return Json::object({{"name", measure.name}, {"unit", name_of(measure.unit)}});
}

Json to_json(const Frame& frame) {
  return Json::object({{"name", frame.name}, {"kind", name_of(frame.kind)}});
}

Json to_json(const FlameStack& stack) {
  Json::Array frames;
  for (const std::uint32_t frame : stack.frames)
    frames.emplace_back(std::int64_t{frame});
  Json json = Json::object({{"frames", std::move(frames)}, {"values", list(stack.values)}});
  add(json, "held", list(stack.held));
  return json;
}

Json to_json(const FlameGraph& flame) {
  Json json = Json::object();
  add(json, "title", flame.title);
  add(json, "note", flame.note);
  add(json, "measures", list(flame.measures, to_json));
  add(json, "frames", list(flame.frames, to_json));
  add(json, "stacks", list(flame.stacks, to_json));
  add(json, "moments", list(flame.moments));
  if (flame.moments_unit != Unit::seconds) json.set("moments_unit", name_of(flame.moments_unit));
  add(json, "moments_name", flame.moments_name);
  return json;
}

Json to_json(const Column& column) {
  Json json = Json::object({{"name", column.name}, {"unit", name_of(column.unit)}});
  const bool right =
      column.align == Align::automatic ? column.unit != Unit::text : column.align == Align::right;
  json.set("align", right ? "right" : "left");
  if (column.bar) json.set("bar", true);
  if (column.filter) json.set("filter", true);
  return json;
}

Json to_json(const Table& table) {
  Json json = Json::object();
  add(json, "title", table.title);
  add(json, "note", table.note);
  add(json, "columns", list(table.columns, to_json));
  Json::Array rows;
  for (const std::vector<Json>& row : table.rows)
    rows.emplace_back(row);
  add(json, "rows", std::move(rows));
  if (table.highlight) json.set("highlight", std::uint64_t{*table.highlight});
  if (table.search) json.set("search", true);
  add(json, "together", table.together);
  return json;
}

Json to_json(const Part& part) {
  return Json::object({{"name", part.name}, {"value", part.value}});
}

Json to_json(const Bar& bar) {
  Json json = Json::object({{"name", bar.name}, {"parts", list(bar.parts, to_json)}});
  add(json, "low", bar.low);
  add(json, "high", bar.high);
  return json;
}

Json to_json(const BarChart& chart) {
  Json json = Json::object({{"unit", name_of(chart.unit)}});
  add(json, "title", chart.title);
  add(json, "note", chart.note);
  add(json, "limit", to_json(chart.limit));
  add(json, "bars", list(chart.bars, to_json));
  return json;
}

Json to_json(const Live& live) {
  Json json = Json::object(
      {{"events", live.events}, {"document", live.document}, {"revision", live.revision}});
  add(json, "said", live.said);
  if (live.keep_seconds > 0) json.set("keep_seconds", std::uint64_t{live.keep_seconds});
  return json;
}

Json to_json(const Task& task) {
  Json json = Json::object({{"name", task.name}});
  add(json, "share", task.share);
  add(json, "stop", task.stop);
  return json;
}

Json to_json(const Upload& upload) {
  return Json::object({{"title", upload.title},
                       {"note", upload.note},
                       {"path", upload.path},
                       {"most", upload.most}});
}

Json to_json(const Link& link) {
  return link_cell(link.text, link.path);
}

}  // namespace

Json link_cell(const std::string& text, const std::string& path) {
  return Json::object({{"text", text}, {"path", path}});
}

Json to_json(const Document& document) {
  Json json = Json::object({{"title", document.title}});
  add(json, "subtitle", document.subtitle);
  add(json, "facts", list(document.facts, to_json));
  if (document.upload) json.set("upload", to_json(*document.upload));
  if (document.form) json.set("form", to_json(*document.form));
  if (document.verdict) json.set("verdict", to_json(*document.verdict));
  if (document.advice) json.set("advice", to_json(*document.advice));
  if (document.task) json.set("task", to_json(*document.task));
  add(json, "plots", list(document.plots, to_json));
  add(json, "heat_maps", list(document.heat_maps, to_json));
  add(json, "flames", list(document.flames, to_json));
  add(json, "maps", list(document.maps, to_json));
  add(json, "tables", list(document.tables, to_json));
  add(json, "bars", list(document.bars, to_json));
  if (document.live) json.set("live", to_json(*document.live));
  add(json, "up", document.up);
  if (document.up_is_here) json.set("up_is_here", true);
  add(json, "links", list(document.links, to_json));
  return json;
}

}  // namespace ebb::page
