// SPDX-License-Identifier: Apache-2.0
#include "show/info_view.h"

#include "base/bytes.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/ledger_view.h"
#include "show/verdict.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using base::plain_line;
using term::or_dash;

std::string allocator_text(const keep::Info& info, const term::Style& style) {
  const heap::Detection& found = info.detection;
  std::string text = format_text("process    %d\nallocator  ", info.memory.process.pid) +
                     style.paint(heap::name_of(found.kind()), term::Colour::bold);
  if (!info.allocator_version.empty()) text += " " + plain_line(info.allocator_version);
  if (!found.object.empty())
    text += "  " + style.paint(plain_line(found.object), term::Colour::dim);
  text += "\n";
  const std::string& remark = found.identity.remark.empty() ? found.note : found.identity.remark;
  if (!remark.empty()) text += "           " + plain_line(remark) + "\n";
  for (const heap::PrivateCopy& copy : info.private_copies)
    text += std::string("beside it  ") + heap::name_of(copy.identity.kind) + " in " +
            plain_line(copy.object) + "\n";
  return text;
}

std::string memory_text(const keep::Info& info, const term::Style& style) {
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
  std::string text = "\n" + table.text(style) + "\n" + ledger_text(info.ledger, style) + "\n";
  text += format_text("limit      %s (%s)\n", bytes_text(memory.limit).c_str(),
                      sense::name_of(memory.source));
  text += format_text("used       %s %.1f %% of the limit cannot be reclaimed\n",
                      style.paint(term::bar(memory.percent / 100, 20), colour_of(memory)).c_str(),
                      memory.percent);
  text += format_text(
      "virtual    %s, at most %s; data %s\n", bytes_text(memory.process.virtual_size).c_str(),
      or_dash(memory.process.virtual_peak).c_str(), or_dash(memory.process.data).c_str());
  if (info.cpu_percent)
    text += format_text("cpu        %.1f %% of a core since it started\n", *info.cpu_percent);
  if (const auto ratio = info.fragmentation_ratio())
    text += format_text("heap       %.2f bytes resident for each that is live\n", *ratio);
  for (const heap::Detail& detail : info.heap.details) {
    const bool is_count = detail.name.starts_with("arena");
    text += "           " + detail.name + ": " +
            (is_count ? std::to_string(detail.value) : bytes_text(detail.value)) + "\n";
  }
  for (const std::string& reason : info.heap.cannot_tell)
    text += "           " + style.paint(reason, term::Colour::dim) + "\n";
  return text;
}

std::string gpu_text(const keep::Info& info, const term::Style& style) {
  if (info.gpus.empty()) return "gpus       none: " + info.gpu_trouble + "\n";
  term::Table table({{"gpu", term::Align::left}, {"total"}, {"used"}, {"free"}, {"this process"}});
  for (const sense::GpuReading& gpu : info.gpus) {
    table.add_row({format_text("%u %s", gpu.index, plain_line(gpu.name).c_str()),
                   or_dash(gpu.total), or_dash(gpu.used), or_dash(gpu.free), or_dash(gpu.process)});
  }
  return "\n" + table.text(style);
}

}  // namespace

std::string info_text(const keep::Info& info, const term::Style& style) {
  return allocator_text(info, style) + memory_text(info, style) + gpu_text(info, style);
}

}  // namespace ebb::show
