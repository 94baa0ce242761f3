// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "heap/identify.h"

namespace ebb::heap {
namespace {

/// What gives an allocator away: one name is a coincidence, two with one prefix are not.
struct Pair {
  AllocatorKind kind;
  std::string_view control;
  std::string_view beside;
};
constexpr std::array<Pair, 3> kPairs{{
    {AllocatorKind::mimalloc, "mi_collect", "mi_free"},
    {AllocatorKind::jemalloc, "mallctlbymib", "mallctl"},
    {AllocatorKind::tcmalloc, "MallocExtension_ReleaseFreeMemory",
     "MallocExtension_GetNumericProperty"},
}};

/// "arrow_" of "arrow_mi_collect"; nothing where the name only happens to end so.
std::optional<std::string> prefix_of(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return std::nullopt;
  const std::string_view prefix = name.substr(0, name.size() - ending.size());
  if (!prefix.empty() && prefix.back() != '_') return std::nullopt;
  return std::string(prefix);
}

std::optional<Identity> by_pair(const Pair& pair, const std::vector<ElfFunction>& functions) {
  for (const ElfFunction& function : functions) {
    const auto prefix = prefix_of(function.name, pair.control);
    if (!prefix) continue;
    const std::string other = *prefix + std::string(pair.beside);
    const bool is_whole =
        std::any_of(functions.begin(), functions.end(), [&](const ElfFunction& one) {
          return one.name == other && one.is_dynamic == function.is_dynamic;
        });
    if (!is_whole) continue;
    return Identity{pair.kind,
                    function.is_dynamic ? Evidence::dynamic_symbol : Evidence::static_symbol,
                    function.name, *prefix, ""};
  }
  return std::nullopt;
}

/// Put together here, so that no file of ours holds them.
std::array<std::string, 2> signs_of_stripped() {
  return {std::string("<") + "jemalloc>: ", std::string("mimalloc") + ": warning: "};
}
constexpr std::array<AllocatorKind, 2> kStrippedKinds{AllocatorKind::jemalloc,
                                                      AllocatorKind::mimalloc};

}  // namespace

std::vector<Identity> identify_private_copies(ElfFile& file) {
  if (file.soname() == "libc.so.6" || file.path().find("/libc.so.6") != std::string::npos)
    return {};
  static constexpr std::array<std::string_view, 6> kEndings{kPairs[0].control, kPairs[0].beside,
                                                            kPairs[1].control, kPairs[1].beside,
                                                            kPairs[2].control, kPairs[2].beside};
  const std::vector<ElfFunction> functions = file.functions_ending_in(kEndings);
  std::vector<Identity> found;
  for (const Pair& pair : kPairs)
    if (auto identity = by_pair(pair, functions)) found.push_back(*std::move(identity));
  const auto signs = signs_of_stripped();
  const std::vector<bool> has_sign = file.read_only_data_contains_each(signs);
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const bool is_known = std::any_of(found.begin(), found.end(), [&](const Identity& one) {
      return one.kind == kStrippedKinds[i];
    });
    if (has_sign[i] && !is_known) {
      found.push_back(
          {kStrippedKinds[i], Evidence::string, signs[i], "", "stripped: known, not controllable"});
    }
  }
  if (!found.empty() && file.defined_dynamically("PyObject_Malloc")) return {};
  return found;
}

}  // namespace ebb::heap
