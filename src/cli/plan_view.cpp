// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_view.h"

#include <cstdio>

#include "base/bytes.h"
#include "base/text.h"
#include "term/table.h"

namespace ebb::cli {
namespace {

using base::bytes_text;
using plan::Part;
using plan::Phase;

constexpr std::size_t kBarWidth = 40;

std::string count_text(std::uint64_t count) {
  if (count >= 1'000'000'000) return base::format_text("%.2f G", static_cast<double>(count) / 1e9);
  if (count >= 1'000'000) return base::format_text("%.1f M", static_cast<double>(count) / 1e6);
  return std::to_string(count);
}

void print_peak(const plan::Plan& plan, const term::Style& style) {
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
  std::printf("\n%s\n", table.text(style).c_str());
}

void print_phases(const plan::Plan& plan, const term::Style& style) {
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
  std::printf("%s\n", table.text(style).c_str());
}

void print_line(const char* name, std::uint64_t bytes, const char* remark = "") {
  std::printf("%-12s%10s  %s\n", name, bytes_text(bytes).c_str(), remark);
}

}  // namespace

void print_plan(const plan::Plan& plan, const term::Style& style) {
  std::printf("%s\n%s parameters, %s trained\n", plan.subject.c_str(),
              count_text(plan.parameters).c_str(), count_text(plan.trainable).c_str());
  print_peak(plan, style);
  print_phases(plan, style);
  print_line("weights", plan.weights);
  print_line("gradients", plan.gradients);
  print_line("optimizer", plan.optimizer);
  print_line("activations", plan.activations(), "kept for the backward pass, logits not counted");
  std::printf("%s%10s  ± %.0f %%, in the %s phase\n",
              style.paint("peak        ", term::Colour::bold).c_str(),
              bytes_text(plan.peak()).c_str(), plan.error_percent,
              plan::name_of(plan.step.peak_phase()));
  if (plan.correction)
    std::printf("%-12s%10s  %+.1f %% off the plan, in the last of %zu steps of %s\n", "measured",
                bytes_text(plan.correction->recorded.peak).c_str(), plan.correction->percent(),
                plan.correction->recorded.steps, plan.correction->recorded.name.c_str());
  print_line("reserved", plan.reserved(), "segments of PyTorch's allocator");
  print_line("device", plan.device_total(),
             base::format_text("with %s for CUDA's context and %s for cuBLAS",
                               bytes_text(plan.surroundings.context).c_str(),
                               bytes_text(plan.surroundings.workspaces).c_str())
                 .c_str());
  if (plan.kv_cache_per_token)
    print_line("KV cache", *plan.kv_cache_per_token, "per token, for inference");
  for (const std::string& what : plan.unverified)
    std::printf("%s  %s\n", style.paint("unverified", term::Colour::yellow).c_str(), what.c_str());
}

void print_fit(const plan::Fit& fit, const term::Style& style) {
  std::printf(
      "\n%s\n",
      fit.fits
          ? style.paint("fits into " + bytes_text(fit.cap), term::Colour::green).c_str()
          : style.paint("does not fit into " + bytes_text(fit.cap), term::Colour::red).c_str());
  std::printf("largest batch     %llu\nlargest sequence  %llu\n",
              static_cast<unsigned long long>(fit.largest_batch),
              static_cast<unsigned long long>(fit.largest_sequence));
  if (fit.fits) return;
  if (fit.changes.empty()) {
    std::printf("no change of checkpointing, optimizer, precision or sharding makes it fit\n");
    return;
  }
  term::Table table({{"change", term::Align::left},
                     {"peak"},
                     {"device"},
                     {"slower by"},
                     {"remarks", term::Align::left}});
  for (const plan::FittingChange& change : fit.changes) {
    std::string text;
    for (const std::string& one : change.changes)
      text += (text.empty() ? "" : " ") + one;
    std::string remarks = change.changes_results ? "changes results" : "";
    if (!change.plan.unverified.empty()) remarks += remarks.empty() ? "unverified" : ", unverified";
    table.add_row({text, bytes_text(change.plan.peak()), bytes_text(change.plan.device_total()),
                   base::format_text("%.0f %%", change.slowdown_percent), remarks});
  }
  std::printf("\n%s", table.text(style).c_str());
}

void print_fit(const plan::NetworkFit& fit, const term::Style& style) {
  const std::string cap = bytes_text(fit.cap);
  std::printf("\n%s\nlargest batch     %llu\n",
              fit.fits ? style.paint("fits into " + cap, term::Colour::green).c_str()
                       : style.paint("does not fit into " + cap, term::Colour::red).c_str(),
              static_cast<unsigned long long>(fit.largest_batch));
}

void print_clients(const plan::ParallelClients& clients, const char* where) {
  std::printf("\nclients at once   %llu on the %s: %s each of %s\n",
              static_cast<unsigned long long>(clients.count), where,
              bytes_text(clients.per_client).c_str(), bytes_text(clients.available).c_str());
}

}  // namespace ebb::cli
