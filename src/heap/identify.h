// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "heap/allocator_kind.h"
#include "heap/elf.h"

namespace ebb::heap {

/// How sure an identification is, strongest first.
enum class Evidence : std::uint8_t {
  dynamic_symbol,  ///< its control symbol is in the dynamic table: callable
  static_symbol,   ///< only in the static table: callable until somebody strips the file
  string,          ///< stripped; told by strings it carries: known, not callable
  none,
};

const char* name_of(Evidence evidence);

/// Which allocator the code in one ELF file is.
struct Identity {
  AllocatorKind kind = AllocatorKind::unknown;
  Evidence evidence = Evidence::none;
  std::string
      control_symbol;  ///< what gave it away, with its prefix: "mi_collect", "_rjem_mallctlbymib"
  std::string prefix;  ///< before the allocator's usual names: "", "je_", "_rjem_"
  std::string remark;  ///< e.g. which sanitizer replaced malloc; usually empty
};

/// libebb-sites.so, which stands before the malloc of its process and hands every call on.
bool only_samples(ElfFile& file);

/// Identifies the allocator that serves malloc out of `file`, which defines `malloc` itself.
Identity identify_main(ElfFile& file);

/// The allocators that `file` carries for its own use (pyarrow's, Rust's), each kind once: found by
/// what it defines, under whatever prefix, or else by what it says of itself. CPython's own
/// mimalloc, which serves its objects alone, is none of them.
std::vector<Identity> identify_private_copies(ElfFile& file);

}  // namespace ebb::heap
