// SPDX-License-Identifier: Apache-2.0
#include "keep/private_memory.h"

#include <algorithm>
#include <cctype>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::keep {
namespace {

using base::format_text;
using fact::PrivateAllocator;

// As for what malloc retains.
constexpr double kLeastKept = 64 << 20;
constexpr double kLeastKeptShare = 0.5;
constexpr std::uint64_t kWorthNaming = 32ULL << 20;

/// It may hold more than it says, or does not say.
bool is_suspect(const PrivateAllocator& one) {
  return !one.live || *one.live + one.retained.value_or(0) >= kWorthNaming;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

PrivateMemory::PrivateMemory(const MemorySeries& series) : series_(series) {
  if (!series.rss.empty()) level_ = series.rss.back().value;
  for (const PrivateAllocator& one : series.private_allocators) {
    returned_ += one.returned;
    if (one.returned > 0 && (most_returned_ == nullptr || one.returned > most_returned_->returned))
      most_returned_ = &one;
  }
  const auto late = series.beside.subspan(series.beside.size() / 2);
  const auto least = std::min_element(
      late.begin(), late.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  if (least != late.end()) beside_ = static_cast<std::uint64_t>(least->value);
}

bool PrivateMemory::explains_cleanups() const {
  return most_returned_ != nullptr && returned_ >= series_.cleanups.returned / 2;
}

std::string PrivateMemory::what_cleanups_did() const {
  const PrivateAllocator& one = *most_returned_;
  return format_text(
      "%s, an allocator of the library's own, keeps what is freed: %llu cleanup%s returned %s of "
      "it",
      fact::name_of(one).c_str(), static_cast<unsigned long long>(one.asked),
      one.asked == 1 ? "" : "s", base::bytes_text(one.returned).c_str());
}

const PrivateAllocator* PrivateMemory::out_of_reach() const {
  const auto kept = static_cast<double>(beside_);
  if (kept < kLeastKept || kept < kLeastKeptShare * level_) return nullptr;
  for (const PrivateAllocator& one : series_.private_allocators)
    if (!one.controllable && one.asked == 0) return &one;
  return nullptr;
}

std::string PrivateMemory::suspects() const {
  std::string names;
  for (const PrivateAllocator& one : series_.private_allocators)
    if (is_suspect(one)) names += (names.empty() ? "" : ", ") + fact::name_of(one);
  return names;
}

std::vector<std::string> PrivateMemory::findings() const {
  std::vector<std::string> lines;
  for (const PrivateAllocator& one : series_.private_allocators) {
    // The one that gave back most has a sentence of its own.
    if (one.returned < kWorthNaming || (&one == most_returned_ && explains_cleanups())) continue;
    lines.push_back(
        format_text("%s keeps memory of its own beside malloc: asked %llu time%s, it "
                    "returned %s",
                    fact::name_of(one).c_str(), static_cast<unsigned long long>(one.asked),
                    one.asked == 1 ? "" : "s", base::bytes_text(one.returned).c_str()));
  }
  if (beside_ >= kWorthNaming && !suspects().empty()) {
    const bool all_asked =
        std::all_of(series_.private_allocators.begin(), series_.private_allocators.end(),
                    [](const PrivateAllocator& one) { return one.asked > 0 || !is_suspect(one); });
    lines.push_back(
        base::bytes_text(beside_) + " lie beside malloc, which may be in use by " + suspects() +
        (all_asked ? ": asked, they returned no more" : ": what they hold is not known"));
  }
  return lines;
}

std::string setting_for(const PrivateAllocator& allocator) {
  if (upper(allocator.library).find("ARROW") != std::string::npos) {
    return "Start the job with ARROW_DEFAULT_MEMORY_POOL=system: Arrow then uses malloc, which "
           "cleanups reach";
  }
  if (allocator.kind == "jemalloc") {
    // A build under a prefix has a variable of its own.
    const bool is_rust = upper(allocator.library).find("POLARS") != std::string::npos;
    const std::string prefix =
        allocator.prefix.empty() && is_rust ? "_RJEM_" : upper(allocator.prefix);
    return "Start the job with " + prefix +
           "MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0: what is freed then goes back at once";
  }
  if (allocator.kind == "mimalloc") {
    return "Start the job with MIMALLOC_PURGE_DELAY=0: what is freed then goes back at once";
  }
  return "Have " + allocator.library + " use the malloc of its process, if it can";
}

base::Json to_json(const PrivateAllocator& one) {
  return base::Json::object({{"allocator", one.kind},
                             {"library", one.library},
                             {"controllable", one.controllable},
                             {"live_bytes", one.live},
                             {"retained_bytes", one.retained},
                             {"asked", one.asked},
                             {"returned_bytes", one.returned}});
}

base::Json to_json(std::span<const PrivateAllocator> allocators) {
  base::Json array = base::Json::array();
  for (const PrivateAllocator& one : allocators)
    array.push(to_json(one));
  return array;
}

}  // namespace ebb::keep
