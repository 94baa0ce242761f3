// SPDX-License-Identifier: Apache-2.0
#include "show/plan_view.h"

#include "base/bytes.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/words.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using plan::Part;
using plan::Phase;

constexpr std::size_t kBarWidth = 40;

std::string peak_table(const plan::Plan& plan, const term::Style& style) {
  const plan::PartBytes& parts = plan.step.peak().peak.parts;
  const auto peak = static_cast<double>(plan.peak());
  term::Table table({{"at the peak", term::Align::left}, {"bytes"}, {"", term::Align::left}});
  const auto add = [&](const char* name, std::uint64_t bytes) {
    if (bytes == 0) return;
    table.add_row({name, bytes_text(bytes),
                   style.paint(term::bar(static_cast<double>(bytes) / peak, kBarWidth),
                               term::Colour::green)});
  };
  for (std::size_t i = 0; i < plan::kParts; ++i) {
    const Part part = static_cast<Part>(i);
    add(plan::name_of(part), parts[part]);
  }
  add("in flight", plan.in_flight);
  if (plan.peak() > plan.planned_peak()) add("by the recording", plan.peak() - plan.planned_peak());
  return table.text(style);
}

std::string phase_rows(const plan::Plan& plan, const term::Style& style) {
  term::Table table({{"phase", term::Align::left},
                     {"begins with"},
                     {"peak"},
                     {"ends with"},
                     {"at the peak runs", term::Align::left}});
  for (std::size_t i = 0; i < plan::kPhases; ++i) {
    const Phase phase = static_cast<Phase>(i);
    const plan::PhaseReport& report = plan.step.of(phase);
    const bool most = phase == plan.step.peak_phase();
    const std::string peak = bytes_text(plan.corrected(report.peak.allocated + plan.in_flight));
    table.add_row({plan::name_of(phase), bytes_text(plan.corrected(report.begin)),
                   most ? style.paint(peak, term::Colour::bold) : peak,
                   bytes_text(plan.corrected(report.end)), report.peak_doing});
  }
  return table.text(style);
}

std::string line_of_bytes(const char* name, std::uint64_t bytes, const std::string& remark = "") {
  return format_text("%-12s%10s  %s\n", name, bytes_text(bytes).c_str(), remark.c_str());
}

std::string fits_line(bool fits, std::uint64_t cap, const term::Style& style) {
  const std::string text = bytes_text(cap);
  return "\n" +
         (fits ? style.paint("fits into " + text, term::Colour::green)
               : style.paint("does not fit into " + text, term::Colour::red)) +
         "\n";
}

std::string number_line(const char* name, std::uint64_t number) {
  return format_text("%-18s%llu\n", name, static_cast<unsigned long long>(number));
}

}  // namespace

std::string plan_text(const plan::Plan& plan, const term::Style& style) {
  std::string text =
      format_text("%s\n%s parameters, %s trained\n", plan.subject.c_str(),
                  count_text(plan.parameters).c_str(), count_text(plan.trainable).c_str());
  text += "\n" + peak_table(plan, style) + "\n" + phase_rows(plan, style) + "\n";
  text += line_of_bytes("weights", plan.weights) + line_of_bytes("gradients", plan.gradients) +
          line_of_bytes("optimizer", plan.optimizer);
  text += line_of_bytes("activations", plan.activations(),
                        "kept for the backward pass, logits not counted");
  text += format_text("%s%10s  ± %.0f %%, in the %s phase\n",
                      style.paint("peak        ", term::Colour::bold).c_str(),
                      bytes_text(plan.peak()).c_str(), plan.error_percent,
                      plan::name_of(plan.step.peak_phase()));
  if (plan.correction)
    text += format_text("%-12s%10s  %+.1f %% off the plan, in the last of %zu steps of %s\n",
                        "measured", bytes_text(plan.correction->recorded.peak).c_str(),
                        plan.correction->percent(), plan.correction->recorded.steps,
                        base::plain_line(plan.correction->recorded.name).c_str());
  text += line_of_bytes("reserved", plan.reserved(), "segments of PyTorch's allocator");
  text += line_of_bytes("device", plan.device_total(),
                        format_text("with %s for CUDA's context and %s for cuBLAS",
                                    bytes_text(plan.surroundings.context).c_str(),
                                    bytes_text(plan.surroundings.workspaces).c_str()));
  if (plan.kv_cache_per_token)
    text += line_of_bytes("KV cache", *plan.kv_cache_per_token, "per token, for inference");
  for (const std::string& what : plan.unverified)
    text += style.paint("unverified", term::Colour::yellow) + "  " + what + "\n";
  return text;
}

std::string fit_text(const plan::Fit& fit, const term::Style& style) {
  std::string text = fits_line(fit.fits, fit.cap, style) +
                     number_line("largest batch", fit.largest_batch) +
                     number_line("largest sequence", fit.largest_sequence);
  if (fit.fits) return text;
  if (fit.changes.empty())
    return text + "no change of checkpointing, optimizer, precision or sharding makes it fit\n";
  term::Table table({{"change", term::Align::left},
                     {"peak"},
                     {"device"},
                     {"slower by"},
                     {"remarks", term::Align::left}});
  for (const plan::FittingChange& change : fit.changes) {
    std::vector<std::string> remarks;
    if (change.changes_results) remarks.emplace_back("changes results");
    if (!change.plan.unverified.empty()) remarks.emplace_back("unverified");
    table.add_row({joined(change.changes), bytes_text(change.plan.peak()),
                   bytes_text(change.plan.device_total()),
                   format_text("%.0f %%", change.slowdown_percent), joined(remarks, ", ")});
  }
  return text + "\n" + table.text(style);
}

std::string fit_text(const plan::NetworkFit& fit, const term::Style& style) {
  return fits_line(fit.fits, fit.cap, style) + number_line("largest batch", fit.largest_batch);
}

std::string clients_text(const plan::ParallelClients& clients, const char* where) {
  return format_text("\nclients at once   %llu on the %s: %s each of %s\n",
                     static_cast<unsigned long long>(clients.count), where,
                     bytes_text(clients.per_client).c_str(), bytes_text(clients.available).c_str());
}

std::string client_table_text(const plan::ClientTable& clients, const term::Style& style) {
  std::vector<term::Table::Column> columns = {
      {"clients at once", term::Align::left}, {"parameters"}, {"each"}};
  std::vector<std::string> sizes = {"", "", ""};
  for (const plan::Card& card : clients.cards) {
    columns.push_back({card.name});
    sizes.push_back(bytes_text(card.bytes));
  }
  term::Table table(std::move(columns));
  table.add_row(std::move(sizes));
  for (const plan::ClientTable::Row& row : clients.rows) {
    std::vector<std::string> cells = {row.model, count_text(row.plan.parameters),
                                      bytes_text(row.on.front().per_client)};
    for (const plan::ParallelClients& on : row.on)
      cells.push_back(std::to_string(on.count));
    table.add_row(std::move(cells));
  }
  // The same for all models, behind their names.
  const plan::ClientTable::Row& first = clients.rows.front();
  return table.text(style) +
         format_text("\n%s\none process on an empty card, %s of it for CUDA's context\n",
                     first.plan.subject.substr(first.model.size() + 2).c_str(),
                     bytes_text(first.on.front().shared).c_str());
}

}  // namespace ebb::show
