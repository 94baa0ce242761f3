// SPDX-License-Identifier: Apache-2.0
#include "sense/process_environment.h"

#include <algorithm>
#include <string_view>

#include "base/file.h"
#include "sense/living_thread.h"

namespace ebb::sense {

base::Result<std::map<std::string, std::string>> read_environment(pid_t pid, const Roots& roots) {
  const auto text = base::read_file(folder_to_read(pid, roots) + "/environ");
  if (!text) {
    if (text.error().code == base::Code::not_found) return no_such_process(pid, roots);
    return text.error();
  }
  std::map<std::string, std::string> variables;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const std::size_t equals = entry.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

}  // namespace ebb::sense
