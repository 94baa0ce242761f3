// SPDX-License-Identifier: Apache-2.0
#include "run/unmanaged.h"

#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "base/truth_word.h"
#include "run/target.h"
#include "sense/living_thread.h"

namespace ebb::run {
namespace {

/// The value that `environment`, as the kernel shows it, gives a variable.
std::optional<std::string> value_in(std::string_view environment, std::string_view name) {
  for (const std::string_view entry : base::split(environment, '\0')) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return std::string(entry.substr(name.size() + 1));
  }
  return std::nullopt;
}

}  // namespace

std::string why_no_agent(pid_t pid, const std::string& agent) {
  const std::string folder = sense::folder_to_read(pid);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return {};  // it has ended
  if (status.st_uid != ::geteuid()) return "it runs as another user";
  if (const std::string why = why_no_agent_in(folder + "/exe"); !why.empty()) return why;
  const auto environment = base::read_file(folder + "/environ");
  if (!environment) return {};
  const auto disabled = value_in(*environment, "EBB_DISABLE");
  if (disabled && base::disables(disabled->c_str())) return "EBB_DISABLE is set";
  const std::string preloaded = value_in(*environment, "LD_PRELOAD").value_or("");
  const bool has_agent = preloaded.find(agent) != std::string::npos;
  if (!has_agent || !value_in(*environment, "EBB_SOCKET"))
    return "it was started with an environment of its own (env -i)";
  return {};
}

}  // namespace ebb::run
