// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace ebb::heap {

/// A function that a file defines.
struct ElfFunction {
  std::string name;
  std::uint64_t value = 0;
  bool is_dynamic = false;  ///< in the table that the dynamic linker uses

  friend bool operator==(const ElfFunction&, const ElfFunction&) = default;
};

/// The function that lies at an address.
struct ElfFunctionAt {
  std::string name;
  std::uint64_t start = 0;
};

/// The parts of a 64-bit little-endian ELF file that tell which allocator is in it. Reads with
/// pread, never by mapping: a library that is replaced under us must not become a SIGBUS.
/// Every offset and size in the file is checked against the file. Not thread-safe.
class ElfFile {
 public:
  /// Code::bad_input when `path` is no such ELF file, with the reason.
  static base::Result<ElfFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::string& soname() const { return soname_; }
  /// DT_NEEDED, in order.
  const std::vector<std::string>& needed() const { return needed_; }
  /// PT_INTERP; empty for a static program or a library.
  const std::string& interpreter() const { return interpreter_; }
  /// e_machine: which processor it is for.
  std::uint16_t machine() const { return machine_; }
  /// Position-independent: addresses in the file are relative to where it is loaded.
  bool is_relocatable() const { return is_relocatable_; }

  /// Value of a symbol that this file defines: the dynamic table first, then the static one that
  /// strip removes. Nothing where it is not defined here.
  std::optional<std::uint64_t> defined(std::string_view name);
  /// The same in the table that the dynamic linker uses.
  std::optional<std::uint64_t> defined_dynamically(std::string_view name);

  /// Functions whose names end so, with at most 32 characters in front: those of the dynamic table
  /// first, then those that only the static one has. Reads both in pieces: a library's tables may
  /// be larger than the heap of the job that is looked at.
  std::vector<ElfFunction> functions_ending_in(std::span<const std::string_view> endings) const;

  /// Fills in the names of the functions that lie at these addresses, those of the static table
  /// first. Reads the tables in pieces, as above.
  void name_functions(std::map<std::uint64_t, ElfFunctionAt>& addresses) const;
  /// The bytes of a section; empty where there is none, where it is packed, or larger than `most`.
  std::string section(std::string_view name, std::uint64_t most) const;

  /// The bytes that the file has for an address in it; empty where it has none there.
  std::string code_at(std::uint64_t value, std::size_t size) const;

  /// Whether the read-only data holds these bytes; strings survive strip.
  bool read_only_data_contains(std::string_view bytes) const;
  /// The same for each of several, in one pass.
  std::vector<bool> read_only_data_contains_each(std::span<const std::string> needles) const;

 private:
  struct Section {
    std::string name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;
  };
  /// Raw symbols and their names as they stand in the file: searched, not indexed, since a file
  /// is asked for a handful of names and an index of libtorch's would be larger than the heap of
  /// many a job.
  struct SymbolTable {
    std::string entries;
    std::string names;
  };

  ElfFile() = default;
  base::Status read_headers();
  base::Status read_sections(std::uint64_t offset, std::uint16_t count, std::uint16_t names);
  base::Status read_dynamic(const Section& section);
  base::Result<std::string> bytes_at(std::uint64_t offset, std::uint64_t size) const;
  SymbolTable read_symbols(std::uint32_t section_type) const;
  void add_functions(std::uint32_t section_type, std::span<const std::string_view> endings,
                     std::vector<ElfFunction>& found) const;
  void name_from(std::uint32_t section_type,
                 std::map<std::uint64_t, ElfFunctionAt>& addresses) const;
  static std::optional<std::uint64_t> find(const SymbolTable& table, std::string_view name);

  std::string path_;
  base::FileDescriptor file_;
  std::uint64_t file_size_ = 0;
  std::vector<Section> sections_;
  std::string soname_;
  std::string interpreter_;
  std::vector<std::string> needed_;
  bool is_relocatable_ = false;
  std::uint16_t machine_ = 0;
  std::optional<SymbolTable> dynamic_symbols_;
  std::optional<SymbolTable> static_symbols_;
};

}  // namespace ebb::heap
