// SPDX-License-Identifier: Apache-2.0
#include "heap/identify.h"

#include <array>

namespace ebb::heap {
namespace {

struct Sign {
  AllocatorKind kind;
  const char* symbol;  // with the prefixes below in front
};

/// Symbols that only the allocator in question has. `mallctl` alone proves nothing, since shims
/// define it; no shim bothers with its by-number form.
constexpr std::array<Sign, 4> kControlSymbols{{
    {AllocatorKind::mimalloc, "mi_collect"},
    {AllocatorKind::tcmalloc, "MallocExtension_ReleaseFreeMemory"},
    {AllocatorKind::tcmalloc, "MallocExtension_Internal_ReleaseMemoryToSystem"},
    {AllocatorKind::jemalloc, "mallctlbymib"},
}};

/// Builds of jemalloc with their own name space: FreeBSD style, Rust's crates, pyarrow's copy.
constexpr std::array<const char*, 4> kPrefixes{"", "je_", "_rjem_", "je_arrow_"};

/// What a stripped build still says of itself.
constexpr std::array<Sign, 4> kStrings{{
    {AllocatorKind::jemalloc, "<jemalloc>"},
    {AllocatorKind::tcmalloc, "TCMALLOC_"},
    {AllocatorKind::mimalloc, "mimalloc: "},
    {AllocatorKind::musl, "MUSL_LOCPATH"},
}};

constexpr std::array<std::array<const char*, 2>, 4> kSanitizers{{
    {"__asan_init", "AddressSanitizer"},
    {"__tsan_init", "ThreadSanitizer"},
    {"__msan_init", "MemorySanitizer"},
    {"__lsan_init", "LeakSanitizer"},
}};

Identity by_control_symbol(ElfFile& file) {
  for (const Sign& sign : kControlSymbols) {
    for (const char* prefix : kPrefixes) {
      if (*prefix != '\0' && sign.kind != AllocatorKind::jemalloc) break;
      const std::string symbol = std::string(prefix) + sign.symbol;
      if (file.defined_dynamically(symbol))
        return {sign.kind, Evidence::dynamic_symbol, symbol, prefix, ""};
      if (file.defined(symbol)) return {sign.kind, Evidence::static_symbol, symbol, prefix, ""};
    }
  }
  return {};
}

bool is_libc(const ElfFile& file) {
  return file.soname() == "libc.so.6" || file.path().find("/libc.so.6") != std::string::npos;
}

/// The dynamic linker's name, or a function of musl's allocator in a static program.
bool is_musl(ElfFile& file) {
  return file.path().find("ld-musl-") != std::string::npos ||
         file.interpreter().find("ld-musl-") != std::string::npos ||
         file.soname().starts_with("libc.musl-") || file.soname().starts_with("ld-musl-") ||
         file.defined("__malloc_alloc_meta").has_value();
}

}  // namespace

const char* name_of(Evidence evidence) {
  switch (evidence) {
    case Evidence::dynamic_symbol:
      return "dynamic symbol";
    case Evidence::static_symbol:
      return "static symbol";
    case Evidence::string:
      return "string";
    case Evidence::none:
      return "none";
  }
  return "none";
}

bool only_samples(ElfFile& file) {
  return file.defined_dynamically("ebb_sites_python").has_value();
}

Identity identify_main(ElfFile& file) {
  if (is_libc(file) && file.defined_dynamically("malloc_trim"))
    return {AllocatorKind::glibc, Evidence::dynamic_symbol, "malloc_trim", "", ""};
  for (const auto& [symbol, name] : kSanitizers) {
    if (file.defined(symbol)) {
      return {AllocatorKind::unknown, Evidence::dynamic_symbol, symbol, "",
              std::string(name) + " replaced malloc"};
    }
  }
  if (Identity identity = by_control_symbol(file); identity.kind != AllocatorKind::unknown)
    return identity;
  if (is_musl(file)) return {AllocatorKind::musl, Evidence::dynamic_symbol, "malloc", "", ""};
  for (const Sign& sign : kStrings) {
    if (file.read_only_data_contains(sign.symbol))
      return {sign.kind, Evidence::string, sign.symbol, "", "stripped: known, not controllable"};
  }
  // A static program on glibc carries its malloc; the message is glibc's own and survives strip.
  if (file.read_only_data_contains("malloc_consolidate(): "))
    return {AllocatorKind::glibc, Evidence::string, "malloc_consolidate()", "", "static program"};
  return {};
}

}  // namespace ebb::heap
