// SPDX-License-Identifier: Apache-2.0
// Which functions lie at which addresses of a file.
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "heap/elf.h"

namespace ebb::heap {
namespace {

constexpr std::uint64_t kEntriesAtOnce = (1 << 20) / sizeof(Elf64_Sym);
constexpr std::uint64_t kLongestFunction = 4096;

/// The symbol that an address has so far: the one that begins last.
struct Candidate {
  std::uint64_t value = 0;
  std::uint64_t name = 0;
};

}  // namespace

void ElfFile::name_from(std::uint32_t section_type,
                        std::map<std::uint64_t, ElfFunctionAt>& addresses) const {
  for (const Section& section : sections_) {
    if (section.type != section_type || section.link >= sections_.size()) continue;
    const Section& strings = sections_[section.link];
    std::map<std::uint64_t, Candidate> found;
    constexpr std::uint64_t kStep = kEntriesAtOnce * sizeof(Elf64_Sym);
    for (std::uint64_t at = 0; at < section.size; at += kStep) {
      const auto piece = bytes_at(section.offset + at, std::min(kStep, section.size - at));
      if (!piece) return;
      for (std::size_t i = 0; i + sizeof(Elf64_Sym) <= piece->size(); i += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol{};
        std::memcpy(&symbol, piece->data() + i, sizeof symbol);
        const unsigned kind = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF || (kind != STT_FUNC && kind != STT_GNU_IFUNC)) continue;
        for (auto one = addresses.lower_bound(symbol.st_value);
             one != addresses.end() && one->first - symbol.st_value < symbol.st_size; ++one) {
          Candidate& best = found[one->first];
          if (best.name == 0 || symbol.st_value >= best.value)
            best = {symbol.st_value, symbol.st_name};
        }
      }
    }
    for (const auto& [address, candidate] : found) {
      ElfFunctionAt& function = addresses[address];
      if (!function.name.empty() || candidate.name >= strings.size) continue;
      const auto text = bytes_at(strings.offset + candidate.name,
                                 std::min(kLongestFunction, strings.size - candidate.name));
      if (text) function = {text->c_str(), candidate.value};
    }
    return;
  }
}

void ElfFile::name_functions(std::map<std::uint64_t, ElfFunctionAt>& addresses) const {
  name_from(SHT_SYMTAB, addresses);
  name_from(SHT_DYNSYM, addresses);
}

std::string ElfFile::section(std::string_view name, std::uint64_t most) const {
  for (const Section& section : sections_) {
    if (section.name != name || section.type == SHT_NOBITS || section.size > most ||
        (section.flags & SHF_COMPRESSED) != 0)
      continue;
    return bytes_at(section.offset, section.size).value_or("");
  }
  return {};
}

}  // namespace ebb::heap
