// SPDX-License-Identifier: Apache-2.0
#include "page/document.h"

#include <gtest/gtest.h>

#include <limits>

namespace ebb::page {
namespace {

TEST(Document, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(to_json(Document{}).text(), R"({"title":""})");
}

TEST(Document, WritesTilesAndVerdict) {
  Document document;
  document.title = "job";
  document.subtitle = "2 devices";
  document.facts = {{"peak reserved", "9.0 GiB"}};
  document.verdict = Verdict{"rounding", "Sizes are rounded up.", Tone::warning,    "certain",
                             {"cache"},  {"12 % of all bytes"},   Fix{"Set", "A=b"}};
  EXPECT_EQ(to_json(document).text(),
            R"({"title":"job","subtitle":"2 devices",)"
            R"("facts":[{"label":"peak reserved","value":"9.0 GiB"}],)"
            R"("verdict":{"name":"rounding","tone":"warning","headline":"Sizes are rounded up.",)"
            R"("confidence":"certain","also":["cache"],"evidence":["12 % of all bytes"],)"
            R"("fix":{"text":"Set","paste":"A=b"}}})");
}

TEST(Document, WritesPlotsWithGapsAsNull) {
  Plot plot;
  plot.title = "Reserved";
  plot.x_label = "request";
  plot.limit = Limit{"card", 24};
  plot.marks = {{1, "out of memory"}};
  plot.lines = {{"default", {0, 1}, {512, std::numeric_limits<double>::quiet_NaN()}, false},
                {"mean", {0}, {2}, false, {1}, {3}}};
  Document document;
  document.plots = {plot};
  EXPECT_EQ(to_json(document).find("plots")->text(),
            R"([{"x_unit":"count","y_unit":"bytes","title":"Reserved","x_label":"request",)"
            R"("limit":{"name":"card","value":24},"marks":[{"x":1,"label":"out of memory"}],)"
            R"("lines":[{"name":"default","step":false,"x":[0,1],"y":[512,null]},)"
            R"({"name":"mean","step":false,"x":[0],"y":[2],"band_low":[1],"band_high":[3]}]}])");
}

TEST(Document, SaysOnlyOfStackedPlotsThatTheyAre) {
  Document document;
  document.plots.resize(2);
  document.plots[1].stacked = true;
  EXPECT_EQ(to_json(document).find("plots")->text(),
            R"([{"x_unit":"count","y_unit":"bytes"},)"
            R"({"x_unit":"count","y_unit":"bytes","stacked":true}])");
}

TEST(Document, WritesHeatMapsWithEmptyFieldsAsNull) {
  HeatMap map;
  map.title = "Who took part";
  map.x_label = "client";
  map.y_label = "method";
  map.measured = "times it took part";
  map.unit = Unit::count;
  map.rows = {
      {"random",
       {0, std::numeric_limits<double>::quiet_NaN(), 3, std::numeric_limits<double>::infinity()}},
      {"by need", {}}};
  Document document;
  document.heat_maps = {map, {}};
  document.heat_maps[1].columns_each = 4;
  document.heat_maps[1].columns = 30;
  EXPECT_EQ(to_json(document).find("heat_maps")->text(),
            R"([{"unit":"count","title":"Who took part","x_label":"client","y_label":"method",)"
            R"("measured":"times it took part","rows":[{"name":"random","values":[0,null,3,null]},)"
            R"({"name":"by need","values":[]}]},{"unit":"number","columns_each":4,"columns":30}])");
}

TEST(Document, WritesAddressesOfAllBits) {
  Segment segment;
  segment.name = "s0";
  segment.address = 0xffffffffffffffff;
  segment.size = 2048;
  segment.stream = "7";
  segment.kind = SegmentKind::expandable;
  segment.blocks = {{0, 512, 500, BlockState::active, 0}, {512, 1536, 0, BlockState::unmapped, {}}};
  Document document;
  document.maps = {{"Peak", "", {segment}, {"f\ng"}}};
  EXPECT_EQ(to_json(document).find("maps")->text(),
            R"([{"title":"Peak","segments":[{"address":"0xffffffffffffffff","size":2048,)"
            R"("kind":"expandable","name":"s0","stream":"7",)"
            R"("blocks":[[0,512,500,1,0],[512,1536,0,3,-1]]}],"stacks":["f\ng"]}])");
}

TEST(Document, WritesStacksByTheNumbersOfTheirCalls) {
  Document document;
  document.flames = {{"Who holds it",
                      "",
                      {{"live"}},
                      {{"42", FrameKind::root}, {"a.py:1 f", FrameKind::python}, {"malloc"}},
                      {{{0, 1, 2}, {512}, {0, 512}}},
                      {1, 2.5}}};
  EXPECT_EQ(
      to_json(document).find("flames")->text(),
      R"([{"title":"Who holds it","measures":[{"name":"live","unit":"bytes"}],)"
      R"("frames":[{"name":"42","kind":"root"},{"name":"a.py:1 f","kind":"python"},)"
      R"({"name":"malloc","kind":"native"}],"stacks":[{"frames":[0,1,2],"values":[512],"held":[0,512]}],)"
      R"("moments":[1,2.5]}])");
  document.flames = {FlameGraph()};
  document.flames[0].moments = {0, 9};
  document.flames[0].moments_unit = Unit::count;
  document.flames[0].moments_name = "allocations and frees";
  EXPECT_EQ(to_json(document).find("flames")->text(),
            R"([{"moments":[0,9],"moments_unit":"count",)"
            R"("moments_name":"allocations and frees"}])");
}

TEST(Document, AlignsNumbersRightUnlessTold) {
  Table table;
  table.columns = {{"conf"},
                   {"peak", Unit::bytes, Align::automatic, true},
                   {"share", Unit::percent, Align::left}};
  table.rows = {{"default", std::uint64_t{1} << 40, nullptr}};
  table.highlight = 0;
  Document document;
  document.tables = {table};
  EXPECT_EQ(to_json(document).find("tables")->text(),
            R"([{"columns":[{"name":"conf","unit":"text","align":"left"},)"
            R"({"name":"peak","unit":"bytes","align":"right","bar":true},)"
            R"({"name":"share","unit":"percent","align":"left"}],)"
            R"("rows":[["default",1099511627776,null]],"highlight":0}])");
}

TEST(Document, SaysHowATableIsSearched) {
  Table table;
  table.columns = {{"run"}, {"outcome"}};
  table.columns[1].filter = true;
  table.rows = {{link_cell("3", "runs/3"), "exit status 0"}};
  table.search = true;
  table.together = "runs/";
  Document document;
  document.tables = {table};
  EXPECT_EQ(to_json(document).find("tables")->text(),
            R"([{"columns":[{"name":"run","unit":"text","align":"left"},)"
            R"({"name":"outcome","unit":"text","align":"left","filter":true}],)"
            R"("rows":[[{"text":"3","path":"runs/3"},"exit status 0"]],)"
            R"("search":true,"together":"runs/"}])");
}

TEST(Document, WritesBarsWithTheirUncertainty) {
  Document document;
  document.bars = {{"Phases",
                    "",
                    Unit::bytes,
                    Limit{"card", 80},
                    {{"forward", {{"weights", 14}, {"activations", 30}}, 40, 50}}}};
  EXPECT_EQ(to_json(document).find("bars")->text(),
            R"([{"unit":"bytes","title":"Phases","limit":{"name":"card","value":80},)"
            R"("bars":[{"name":"forward","parts":[{"name":"weights","value":14},)"
            R"({"name":"activations","value":30}],"low":40,"high":50}]}])");
}

TEST(Document, SaysWhatGoesOnAndWhatItTakes) {
  Document document;
  document.live = Live{"1/events", "1/document", "4", "Kept"};
  document.task = Task{"Searching", 0.5, "1/stop"};
  document.upload = Upload{"A file", "Drop it", "files", 1024};
  document.advice = Verdict{};
  const base::Json json = to_json(document);
  EXPECT_EQ(json.find("live")->text(),
            R"({"events":"1/events","document":"1/document","revision":"4","said":"Kept"})");
  EXPECT_EQ(json.find("task")->text(), R"({"name":"Searching","share":0.5,"stop":"1/stop"})");
  EXPECT_EQ(json.find("upload")->text(),
            R"({"title":"A file","note":"Drop it","path":"files","most":1024})");
  EXPECT_NE(json.find("advice"), nullptr);
}

TEST(Document, WritesAFormWithItsFieldsInGroups) {
  Document page;
  page.title = "Plan";
  page.up = "All runs";
  page.up_is_here = true;
  Field batch{"batch", "batch", "Samples", Field::Kind::number, "4", "1", {}};
  Field name{"name", "name", "", Field::Kind::choice, "", "", {"a", "b"}, true};
  page.form = Form{{{"model", "Model", {{"Training", true, {batch, name}}}}},
                   "model",
                   "plan/document",
                   "batch 0: expected more",
                   true,
                   "ebb plan"};
  EXPECT_EQ(to_json(page).text(),
            R"({"title":"Plan","form":{"kinds":[{"name":"model","label":"Model","groups":[)"
            R"({"name":"Training","fields":[{"name":"batch","label":"batch","kind":"number",)"
            R"("help":"Samples","value":"4","otherwise":"1"},{"name":"name","label":"name",)"
            R"("kind":"choice","choices":["a","b"],"required":true}],"folded":true}]}],)"
            R"("kind":"model","document":"plan/document","said":"batch 0: expected more",)"
            R"("failed":true,"command":"ebb plan"},"up":"All runs","up_is_here":true})");
  EXPECT_TRUE(asks_server(page));
}

}  // namespace
}  // namespace ebb::page
