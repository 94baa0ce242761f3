// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "page/form.h"

namespace ebb::page {

/// How a number is shown.
enum class Unit : std::uint8_t {
  number,   ///< up to three decimals
  count,    ///< whole, digits in groups of three
  bytes,    ///< B, KiB, MiB, GiB, TiB
  percent,  ///< 12.5 is 12.5 %
  seconds,  ///< µs, ms, s; on an axis also minutes and hours
  text,     ///< not a number
};

/// A tile at the top of the page.
struct Fact {
  std::string label;
  std::string value;
};

enum class Tone : std::uint8_t { neutral, good, warning, bad };

/// What to do about it. `paste` goes to the clipboard as it is; empty: nothing to copy.
struct Fix {
  std::string text;
  std::string paste;
};

/// What was found: a coloured card.
struct Verdict {
  std::string name;      ///< one word, e.g. "fragmentation"
  std::string headline;  ///< one sentence
  Tone tone = Tone::neutral;
  std::string confidence;             ///< e.g. "certain"; may be empty
  std::vector<std::string> also;      ///< names of what else was found
  std::vector<std::string> evidence;  ///< one line of text each
  std::optional<Fix> fix;
};

/// A value that must not be exceeded; drawn across.
struct Limit {
  std::string name;
  double value = 0;
};

/// A moment worth pointing at.
struct Mark {
  double x = 0;
  std::string label;
};

/// Requires: `x` ascends and is as long as `y` (what one has more than the other is not drawn).
/// A value that is not finite is a gap.
struct Line {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  bool step = true;  ///< a value holds until the next one
  /// Between which values it lies, as long as `y` and shaded; empty: not known.
  std::vector<double> band_low = {};
  std::vector<double> band_high = {};
};

struct Plot {
  std::string title;
  std::string note;  ///< a sentence below the title; may be empty
  std::string x_label;
  std::string y_label;
  Unit x_unit = Unit::count;
  Unit y_unit = Unit::bytes;
  std::optional<Limit> limit;
  std::vector<Mark> marks;
  std::vector<Line> lines;
  /// The lines are parts of one whole, none below 0, and drawn as areas one on the other, the first
  /// at the bottom. A gap adds nothing. Lines of the same x add up at each of them.
  bool stacked = false;
};

enum class SegmentKind : std::uint8_t { small, large, expandable };

/// The numbers stand in the page's data.
enum class BlockState : std::uint8_t { free = 0, active = 1, pending = 2, unmapped = 3 };

/// A part of a segment. `stack` is an index into MemoryMap::stacks.
struct Block {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;  ///< 0: not known
  BlockState state = BlockState::free;
  std::optional<std::uint32_t> stack;
};

/// Requires: blocks ascend by offset and do not overlap. What they leave out is shown as unmapped.
struct Segment {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string stream;  ///< as text; may be empty
  std::string pool;    ///< as text; may be empty
  SegmentKind kind = SegmentKind::large;
  std::vector<Block> blocks;
};

/// What lies where at one moment.
struct MemoryMap {
  std::string title;
  std::string note;
  std::vector<Segment> segments;
  std::vector<std::string> stacks;  ///< frames, innermost first, one per line
};

enum class Align : std::uint8_t { automatic, left, right };

struct Column {
  std::string name;
  Unit unit = Unit::text;
  Align align = Align::automatic;  ///< automatic: text left, numbers right
  bool bar = false;                ///< shows each number's share of the column's largest as a bar
  bool filter = false;             ///< its different values are offered as a choice above the table
};

/// Leads to another page of the same server. `path` is relative, of small letters, digits, slashes,
/// commas and hyphens; with anything else it is shown as text.
struct Link {
  std::string text;
  std::string path;
};

/// A cell that is a link.
base::Json link_cell(const std::string& text, const std::string& path);

/// Cells are strings, numbers, links or null (empty); sorted by a click on a column's name.
struct Table {
  std::string title;
  std::string note;
  std::vector<Column> columns;
  std::vector<std::vector<base::Json>> rows;
  std::optional<std::size_t> highlight;  ///< the row that matters most
  /// A field above the table finds text in any column: all words of it, in capitals or not. What is
  /// searched, filtered and sorted by stands in the page's address, for the first such table.
  bool search = false;
  /// The beginning of a path, such as "runs/". Rows whose first cell leads to it and a number can
  /// be chosen; two to eight of them lead to it and their numbers ("runs/3,5"). Empty: no choice.
  std::string together = {};
};

struct Part {
  std::string name;
  double value = 0;
};

/// One stacked bar. `low` and `high` say between which totals the truth lies.
struct Bar {
  std::string name;
  std::vector<Part> parts;
  std::optional<double> low;
  std::optional<double> high;
};

/// Parts of the same name have the same colour in all bars.
struct BarChart {
  std::string title;
  std::string note;
  Unit unit = Unit::bytes;
  std::optional<Limit> limit;
  std::vector<Bar> bars;
};

/// A grid of fields, the darker the larger their value: rows with names above each other, columns
/// that are numbered from 0.
struct HeatMap {
  struct Row {
    std::string name;
    std::vector<double> values;  ///< one for each column; what is not finite is left empty
  };

  std::string title;
  std::string note;      ///< a sentence below the title; may be empty
  std::string x_label;   ///< what a column is, e.g. "client"
  std::string y_label;   ///< what a row is, e.g. "method"
  std::string measured;  ///< what a value is, e.g. "times it took part"
  Unit unit = Unit::number;
  std::vector<Row> rows;
  /// How many columns in a row one value stands for, as their mean; of the last one it may be
  /// fewer.
  std::size_t columns_each = 1;
  std::size_t columns = 0;  ///< of all there are; 0: what the longest row says
};

enum class FrameKind : std::uint8_t { root, python, native };

struct Frame {
  std::string name;
  FrameKind kind = FrameKind::native;
};

/// One thing that stacks are weighed by, such as the bytes that they hold.
struct Measure {
  std::string name;
  Unit unit = Unit::bytes;
};

/// Calls as indices into FlameGraph::frames, outermost first, and a value of each measure; what is
/// not above 0 is not drawn.
struct FlameStack {
  std::vector<std::uint32_t> frames;
  std::vector<double> values;
  std::vector<double> held = {};  ///< bytes, at each of FlameGraph::moments
};

/// Which calls a total comes from: calls from top to bottom, as wide as their share.
struct FlameGraph {
  std::string title;
  std::string note;
  std::vector<Measure> measures;  ///< one is shown at a time, at first the first
  std::vector<Frame> frames;
  std::vector<FlameStack> stacks;
  /// Ascending, as in plots of the page whose `x_unit` is the same: growth is shown between any two
  /// of them, also those that such a plot is zoomed to. Fewer than two: no such choice.
  std::vector<double> moments = {};
  Unit moments_unit = Unit::seconds;
  std::string moments_name = {};  ///< of what a moment is so many, and `x_label` of those plots
};

/// Where a page that a server shows learns that it has changed. Both are addresses on that server,
/// relative to the page's.
struct Live {
  std::string events;     ///< a stream of revisions (server-sent events)
  std::string document;   ///< the newest document, as to_json() gives it
  std::string revision;   ///< of this document; another one is another document
  std::string said = {};  ///< what the page says of it while all is well; empty: "Live"
  /// Above 0: this is the last revision, and kept while somebody asks for it so often. A stream
  /// would take one of the few connections that browsers have for a server.
  std::uint32_t keep_seconds = 0;
};

/// Work on what the page shows that still goes on. How far it is comes with the events of a live
/// page, behind the revision.
struct Task {
  std::string name;
  std::optional<double> share;  ///< of it that is done; nothing: not known
  std::string stop;             ///< where to ask for its end; empty: it cannot be stopped
};

/// A file that a person gives to the server: chosen, or dropped anywhere on the page. The answer is
/// the address of a page, or a line that says what is wrong.
struct Upload {
  std::string title;
  std::string note;
  std::string path;        ///< where it goes
  std::uint64_t most = 0;  ///< bytes
};

/// Everything a page shows, drawn in this order; what is empty is left out. All text is plain text:
/// nothing in it is taken as markup, and bytes that are no UTF-8 are shown as U+FFFD.
struct Document {
  std::string title;
  std::string subtitle;
  std::vector<Fact> facts;
  std::optional<Upload> upload;
  std::optional<Form> form;  ///< what the rest of the page answers
  std::optional<Verdict> verdict;
  std::optional<Verdict> advice;  ///< a second card: what would be better
  std::optional<Task> task;
  std::vector<Plot> plots;
  std::vector<HeatMap> heat_maps;
  std::vector<FlameGraph> flames;
  std::vector<MemoryMap> maps;
  std::vector<BarChart> bars;
  std::vector<Table> tables;
  std::optional<Live> live;  ///< nothing: the page stays as it is
  std::string up;            ///< the name of the first page of its server; may be empty
  bool up_is_here = false;   ///< in the same folder as this one, not one above
  std::vector<Link> links;   ///< to other pages of the same server
};

/// Whether the page has anything to ask the server that it came from.
inline bool asks_server(const Document& document) {
  return document.live.has_value() || document.form.has_value();
}

/// The document as the page's script reads it. Addresses are hexadecimal text, since JavaScript's
/// numbers are exact to 2^53 only.
base::Json to_json(const Document& document);

}  // namespace ebb::page
