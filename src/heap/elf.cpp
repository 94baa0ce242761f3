// SPDX-License-Identifier: Apache-2.0
#include "heap/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ebb::heap {
namespace {

using base::Code;

/// No table of an honest library comes near this; it bounds what a hostile file makes us take.
constexpr std::uint64_t kLargestPart = 512ULL << 20;

std::string_view string_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

template <class T>
std::vector<T> records(const std::string& bytes) {
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
  return all;
}

}  // namespace

base::Result<ElfFile> ElfFile::open(const std::string& path) {
  ElfFile elf;
  elf.path_ = path;
  // O_NONBLOCK: opening a FIFO that poses as a library must not hang.
  elf.file_ = base::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!elf.file_.is_open()) return base::system_error(errno, "cannot open %s", path.c_str());
  struct stat info {};
  if (::fstat(elf.file_.get(), &info) != 0)
    return base::system_error(errno, "cannot read %s", path.c_str());
  if (!S_ISREG(info.st_mode))
    return base::error(Code::bad_input, "%s is not a regular file", path.c_str());
  elf.file_size_ = static_cast<std::uint64_t>(info.st_size);
  if (base::Status read = elf.read_headers(); !read) return read.error();
  return elf;
}

base::Result<std::string> ElfFile::bytes_at(std::uint64_t offset, std::uint64_t size) const {
  if (offset > file_size_ || size > file_size_ - offset || size > kLargestPart) {
    return base::error(Code::bad_input, "%s: a part at %llu of %llu bytes lies outside the file",
                       path_.c_str(), static_cast<unsigned long long>(offset),
                       static_cast<unsigned long long>(size));
  }
  std::string bytes(size, '\0');
  std::uint64_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::pread(file_.get(), bytes.data() + filled, size - filled,
                                static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::system_error(errno, "cannot read %s", path_.c_str());
    if (got == 0) return base::error(Code::bad_input, "%s became shorter", path_.c_str());
    filled += static_cast<std::uint64_t>(got);
  }
  return bytes;
}

base::Status ElfFile::read_headers() {
  const auto not_elf = [&](const char* why) {
    return base::error(Code::bad_input, "%s is not a 64-bit ELF file: %s", path_.c_str(), why);
  };
  if (file_size_ < sizeof(Elf64_Ehdr)) return not_elf("too short");
  const base::Result<std::string> bytes = bytes_at(0, sizeof(Elf64_Ehdr));
  if (!bytes) return bytes.error();
  const Elf64_Ehdr header = records<Elf64_Ehdr>(*bytes)[0];
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return not_elf("no ELF magic");
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return not_elf("it is a 32-bit one");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) return not_elf("it is big-endian");
  is_relocatable_ = header.e_type == ET_DYN;
  machine_ = header.e_machine;

  const base::Result<std::string> segments =
      bytes_at(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  if (!segments) return segments.error();
  for (const Elf64_Phdr& segment : records<Elf64_Phdr>(*segments)) {
    if (segment.p_type != PT_INTERP || segment.p_filesz > 4096) continue;
    const base::Result<std::string> name = bytes_at(segment.p_offset, segment.p_filesz);
    if (!name) return name.error();
    interpreter_ = name->c_str();
  }
  return read_sections(header.e_shoff, header.e_shnum, header.e_shstrndx);
}

base::Status ElfFile::read_sections(std::uint64_t offset, std::uint16_t count,
                                    std::uint16_t names_index) {
  const base::Result<std::string> bytes =
      bytes_at(offset, std::uint64_t{count} * sizeof(Elf64_Shdr));
  if (!bytes) return bytes.error();
  const std::vector<Elf64_Shdr> headers = records<Elf64_Shdr>(*bytes);
  std::string names;
  if (names_index < headers.size()) {
    base::Result<std::string> read =
        bytes_at(headers[names_index].sh_offset, headers[names_index].sh_size);
    if (!read) return read.error();
    names = *std::move(read);
  }
  for (const Elf64_Shdr& header : headers) {
    sections_.push_back({std::string(string_at(names, header.sh_name)), header.sh_type,
                         header.sh_flags, header.sh_addr, header.sh_offset, header.sh_size,
                         header.sh_link});
  }
  for (const Section& section : sections_) {
    if (section.type != SHT_DYNAMIC) continue;
    if (base::Status read = read_dynamic(section); !read) return read;
  }
  return {};
}

base::Status ElfFile::read_dynamic(const Section& section) {
  if (section.link >= sections_.size()) return {};
  const Section& strings = sections_[section.link];
  const base::Result<std::string> entries = bytes_at(section.offset, section.size);
  if (!entries) return entries.error();
  const base::Result<std::string> names = bytes_at(strings.offset, strings.size);
  if (!names) return names.error();
  for (const Elf64_Dyn& entry : records<Elf64_Dyn>(*entries)) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) needed_.emplace_back(string_at(*names, entry.d_un.d_val));
    if (entry.d_tag == DT_SONAME) soname_ = string_at(*names, entry.d_un.d_val);
  }
  return {};
}

ElfFile::SymbolTable ElfFile::read_symbols(std::uint32_t section_type) const {
  for (const Section& section : sections_) {
    if (section.type != section_type || section.link >= sections_.size()) continue;
    const Section& strings = sections_[section.link];
    base::Result<std::string> entries = bytes_at(section.offset, section.size);
    base::Result<std::string> names = bytes_at(strings.offset, strings.size);
    if (entries && names) return {*std::move(entries), *std::move(names)};
  }
  // No table, or a damaged one, defines nothing; the file may still be told by its strings.
  return {};
}

std::optional<std::uint64_t> ElfFile::find(const SymbolTable& table, std::string_view name) {
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.entries.size();
       at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol{};
    std::memcpy(&symbol, table.entries.data() + at, sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= table.names.size()) continue;
    // With the terminating null, so that no longer name matches.
    const std::string_view rest = std::string_view(table.names).substr(symbol.st_name);
    if (rest.size() <= name.size() || rest[name.size()] != '\0' || !rest.starts_with(name))
      continue;
    const unsigned kind = ELF64_ST_TYPE(symbol.st_info);
    if (kind == STT_FUNC || kind == STT_OBJECT || kind == STT_GNU_IFUNC) return symbol.st_value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ElfFile::defined_dynamically(std::string_view name) {
  if (!dynamic_symbols_) dynamic_symbols_ = read_symbols(SHT_DYNSYM);
  return find(*dynamic_symbols_, name);
}

std::optional<std::uint64_t> ElfFile::defined(std::string_view name) {
  if (const auto value = defined_dynamically(name)) return value;
  if (!static_symbols_) static_symbols_ = read_symbols(SHT_SYMTAB);
  return find(*static_symbols_, name);
}

bool ElfFile::read_only_data_contains(std::string_view needle) const {
  const std::string one(needle);
  return read_only_data_contains_each({&one, 1})[0];
}

}  // namespace ebb::heap
