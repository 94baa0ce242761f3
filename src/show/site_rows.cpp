// SPDX-License-Identifier: Apache-2.0
#include "show/site_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"

namespace ebb::show {
namespace {

using base::format_text;

constexpr std::size_t kMostGrowing = 5;
constexpr std::size_t kMostHolding = 5;
constexpr std::size_t kMostCallers = 3;

/// All rows of one holder at one place in the code.
struct PlaceRow {
  std::string holder;
  std::string place;
  std::string inside;                ///< the call that it made, where all of them made the same
  std::vector<std::string> callers;  ///< that all of them have, as far as they are told
  bool has_other_callers = false;
  std::uint64_t bytes = 0;
  double share = 0;
  std::optional<double> since;
  std::optional<double> growth;
  double growth_share = 0;
};

PlaceRow place_row(const SiteRow& row) {
  PlaceRow line;
  line.holder = row.holder;
  line.place = base::plain_line(fact::place_of(row.frames));
  line.has_other_callers = row.has_other_callers;
  line.bytes = row.bytes;
  line.share = row.share;
  line.since = row.since;
  line.growth = row.growth;
  line.growth_share = row.growth_share;
  const fact::SiteFrame* const place = fact::telling_frame(row.frames);
  if (place == nullptr) return line;
  const fact::SiteFrame* const inner = fact::python_frame(row.frames);
  if (inner != nullptr && inner != place) line.inside = base::plain_line(fact::text_of(*inner));
  const fact::SiteStack& frames = row.frames;
  for (auto at = static_cast<std::size_t>(place - frames.data()) + 1;
       at < frames.size() && line.callers.size() < kMostCallers &&
       frames[at - 1].function != "main";
       ++at) {
    if (fact::is_of_torch(frames[at])) continue;
    line.callers.push_back(base::plain_line(fact::text_of(frames[at])));
  }
  return line;
}

void take_in(PlaceRow& line, const PlaceRow& other) {
  line.bytes += other.bytes;
  line.share = std::min(line.share + other.share, 1.0);
  line.since =
      line.since && other.since ? std::optional(std::min(*line.since, *other.since)) : std::nullopt;
  if (other.growth) line.growth = line.growth.value_or(0) + *other.growth;
  line.growth_share = std::min(line.growth_share + other.growth_share, 1.0);
  if (line.inside != other.inside) line.inside.clear();
  const auto differs = std::mismatch(line.callers.begin(), line.callers.end(),
                                     other.callers.begin(), other.callers.end());
  const bool are_the_same =
      differs.first == line.callers.end() && differs.second == other.callers.end();
  line.has_other_callers = line.has_other_callers || other.has_other_callers || !are_the_same;
  line.callers.erase(differs.first, line.callers.end());
}

/// One for each place of each holder, in the order in which the rows first have it.
std::vector<PlaceRow> places_in(const SiteRows& sites) {
  std::vector<PlaceRow> lines;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const SiteRow& row : sites.rows) {
    PlaceRow line = place_row(row);
    const auto [at, is_new] = known.try_emplace({line.holder, line.place}, lines.size());
    if (is_new) {
      lines.push_back(std::move(line));
    } else {
      take_in(lines[at->second], line);
    }
  }
  return lines;
}

std::string calls_text(const PlaceRow& line) {
  std::string text = line.place;
  if (!line.inside.empty()) text += " (in " + line.inside + ")";
  for (const std::string& caller : line.callers)
    text += " < " + caller;
  if (line.has_other_callers) text += " < several callers";
  if (line.since) text += ", since " + base::duration_text(*line.since);
  return text;
}

/// The lines with the most of something, the most first.
template <class Amount>
std::vector<const PlaceRow*> most_of(const std::vector<PlaceRow>& lines, std::size_t most,
                                     Amount&& amount) {
  std::vector<const PlaceRow*> chosen;
  for (const PlaceRow& line : lines)
    if (amount(line) > 0) chosen.push_back(&line);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const PlaceRow* a, const PlaceRow* b) { return amount(*a) > amount(*b); });
  if (chosen.size() > most) chosen.resize(most);
  return chosen;
}

}  // namespace

std::string rows_text(const SiteRows& sites, std::size_t column) {
  const std::vector<PlaceRow> lines = places_in(sites);
  std::set<std::string> holders;
  for (const PlaceRow& line : lines)
    holders.insert(line.holder);
  const int width = static_cast<int>(column);
  const auto holder_text = [&](const PlaceRow& line) {
    return holders.size() > 1 ? format_text("%7s  ", line.holder.c_str()) : std::string();
  };
  std::string text;
  const auto growing =
      most_of(lines, kMostGrowing, [](const PlaceRow& line) { return line.growth.value_or(0); });
  for (const PlaceRow* line : growing) {
    text += format_text("%-*s%s%14s/%s  %3.0f %%  %s\n", width,
                        line == growing.front() ? "grew by" : "", holder_text(*line).c_str(),
                        base::signed_bytes_text(std::llround(*line->growth)).c_str(), sites.per,
                        100 * line->growth_share, calls_text(*line).c_str());
  }
  const auto holding =
      most_of(lines, kMostHolding, [](const PlaceRow& line) { return line.bytes; });
  const int unit = static_cast<int>(std::strlen(sites.per)) + 1;
  for (const PlaceRow* line : holding) {
    text += format_text("%-*s%s%14s%*s  %3.0f %%  %s\n", width,
                        line == holding.front() ? "held by" : "", holder_text(*line).c_str(),
                        base::bytes_text(line->bytes).c_str(), unit, "", 100 * line->share,
                        calls_text(*line).c_str());
  }
  return text;
}

}  // namespace ebb::show
