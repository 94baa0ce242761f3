// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/text.h"
#include "cli/verb.h"
#include "keep/info.h"
#include "term/table.h"

namespace ebb::cli {
namespace {

using base::bytes_text;
using term::or_dash;

struct InfoOptions {
  std::optional<std::string> pid;
  bool json = false;
};

term::Colour colour_of(const sense::MemoryInfo& memory) {
  const auto level = sense::level_of(memory);
  if (level && *level == sense::MemoryLevel::critical) return term::Colour::red;
  if (level && *level == sense::MemoryLevel::warn) return term::Colour::yellow;
  return term::Colour::green;
}

void print_allocator(const keep::Info& info, const term::Style& style) {
  const heap::Detection& found = info.detection;
  std::string line = style.paint(heap::name_of(found.kind()), term::Colour::bold);
  if (!info.allocator_version.empty()) line += " " + info.allocator_version;
  if (!found.object.empty()) line += "  " + style.paint(found.object, term::Colour::dim);
  std::printf("process    %d\nallocator  %s\n", info.memory.process.pid, line.c_str());
  const std::string& remark = found.identity.remark.empty() ? found.note : found.identity.remark;
  if (!remark.empty()) std::printf("           %s\n", remark.c_str());
  for (const heap::PrivateCopy& copy : info.private_copies)
    std::printf("beside it  %s in %s\n", heap::name_of(copy.identity.kind), copy.object.c_str());
}

void print_memory(const keep::Info& info, const term::Style& style) {
  const sense::MemoryInfo& memory = info.memory;
  term::Table table({{"rss"},
                     {"live"},
                     {"retained"},
                     {"mapped"},
                     {"peak rss"},
                     {"anon"},
                     {"file"},
                     {"swap"},
                     {"threads"}});
  table.add_row({bytes_text(memory.process.rss), or_dash(info.heap.live),
                 or_dash(info.heap.retained), or_dash(info.heap.mapped),
                 or_dash(memory.process.hwm), or_dash(memory.process.anon),
                 or_dash(memory.process.file), or_dash(memory.process.swap),
                 std::to_string(memory.process.threads)});
  std::printf("\n%s\n", table.text(style).c_str());
  std::printf("limit      %s (%s)\n", bytes_text(memory.limit).c_str(),
              sense::name_of(memory.source));
  std::printf("used       %s %.1f %% of the limit cannot be reclaimed\n",
              style.paint(term::bar(memory.percent / 100, 20), colour_of(memory)).c_str(),
              memory.percent);
  for (const heap::Detail& detail : info.heap.details) {
    const bool is_count = detail.name.starts_with("arena");
    std::printf("           %s: %s\n", detail.name.c_str(),
                is_count ? std::to_string(detail.value).c_str() : bytes_text(detail.value).c_str());
  }
  for (const std::string& reason : info.heap.cannot_tell)
    std::printf("           %s\n", style.paint(reason, term::Colour::dim).c_str());
}

void print_gpus(const keep::Info& info, const term::Style& style) {
  if (info.gpus.empty()) {
    std::printf("gpus       none: %s\n", info.gpu_trouble.c_str());
    return;
  }
  term::Table table({{"gpu", term::Align::left}, {"total"}, {"used"}, {"free"}, {"this process"}});
  for (const sense::GpuReading& gpu : info.gpus) {
    table.add_row({base::format_text("%u %s", gpu.index, gpu.name.c_str()), or_dash(gpu.total),
                   or_dash(gpu.used), or_dash(gpu.free), or_dash(gpu.process)});
  }
  std::printf("\n%s", table.text(style).c_str());
}

int run_info(const InfoOptions& options) {
  int pid = 0;
  if (options.pid) {
    const auto number = base::parse_unsigned(*options.pid);
    if (!number || *number == 0 || *number > 0x7FFFFFFF)
      return report(base::error(base::Code::bad_input,
                                "--pid '%s': expected the number of a process",
                                options.pid->c_str()));
    pid = static_cast<int>(*number);
  }
  const base::Result<keep::Info> info = pid == 0 ? keep::info_here() : keep::info_of(pid);
  if (!info) return report(info.error());
  if (options.json) {
    std::puts(keep::to_json(*info).text(true).c_str());
    return kDone;
  }
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  print_allocator(*info, style);
  print_memory(*info, style);
  print_gpus(*info, style);
  return kDone;
}

}  // namespace

void add_info(CLI::App& program, Action& action) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* verb = program.add_subcommand(
      "info", "Which allocator, and rss, live, retained, limit, percent and GPUs, now");
  verb->add_option("--pid", options->pid, "Another process instead of this one; it is not touched");
  verb->add_flag("--json", options->json, "One JSON object (docs/info.md)");
  verb->footer(
      "Examples:\n  ebb info                                   this program on this machine's "
      "malloc\n"
      "  LD_PRELOAD=libjemalloc.so.2 ebb info      the same on jemalloc\n"
      "  ebb info --pid 4242                       a running job");
  verb->callback([options, &action] { action = [options] { return run_info(*options); }; });
}

}  // namespace ebb::cli
