// SPDX-License-Identifier: Apache-2.0
#include "sites/line_table.h"

#include <algorithm>
#include <vector>

#include "sites/dwarf_reader.h"

namespace ebb::sites {
namespace {

constexpr std::size_t kMostNames = 100'000;
constexpr std::size_t kLongestName = 4096;
constexpr std::uint64_t kMostLines = 1 << 30;

std::string_view text_at(std::string_view section, std::uint64_t offset) {
  if (offset >= section.size()) return {};
  const std::string_view rest = section.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

struct File {
  std::string_view name;
  std::uint64_t folder = 0;
};

struct Row {
  std::uint64_t address = 0;
  std::uint64_t file = 0;
  std::uint64_t line = 0;
};

/// One unit of .debug_line.
class Unit {
 public:
  Unit(const LineSections& sections, std::map<std::uint64_t, SourceLine>& addresses)
      : sections_(sections), addresses_(addresses) {}

  void run(DwarfReader unit, bool is_64) {
    version_ = unit.fixed<std::uint16_t>();
    if (version_ < 2 || version_ > 5) return;
    if (version_ == 5) unit.fixed<std::uint16_t>();  // sizes of addresses and segments
    DwarfReader header = unit.part(unit.offset(is_64));
    least_ = header.fixed<std::uint8_t>();
    if (version_ >= 4) header.fixed<std::uint8_t>();  // operations per instruction: 1 but for VLIW
    header.fixed<std::uint8_t>();                     // whether rows begin as statements
    base_ = header.fixed<std::int8_t>();
    range_ = header.fixed<std::uint8_t>();
    first_special_ = header.fixed<std::uint8_t>();
    if (range_ == 0 || first_special_ == 0) return;
    lengths_.assign(first_special_, 0);
    for (unsigned i = 1; i < first_special_; ++i)
      lengths_[i] = header.fixed<std::uint8_t>();
    if (version_ == 5) {
      read_entries(header, is_64, [&](const File& entry) { folders_.push_back(entry.name); });
      read_entries(header, is_64, [&](const File& entry) { files_.push_back(entry); });
    } else {
      read_old_names(header);
    }
    if (header.failed()) return;
    while (!unit.is_over())
      step(unit);
  }

 private:
  void read_old_names(DwarfReader& header) {
    folders_.emplace_back();
    files_.emplace_back();
    for (std::string_view name = header.text(); !name.empty() && folders_.size() < kMostNames;
         name = header.text())
      folders_.push_back(name);
    for (std::string_view name = header.text(); !name.empty() && files_.size() < kMostNames;
         name = header.text()) {
      const std::uint64_t folder = header.number();
      header.number();
      header.number();
      files_.push_back({name, folder});
    }
  }

  template <class Take>
  void read_entries(DwarfReader& header, bool is_64, const Take& take) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> format(header.fixed<std::uint8_t>());
    for (auto& [content, form] : format) {
      content = header.number();
      form = header.number();
    }
    const std::uint64_t count = header.number();
    for (std::uint64_t i = 0; i < count && i < kMostNames && !header.failed(); ++i) {
      File entry;
      for (const auto& [content, form] : format) {
        std::string_view text;
        std::uint64_t value = 0;
        if (!read_form(header, form, is_64, &text, &value)) return header.fail();
        if (content == 1) entry.name = text;
        if (content == 2) entry.folder = value;
      }
      take(entry);
    }
  }

  bool read_form(DwarfReader& header, std::uint64_t form, bool is_64, std::string_view* text,
                 std::uint64_t* value) const {
    switch (form) {
      case 0x08:  // string
        *text = header.text();
        return true;
      case 0x1F:  // line_strp
        *text = text_at(sections_.line_strings, header.offset(is_64));
        return true;
      case 0x0E:  // strp
        *text = text_at(sections_.strings, header.offset(is_64));
        return true;
      case 0x0B:
        *value = header.fixed<std::uint8_t>();
        return true;
      case 0x05:
        *value = header.fixed<std::uint16_t>();
        return true;
      case 0x06:
        *value = header.fixed<std::uint32_t>();
        return true;
      case 0x07:
        *value = header.fixed<std::uint64_t>();
        return true;
      case 0x0F:
        *value = header.number();
        return true;
      case 0x1E:  // data16: a digest
        header.part(16);
        return true;
      case 0x09:  // block
        header.part(header.number());
        return true;
      default:
        return false;
    }
  }

  void step(DwarfReader& program) {
    const auto code = program.fixed<std::uint8_t>();
    if (code >= first_special_) {
      const unsigned adjusted = code - first_special_;
      advance(adjusted / range_);
      line_ += static_cast<std::uint64_t>(base_ + static_cast<int>(adjusted % range_));
      return row();
    }
    switch (code) {
      case 0:
        return extended(program);
      case 1:  // copy
        return row();
      case 2:
        return advance(program.number());
      case 3:
        line_ += static_cast<std::uint64_t>(program.signed_number());
        return;
      case 4:
        file_ = program.number();
        return;
      case 8:  // const_add_pc
        return advance((255U - first_special_) / range_);
      case 9:  // fixed_advance_pc
        address_ += program.fixed<std::uint16_t>();
        return;
      default:
        for (unsigned i = 0; i < lengths_[code]; ++i)
          program.number();
    }
  }

  void extended(DwarfReader& program) {
    DwarfReader operation = program.part(program.number());
    const auto code = operation.fixed<std::uint8_t>();
    if (code == 1) {  // end_sequence
      row();
      is_in_sequence_ = false;
      address_ = 0;
      file_ = 1;
      line_ = 1;
    } else if (code == 2 && operation.left() == 8) {  // set_address
      address_ = operation.fixed<std::uint64_t>();
    }
  }

  void advance(std::uint64_t operations) { address_ += operations * least_; }

  /// The row before this one holds up to here.
  void row() {
    if (is_in_sequence_ && address_ > row_address_ && row_address_ != 0) {
      for (auto at = addresses_.lower_bound(row_address_);
           at != addresses_.end() && at->first < address_; ++at)
        if (row_line_ > 0 && row_line_ < kMostLines && at->second.line == 0) tell(at->second);
    }
    if (!is_in_sequence_) rows_.clear();
    is_in_sequence_ = true;
    rows_.push_back({address_, file_, line_});
    row_address_ = address_;
    row_file_ = file_;
    row_line_ = line_;
  }

  /// By the row that holds, or an earlier one of the function that is in its own file.
  void tell(SourceLine& wanted) const {
    const auto after = std::upper_bound(
        rows_.begin(), rows_.end(), wanted.function,
        [](std::uint64_t address, const Row& row) { return address < row.address; });
    Row best = rows_.back();
    if (wanted.function != 0 && after != rows_.begin()) {
      const std::uint64_t own = (after - 1)->file;
      if (best.file != own && tell_call(wanted, own)) return;
      for (auto row = rows_.end(); row != rows_.begin() && (row - 1)->address >= wanted.function;) {
        --row;
        if (row->file != own || row->line == 0 || row->line >= kMostLines) continue;
        best = *row;
        break;
      }
    }
    wanted.file = name_of(best.file);
    wanted.line = static_cast<std::uint32_t>(best.line);
  }

  /// By the innermost call that stands in this file.
  bool tell_call(SourceLine& wanted, std::uint64_t file) const {
    const std::string name = name_of(file);
    const auto call = std::find_if(
        wanted.calls.rbegin(), wanted.calls.rend(),
        [&](const InlinedCall& one) { return one.file == file || name_of(one.file) == name; });
    if (call == wanted.calls.rend()) return false;
    wanted.file = name;
    wanted.line = call->line;
    return true;
  }

  std::string name_of(std::uint64_t number) const {
    if (number >= files_.size()) return {};
    const File& file = files_[number];
    std::string name(file.name.substr(0, kLongestName));
    if (name.starts_with('/') || file.folder >= folders_.size()) return name;
    std::string folder(folders_[file.folder].substr(0, kLongestName));
    if (version_ == 5 && !folder.starts_with('/') && file.folder != 0 && !folders_[0].empty())
      folder = std::string(folders_[0].substr(0, kLongestName)) + "/" + folder;
    return folder.empty() ? name : folder + "/" + name;
  }

  const LineSections& sections_;
  std::map<std::uint64_t, SourceLine>& addresses_;
  unsigned version_ = 0;
  std::uint8_t least_ = 1;
  std::int8_t base_ = 0;
  std::uint8_t range_ = 1;
  std::uint8_t first_special_ = 1;
  std::vector<std::uint8_t> lengths_;
  std::vector<std::string_view> folders_;
  std::vector<File> files_;
  std::vector<Row> rows_;  // of the sequence so far
  std::uint64_t address_ = 0;
  std::uint64_t file_ = 1;
  std::uint64_t line_ = 1;  // a hostile program may go round
  bool is_in_sequence_ = false;
  std::uint64_t row_address_ = 0;
  std::uint64_t row_file_ = 1;
  std::uint64_t row_line_ = 1;
};

}  // namespace

void find_lines(const LineSections& sections, std::map<std::uint64_t, SourceLine>& addresses) {
  DwarfReader all(sections.lines);
  while (!all.is_over()) {
    std::uint64_t length = all.fixed<std::uint32_t>();
    const bool is_64 = length == 0xFFFFFFFF;
    if (is_64) length = all.fixed<std::uint64_t>();
    const DwarfReader unit = all.part(length);
    if (!all.failed()) Unit(sections, addresses).run(unit, is_64);
  }
}

}  // namespace ebb::sites
