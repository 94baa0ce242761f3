// SPDX-License-Identifier: Apache-2.0
#include "page/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::page::samples {
namespace {

using base::kGiB;
using base::kKiB;
using base::kMiB;

constexpr std::size_t kSteps = 12;

struct Setting {
  const char* name;
  double waste;  ///< reserved above the peak so far
  double granularity;
};

constexpr Setting kSettings[] = {
    {"default", 1.62, 20.0 * kMiB},
    {"max_split_size_mb:128", 1.94, 64.0 * kMiB},
    {"expandable_segments:True", 1.03, 2.0 * kMiB},
};

/// The share of a step's peak that is allocated at `phase` (0 to 1) of it.
double breath(double phase) {
  if (phase < 0.45) return phase / 0.45;
  if (phase < 0.9) return 1 - (phase - 0.45) / 0.45 * 0.9;
  return 0.1;
}

std::vector<std::string> stacks() {
  std::vector<std::string> all;
  for (const char* site :
       {"attention.py:118 scaled_dot_product", "mlp.py:41 gelu", "embedding.py:27 lookup",
        "optimizer.py:202 exp_avg", "optimizer.py:203 exp_avg_sq", "loss.py:16 cross_entropy",
        "norm.py:33 layer_norm", "data.py:88 to_device", "attention.py:96 qkv",
        "checkpoint.py:61 recompute"})
    all.push_back(
        base::format_text("/srv/job/model/%s\n/srv/job/model/block.py:77 forward\n"
                          "/srv/job/train.py:140 step\n/srv/job/train.py:201 main",
                          site));
  return all;
}

/// Fills a segment with blocks of sizes around `typical` until it is full.
void fill(Segment& segment, std::uint64_t typical, Numbers& numbers) {
  constexpr std::uint64_t kGranule = 512;
  std::uint64_t offset = 0;
  while (offset < segment.size) {
    const std::uint64_t granules = std::max<std::uint64_t>(typical / kGranule, 1);
    const std::uint64_t wanted = kGranule * (granules / 4 + 1 + numbers.below(2 * granules));
    const std::uint64_t size = std::min(wanted, segment.size - offset);
    const std::uint64_t dice = numbers.below(100);
    Block block{offset, size, 0, BlockState::free, {}};
    if (dice < 66) {
      block.state = dice < 63 ? BlockState::active : BlockState::pending;
      block.requested = size - numbers.below(std::min<std::uint64_t>(size / 3 + 1, 2 * kMiB));
      block.stack = static_cast<std::uint32_t>(numbers.below(10) * numbers.below(10) / 10);
    } else if (segment.kind == SegmentKind::expandable && dice < 76) {
      block.state = BlockState::unmapped;
    }
    segment.blocks.push_back(block);
    offset += size;
  }
}

Table ranking() {
  Table table;
  table.title = "Settings, best first";
  table.note = "The same requests under each setting.";
  table.columns = {{"setting"},
                   {"peak reserved", Unit::bytes, Align::automatic, true},
                   {"peak allocated", Unit::bytes},
                   {"ratio", Unit::number},
                   {"saved", Unit::percent},
                   {"driver calls", Unit::count},
                   {"their cost", Unit::seconds},
                   {"runs out of memory"}};
  const double peak = 14.2 * kGiB;
  table.rows = {
      {"expandable_segments:True", 1.03 * peak, peak, 1.03, 36.4, 7312, 0.93, nullptr},
      {"garbage_collection_threshold:0.8", 1.31 * peak, peak, 1.31, 19.1, 2048, 0.41, nullptr},
      {"roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", 1.48 * peak, peak, 1.48, 8.6, 996, 0.19,
       nullptr},
      {"(default)", 1.62 * peak, peak, 1.62, 0.0, 812, 0.14, nullptr},
      {"max_split_size_mb:128", 1.94 * peak, peak, 1.94, -19.8, 11042, 2.61,
       "at request 141,207 of 200,000"},
  };
  table.highlight = 0;
  return table;
}

BarChart phases() {
  BarChart chart;
  chart.title = "Memory by phase of a step";
  chart.note = "Whiskers: where the truth lies.";
  chart.limit = Limit{"card", 24.0 * kGiB};
  const auto bar = [](const char* name, double activations, double gradients) {
    Bar made{name,
             {{"weights", 2.6 * kGiB},
              {"optimizer", 5.2 * kGiB},
              {"gradients", gradients * kGiB},
              {"activations", activations * kGiB}},
             {},
             {}};
    const double total = (7.8 + activations + gradients) * kGiB;
    made.low = total * 0.97;
    made.high = total * 1.06;
    return made;
  };
  chart.bars = {bar("load", 0, 0), bar("forward", 9.4, 0), bar("backward", 14.1, 2.6),
                bar("optimizer step", 0.4, 2.6)};
  return chart;
}

}  // namespace

Plot history(std::size_t requests) {
  Plot plot;
  plot.title = "Reserved and allocated over time";
  plot.note = "Every request of the job, replayed under each setting.";
  plot.x_label = "request";
  plot.y_label = "memory";
  plot.limit = Limit{"card", 24.0 * kGiB};
  plot.marks = {{0.46 * static_cast<double>(requests), "peak"},
                {0.706 * static_cast<double>(requests), "out of memory (max_split_size_mb:128)"}};
  Line allocated{"allocated", {}, {}, true};
  std::vector<Line> reserved;
  for (const Setting& setting : kSettings)
    reserved.push_back({base::format_text("reserved, %s", setting.name), {}, {}, true});
  Numbers numbers;
  std::vector<double> held(std::size(kSettings), 0);
  for (std::size_t i = 0; i < requests; ++i) {
    const double at = static_cast<double>(i) * kSteps / static_cast<double>(requests);
    const double phase = at - std::floor(at);
    const double grown = 1 - 0.4 * std::exp(-at);
    const double noise = static_cast<double>(numbers.below(300)) * kMiB;
    const double now = 3.0 * kGiB + breath(phase) * 10.9 * kGiB * grown + noise;
    allocated.x.push_back(static_cast<double>(i));
    allocated.y.push_back(now);
    for (std::size_t s = 0; s < reserved.size(); ++s) {
      const Setting& setting = kSettings[s];
      const double wanted = now * (1 + (setting.waste - 1) * grown);
      held[s] = std::max(held[s], std::ceil(wanted / setting.granularity) * setting.granularity);
      reserved[s].x.push_back(static_cast<double>(i));
      reserved[s].y.push_back(held[s]);
    }
  }
  plot.lines = reserved;
  plot.lines.push_back(allocated);
  return plot;
}

MemoryMap fragmented(std::size_t blocks) {
  MemoryMap map;
  map.title = "Segments and blocks at the peak";
  map.note = "At request 92,000, under the default setting.";
  map.stacks = stacks();
  Numbers numbers;
  std::uint64_t address = 0x7f3a00000000;
  std::size_t made = 0;
  std::size_t number = 0;
  while (made < blocks) {
    Segment segment;
    const std::uint64_t dice = numbers.below(10);
    segment.kind = dice < 4   ? SegmentKind::small
                   : dice < 9 ? SegmentKind::large
                              : SegmentKind::expandable;
    segment.size = dice < 4   ? 2 * kMiB
                   : dice < 7 ? 20 * kMiB
                   : dice < 9 ? 2 * kMiB * (20 + numbers.below(300))
                              : 1 * kGiB;
    segment.name = base::format_text("segment %zu", number++);
    segment.address = address;
    segment.stream = numbers.below(5) == 0 ? "7" : "0";
    if (numbers.below(12) == 0) segment.pool = "(0, 3)";
    address += segment.size + 2 * kMiB * numbers.below(8);
    const std::uint64_t per_segment = std::max<std::size_t>(blocks / 100, 12);
    fill(segment, dice < 4 ? 64 * kKiB : segment.size / per_segment, numbers);
    made += segment.blocks.size();
    map.segments.push_back(std::move(segment));
  }
  return map;
}

/// Two processes; one function of the first grows.
FlameGraph holders() {
  FlameGraph flame;
  flame.title = "Who holds it";
  flame.note = "Live memory by the calls that allocated it";
  flame.measures = {{"live", Unit::bytes}, {"growth an hour", Unit::bytes}};
  flame.frames = {{"4242 (train.py)", FrameKind::root},
                  {"4243 (worker)", FrameKind::root},
                  {"train.py:201 main", FrameKind::python},
                  {"loader.py:42 load_batch", FrameKind::python},
                  {"model.py:18 build", FrameKind::python},
                  {"PyArray_NewFromDescr (numpy)", FrameKind::native},
                  {"read_file (libio.so)", FrameKind::native}};
  flame.stacks = {{{0, 2, 3, 5}, {600.0 * kMiB, 90.0 * kMiB}},
                  {{0, 2, 4, 5}, {300.0 * kMiB, 0}},
                  {{1, 6}, {100.0 * kMiB, 10.0 * kMiB}}};
  return flame;
}

Document report() {
  Document document;
  document.title = "gpt-small.pickle";
  document.subtitle = "PyTorch 2.11 · device 0 · 20,000 requests in 12 steps · recorded completely";
  document.facts = {{"peak reserved", "23.0 GiB"},
                    {"peak allocated", "14.2 GiB"},
                    {"fragmentation", "38.3 %"},
                    {"could be saved", "8.4 GiB"},
                    {"lower bound", "14.2 GiB"}};
  document.verdict = Verdict{
      "fragmentation",
      "8.4 GiB are free but lie in pieces too small for what was asked.",
      Tone::bad,
      "certain: a packing that fits was found",
      {"rounding"},
      {"A request for 512.0 MiB failed while 8.4 GiB were free; the largest piece was 312.0 MiB.",
       "All live blocks at that moment fit into 14.3 GiB: the packing is part of the JSON.",
       "Under expandable_segments:True the same requests need 14.6 GiB at most."},
      Fix{"Start the job with this in its environment. It saves 36 % and costs 0.8 s in driver "
          "calls.",
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"}};
  document.plots = {history(20'000)};
  document.flames = {holders()};
  document.maps = {fragmented(2'500)};
  document.tables = {ranking()};
  document.bars = {phases()};
  return document;
}

Document large() {
  Document document;
  document.title = "A long job";
  document.plots = {history(200'000)};
  document.maps = {fragmented(100'000)};
  return document;
}

Document rows() {
  Document document;
  document.title = "Many rows";
  Table table;
  table.title = "Blocks";
  table.columns = {{"block", Unit::count}, {"size", Unit::bytes, Align::automatic, true}};
  Numbers numbers;
  for (int i = 0; i < 1'000; ++i)
    table.rows.push_back({i, std::uint64_t{512} * (1 + numbers.below(100'000))});
  document.tables = {table};
  return document;
}

Document runs() {
  constexpr const char* kNames[] = {"gpt-small", "gpt-medium", "vision encoder",
                                    "federated client of hospital 7"};
  constexpr const char* kEndings[] = {"exit status 0", "exit status 1", "running",
                                      "killed for memory"};
  Table table;
  table.title = "The newest first";
  table.columns = {{"Run"},
                   {"Name"},
                   {"Duration", Unit::seconds},
                   {"Peak", Unit::bytes, Align::automatic, true},
                   {"Outcome"}};
  table.columns[1].filter = true;
  table.columns[4].filter = true;
  table.search = true;
  table.together = "runs/";
  Numbers numbers;
  for (int i = 340; i > 0; --i) {
    const std::string number = std::to_string(i);
    table.rows.push_back({link_cell(number, "runs/" + number), kNames[numbers.below(4)],
                          static_cast<double>(numbers.below(90'000)),
                          kMiB * (100 + numbers.below(60'000)), kEndings[numbers.below(4)]});
  }
  Table hosts;
  hosts.title = "Machines";
  hosts.columns = {{"Machine"}, {"Runs", Unit::count}};
  hosts.rows = {{"node-1", 200}, {"node-2", 140}};
  Document document;
  document.title = "Runs";
  document.facts = {{"Recorded", "340"}};
  document.tables = {hosts, table};
  return document;
}

Document hostile() {
  const std::string text =
      "</script><script>window.broken=1</script><!--<img src=x onerror=window.broken=1>"
      "\"'&amp;\u2028\u2029\xFF\xC3(";
  Document document;
  document.title = text;
  document.subtitle = text;
  document.facts = {{text, text}};
  document.verdict = Verdict{text, text, Tone::warning, text, {text}, {text}, Fix{text, text}};
  Plot plot;
  plot.title = plot.note = plot.x_label = plot.y_label = text;
  plot.limit = Limit{text, 3};
  plot.marks = {{1, text}};
  plot.lines = {{text, {0, 1, 2}, {1, 2, 3}, true}};
  document.plots = {plot};
  HeatMap heat;
  heat.title = heat.note = heat.x_label = heat.y_label = heat.measured = text;
  heat.rows = {{text, {1, 2}}};
  document.heat_maps = {heat};
  Segment segment{text, 4096, 1 << 20, text, text, SegmentKind::large, {}};
  segment.blocks = {{0, 1 << 19, 1000, BlockState::active, 0}};
  document.maps = {{text, text, {segment}, {text}}};
  document.flames = {
      {text, text, {{text}, {text}}, {{text, FrameKind::python}}, {{{0}, {1, 1}, {0, 1}}}, {0, 1}}};
  const Column column{text, Unit::text, Align::automatic, false, true};
  document.tables = {{text, text, {column}, {{text}}, 0, true, text}};
  document.bars = {{text, text, Unit::bytes, Limit{text, 3}, {{text, {{text, 2}}, 1, 4}}}};
  return document;
}

Document broken() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  Document document;
  document.plots.resize(4);
  document.plots[0].title = "no lines";
  document.plots[1].title = "odd lines";
  document.plots[1].lines = {{"empty", {}, {}, true},
                             {"one", {5}, {1}, true},
                             {"gaps", {0, 1, 2, 3, 4}, {nan, 2, nan, -4, nan}, false},
                             {"uneven", {0, 1, 2}, {7}, true},
                             {"descending", {3, 2, 1}, {1, 2, 3}, true}};
  document.plots[2].title = "not a number";
  document.plots[2].limit = Limit{"limit", nan};
  document.plots[2].marks = {{nan, "nowhere"}};
  document.plots[2].lines = {{"nothing", {0, 1}, {nan, nan}, true}};
  document.plots[3].title = "an odd stack";
  document.plots[3].lines = document.plots[1].lines;
  document.plots[3].stacked = true;
  document.heat_maps.resize(3);
  document.heat_maps[0].title = "no rows";
  document.heat_maps[1].title = "not a number";
  document.heat_maps[1].rows = {{"nothing", {nan, nan}}, {"", {}}};
  document.heat_maps[2].title = "odd rows";
  document.heat_maps[2].rows = {{"uneven", {-3}}, {"", {}}, {"gaps", {nan, 1e300, -1e300, 0}}};
  document.heat_maps[2].columns_each = 1000;
  document.heat_maps[2].columns = 2;
  document.maps.resize(2);
  document.maps[0].title = "no segments";
  Segment segment{"odd", most, 4096, "", "", SegmentKind::small, {}};
  segment.blocks = {{0, 512, most, BlockState::active, 99},
                    {256, 512, 0, BlockState::free, {}},
                    {8192, 512, 0, BlockState::active, {}},
                    {1024, most, 1, BlockState::pending, {}}};
  document.maps[1].title = "odd blocks";
  document.maps[1].segments = {segment, {"nothing", 0, 0, "", "", SegmentKind::large, {}}};
  document.tables = {{"uneven", "", {{"a"}, {"b", Unit::bytes}}, {{1}, {"x", "y", "z"}, {}}, 7},
                     {},
                     {"no rows", "", {{"q"}, {"q"}}, {}, {}, true, "runs/"}};
  for (Column& column : document.tables[2].columns)
    column.filter = true;
  document.flames = {{"no stacks", "", {{"live"}}, {}, {}},
                     {"odd stacks",
                      "",
                      {{"live"}, {"not a number"}, {"nothing"}},
                      {{"a"}},
                      {{{0, 7}, {1}, {1}},
                       {{}, {2, nan}, {nan, nan, 2}},
                       {{0, 0, 0}, {-1, nan, 0}},
                       {{9}, {0.000001, 1}}},
                      {3, nan, 1}}};
  document.bars = {
      {"nothing", "", Unit::bytes, {}, {}},
      {"odd", "", Unit::bytes, Limit{"limit", nan}, {{"a", {{"b", nan}, {"c", -3}}, 5, 1}}}};
  return document;
}

}  // namespace ebb::page::samples
