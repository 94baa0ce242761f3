// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sense/cgroup_text.h"
#include "sense/cpu.h"
#include "sense/fields.h"
#include "sense/machine.h"
#include "sense/pressure.h"
#include "sense/process_text.h"

namespace {

using namespace ebb::sense;

constexpr std::string_view kFile = "the/file";

template <class T>
void check(const ebb::base::Result<T>& result) {
  if (result) return;
  const ebb::base::Error& error = result.error();
  EBB_CHECK(error.code == ebb::base::Code::bad_input);
  EBB_CHECK(error.message.find(kFile) == 0);
  EBB_CHECK(error.message.size() < 300);
  for (const char c : error.message)
    EBB_CHECK(c >= ' ' && c <= '~');
}

}  // namespace

/// The first byte, a letter from 'a' on, chooses the parser; the rest is the file. Any text is a
/// value or one clear line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'a':
      check(parse_status(text, kFile));
      break;
    case 'b':
      check(parse_stat(text, kFile));
      break;
    case 'c':
      check(parse_statm(text, kFile));
      break;
    case 'd':
      check(parse_smaps_rollup(text, kFile));
      break;
    case 'e':
      check(parse_limits(text, kFile));
      break;
    case 'f':
      check(parse_group_names(text, kFile));
      break;
    case 'g':
      check(parse_cgroup_mounts(text, kFile));
      break;
    case 'h':
      check(parse_limit(text, kFile));
      break;
    case 'i':
      check(parse_number(text, kFile));
      break;
    case 'j':
      check(KeyedNumbers::parse(text, kFile));
      break;
    case 'k':
      check(parse_pressure(text, kFile));
      break;
    case 'l':
      check(parse_meminfo(text, kFile));
      break;
    case 'm':
      check(parse_cpu_list(text, kFile));
      break;
    case 'n':
      check(parse_thp(text, kFile));
      break;
    case 'o':
      check(parse_machine_ticks(text, kFile));
      break;
    default:
      break;
  }
  return 0;
}
