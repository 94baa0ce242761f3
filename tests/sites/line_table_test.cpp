// SPDX-License-Identifier: Apache-2.0
#include "sites/line_table.h"

#include <gtest/gtest.h>

#include <random>

#include "sites/dwarf_bytes.h"

namespace ebb::sites {
namespace {

/// A unit of DWARF 4 or 5 with two rows: line 7 at 0x1000, line 9 from 0x1010 to 0x1020.
std::string unit(int version, std::string_view* line_strings) {
  static const std::string kNames = std::string("/src\0main.c\0", 12);
  std::string header;
  put(header, 1, 1);  // least instruction
  put(header, 1, 1);  // operations
  put(header, 1, 1);  // statements
  header += static_cast<char>(-5);
  put(header, 14, 1);
  put(header, 13, 1);
  header += std::string("\0\1\1\1\1\0\0\0\1\0\0\1", 12);
  if (version == 5) {
    *line_strings = kNames;
    put(header, 1, 1);  // one format of folders: path as line_strp
    header += "\x01\x1F";
    put(header, 1, 1);
    put(header, 0, 4);
    put(header, 2, 1);  // files: path, folder
    header += "\x01\x1F\x02\x0B";
    put(header, 2, 1);
    for (int i = 0; i < 2; ++i) {
      put(header, 5, 4);
      put(header, 0, 1);
    }
  } else {
    header += std::string("/src\0\0main.c\0\1\0\0\0", 17);
  }
  std::string program("\0\x09\x02", 3);
  put(program, 0x1000, 8);
  program += std::string("\x03\x06\x01", 3);          // line 7, a row
  program += std::string("\x02\x10\x03\x02\x01", 5);  // 16 bytes on, line 9, a row
  program += std::string("\x02\x10\0\1\1", 5);        // 16 bytes on, the end
  std::string body;
  put(body, static_cast<std::uint64_t>(version), 2);
  if (version == 5) body += std::string("\x08\0", 2);
  put(body, header.size(), 4);
  body += header + program;
  std::string whole;
  put(whole, body.size(), 4);
  return whole + body;
}

TEST(LineTable, TellsFileAndLineInOldAndNewForms) {
  for (const int version : {4, 5}) {
    LineSections sections;
    const std::string lines = unit(version, &sections.line_strings);
    sections.lines = lines;
    std::map<std::uint64_t, SourceLine> addresses{
        {0xFFF, {}}, {0x1000, {}}, {0x100F, {}}, {0x1015, {}}, {0x1020, {}}};
    find_lines(sections, addresses);
    EXPECT_EQ(addresses[0x1000].file, "/src/main.c") << version;
    EXPECT_EQ(addresses[0x1000].line, 7U) << version;
    EXPECT_EQ(addresses[0x100F].line, 7U) << version;
    EXPECT_EQ(addresses[0x1015].line, 9U) << version;
    EXPECT_EQ(addresses[0xFFF].line, 0U) << version;
    EXPECT_EQ(addresses[0x1020].line, 0U) << version;
  }
}

TEST(LineTable, InlinedCodeOfAnotherFileIsWhereItWasCalled) {
  std::string program("\0\x09\x02", 3);
  put(program, 0x1000, 8);
  program += std::string("\x03\x06\x01", 3);                  // main.c:7, where the function begins
  program += std::string("\x02\x10\x03\x02\x01", 5);          // main.c:9
  program += std::string("\x02\x10\x04\x02\x03\x32\x01", 7);  // header.h, far away
  program += std::string("\x02\x10\0\1\1", 5);
  std::string header("\1\1\1\xFB\x0E\x0D\0\1\1\1\1\0\0\0\1\0\0\1", 18);
  header += std::string("/src\0\0main.c\0\1\0\0header.h\0\1\0\0\0", 29);
  std::string body;
  put(body, 4, 2);
  put(body, header.size(), 4);
  body += header + program;
  std::string lines;
  put(lines, body.size(), 4);
  lines += body;
  LineSections sections;
  sections.lines = lines;
  std::map<std::uint64_t, SourceLine> addresses{{0x1025, {"", 0, 0x1000}}, {0x1028, {}}};
  find_lines(sections, addresses);
  EXPECT_EQ(addresses[0x1025].file, "/src/main.c");
  EXPECT_EQ(addresses[0x1025].line, 9U);
  EXPECT_EQ(addresses[0x1028].file, "/src/header.h") << "where the function is not known";

  addresses = {{0x1025, {"", 0, 0x1000, {{1, 12}, {2, 40}}}}};
  find_lines(sections, addresses);
  EXPECT_EQ(addresses[0x1025].file, "/src/main.c");
  EXPECT_EQ(addresses[0x1025].line, 12U) << "where calls are known";
}

TEST(LineTable, DamagedAndCutOnesAreReadWithoutHarm) {
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    LineSections sections;
    std::string lines = unit(round % 2 == 0 ? 4 : 5, &sections.line_strings);
    lines += lines;
    for (int i = 0; i < 4; ++i)
      lines[random() % lines.size()] = static_cast<char>(random());
    lines.resize(random() % (lines.size() + 1));
    sections.lines = lines;
    std::map<std::uint64_t, SourceLine> addresses{{0x1000, {}}, {0x1015, {}}};
    find_lines(sections, addresses);
    EXPECT_EQ(addresses.size(), 2U);
  }
}

}  // namespace
}  // namespace ebb::sites
