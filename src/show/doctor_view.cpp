// SPDX-License-Identifier: Apache-2.0
#include "show/doctor_view.h"

#include "base/bytes.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/device_site_view.h"
#include "show/verdict.h"
#include "show/words.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::plain_line;

constexpr std::size_t kSnapshotColumn = 12;

}  // namespace

std::string diagnosis_text(const replay::Job& job, const replay::SnapshotDiagnosis& diagnosis,
                           const term::Style& style) {
  std::string text = plain_line(job.name) + "\n\n" +
                     text_of(verdict_lines(card_of(diagnosis), kSnapshotColumn, style));
  if (diagnosis.sites.has_stacks) return text + device_sites_text(diagnosis.sites, kSnapshotColumn);
  if (diagnosis.origins.empty()) return text;
  term::Table table({{"live then"}, {"blocks"}, {"allocated at", term::Align::left}});
  for (const replay::Origin& origin : diagnosis.origins)
    table.add_row({bytes_text(origin.bytes), std::to_string(origin.blocks),
                   plain_line(origin.frames.front())});
  return text + "\n" + table.text(style);
}

std::string stats_text(const std::string& name, const replay::StatsDiagnosis& diagnosis,
                       const term::Style& style) {
  const replay::StatsReading& stats = diagnosis.stats;
  const auto percent = [](const std::optional<double>& share) {
    return share ? base::format_text("%.1f %%", *share) : std::string("-");
  };
  term::Table table({{"reserved"},
                     {"allocated"},
                     {"utilization"},
                     {"fragmentation"},
                     {"inactive splits"},
                     {"cached"},
                     {"retries"},
                     {"out of memory"}});
  table.add_row({bytes_text(stats.reserved), bytes_text(stats.allocated),
                 percent(stats.utilization_percent()), percent(stats.fragmentation_percent()),
                 bytes_text(stats.inactive_split), bytes_text(stats.cached()),
                 std::to_string(stats.retries), std::to_string(stats.ooms)});
  return plain_line(name) + "\n\n" + table.text(style) + "\n" +
         text_of(verdict_lines(card_of(diagnosis), kSnapshotColumn, style));
}

std::string comparison_text(const std::string& here, const std::string& there,
                            const replay::Comparison& comparison, const term::Style& style) {
  std::string text = plain_line(here) + " against " + plain_line(there) + "\n\n";
  text += "verdict     " +
          style.paint(fact::name_of(comparison.verdict), colour_of(tone_of(comparison.verdict))) +
          "\n            " + plain_line(comparison.headline) + "\n\n";
  term::Table table(
      {{"change"}, {"here"}, {"there"}, {"blocks"}, {"allocated at", term::Align::left}});
  for (const replay::Change& change : comparison.changes) {
    table.add_row({base::signed_bytes_text(change.growth()), bytes_text(change.here),
                   bytes_text(change.there),
                   base::format_text("%+lld", static_cast<long long>(change.blocks)),
                   plain_line(change.frames.front())});
  }
  return text + table.text(style);
}

}  // namespace ebb::show
