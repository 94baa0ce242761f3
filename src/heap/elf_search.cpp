// SPDX-License-Identifier: Apache-2.0
// What is looked for in a whole file, piece by piece.
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "heap/elf.h"

namespace ebb::heap {
namespace {

constexpr std::uint64_t kStep = 1 << 20;
constexpr std::uint64_t kLongestPrefix = 32;
/// No honest file has so many; it bounds what a hostile one makes us keep.
constexpr std::size_t kMostNames = 256;

/// A name in a string table. A symbol may begin anywhere in its prefix: linkers let "mi_collect" be
/// the end of "arrow_mi_collect".
struct NameAt {
  std::uint64_t first = 0;  // where the prefix begins
  std::uint64_t last = 0;   // where the ending does
  std::string text;
};

/// Names with one of these endings in a piece of a string table that begins at `at`.
void add_names(std::string_view piece, std::uint64_t at, std::span<const std::string_view> endings,
               std::vector<NameAt>& names) {
  for (const std::string_view ending : endings) {
    std::string needle(ending);
    needle.push_back('\0');
    for (std::size_t found = piece.find(needle);
         found != std::string_view::npos && names.size() < kMostNames;
         found = piece.find(needle, found + 1)) {
      std::size_t first = found;
      while (first > 0 && piece[first - 1] != '\0' && found - first < kLongestPrefix)
        --first;
      // Pieces overlap: the same name may be seen twice.
      const bool is_known = std::any_of(names.begin(), names.end(), [&](const NameAt& name) {
        return name.last == at + found && name.first <= at + first;
      });
      if (is_known) continue;
      names.push_back({at + first, at + found,
                       std::string(piece.substr(first, found - first + ending.size()))});
    }
  }
}

}  // namespace

void ElfFile::add_functions(std::uint32_t section_type, std::span<const std::string_view> endings,
                            std::vector<ElfFunction>& found) const {
  for (const Section& section : sections_) {
    if (section.type != section_type || section.link >= sections_.size()) continue;
    const Section& strings = sections_[section.link];
    std::vector<NameAt> names;
    std::uint64_t longest = 0;
    for (const std::string_view ending : endings)
      longest = std::max<std::uint64_t>(longest, ending.size());
    const std::uint64_t overlap = longest + 1 + kLongestPrefix + 1;
    for (std::uint64_t at = 0; at < strings.size; at += kStep) {
      const std::uint64_t begin = at - std::min(at, overlap);
      const auto piece =
          bytes_at(strings.offset + begin, std::min(kStep + (at - begin), strings.size - begin));
      if (!piece) return;
      add_names(*piece, begin, endings, names);
    }
    if (names.empty()) return;
    constexpr std::uint64_t kEntries = kStep / sizeof(Elf64_Sym) * sizeof(Elf64_Sym);
    for (std::uint64_t at = 0; at < section.size; at += kEntries) {
      const auto piece = bytes_at(section.offset + at, std::min(kEntries, section.size - at));
      if (!piece) return;
      for (std::size_t i = 0; i + sizeof(Elf64_Sym) <= piece->size(); i += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol{};
        std::memcpy(&symbol, piece->data() + i, sizeof symbol);
        const unsigned kind = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF || (kind != STT_FUNC && kind != STT_GNU_IFUNC)) continue;
        for (const NameAt& name : names) {
          if (symbol.st_name < name.first || symbol.st_name > name.last) continue;
          const std::string text = name.text.substr(symbol.st_name - name.first);
          const bool is_known = std::any_of(found.begin(), found.end(),
                                            [&](const ElfFunction& f) { return f.name == text; });
          if (!is_known && found.size() < kMostNames)
            found.push_back({text, symbol.st_value, section_type == SHT_DYNSYM});
        }
      }
    }
    return;
  }
}

std::vector<ElfFunction> ElfFile::functions_ending_in(
    std::span<const std::string_view> endings) const {
  std::vector<ElfFunction> found;
  add_functions(SHT_DYNSYM, endings, found);
  add_functions(SHT_SYMTAB, endings, found);
  return found;
}

std::string ElfFile::code_at(std::uint64_t value, std::size_t size) const {
  for (const Section& section : sections_) {
    if (section.type != SHT_PROGBITS || (section.flags & SHF_ALLOC) == 0) continue;
    if (value < section.address || value - section.address >= section.size) continue;
    const std::uint64_t within = value - section.address;
    return bytes_at(section.offset + within, std::min<std::uint64_t>(size, section.size - within))
        .value_or("");
  }
  return {};
}

std::vector<bool> ElfFile::read_only_data_contains_each(
    std::span<const std::string> needles) const {
  std::vector<bool> contained(needles.size());
  std::uint64_t longest = 0;
  for (const std::string& needle : needles)
    longest = std::max<std::uint64_t>(longest, needle.size());
  for (const Section& section : sections_) {
    if (section.type != SHT_PROGBITS || !section.name.starts_with(".rodata")) continue;
    for (std::uint64_t at = 0; at < section.size; at += kStep) {
      // Neighbouring pieces overlap, so that no match is cut in two.
      const auto piece =
          bytes_at(section.offset + at, std::min(kStep + longest, section.size - at));
      if (!piece) break;
      for (std::size_t i = 0; i < needles.size(); ++i)
        if (!contained[i] && piece->find(needles[i]) != std::string::npos) contained[i] = true;
    }
  }
  return contained;
}

}  // namespace ebb::heap
