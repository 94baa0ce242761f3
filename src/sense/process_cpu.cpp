// SPDX-License-Identifier: Apache-2.0
#include "sense/process_cpu.h"

#include <unistd.h>

#include "base/file.h"
#include "sense/process_text.h"

namespace ebb::sense {

base::Result<double> read_cpu_seconds(pid_t pid, const Roots& roots) {
  const std::string file = roots.process(pid) + "/stat";
  const auto text = base::read_file(file, 1 << 16);
  if (!text) return text.error();
  const auto stat = parse_stat(*text, file);
  if (!stat) return stat.error();
  return static_cast<double>(stat->cpu_ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace ebb::sense
