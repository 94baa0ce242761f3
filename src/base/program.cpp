// SPDX-License-Identifier: Apache-2.0
#include "base/program.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"

namespace ebb::base {

Result<std::string> program_folder() {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0) return system_error(errno, "cannot tell where this program lies");
  const std::string path(self, static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/'));
}

Result<std::string> file_of_program(const std::string& name,
                                    std::initializer_list<const char*> also) {
  const auto here = program_folder();
  if (!here) return here.error();
  std::vector<std::string> folders = {"../lib/ebb", "../" EBB_LIBRARY_FOLDER "/ebb"};
  folders.insert(folders.end(), also.begin(), also.end());
  for (const std::string& folder : folders) {
    char resolved[PATH_MAX];
    const std::string candidate = *here + "/" + folder;
    if (::access((candidate + "/" + name).c_str(), R_OK) == 0 &&
        ::realpath(candidate.c_str(), resolved) != nullptr)
      return std::string(resolved) + "/" + name;
  }
  return error(Code::unavailable, "%s is not there: expected it in %s/../lib/ebb", name.c_str(),
               here->c_str());
}

std::vector<std::string> command_line() {
  std::vector<std::string> words;
  const std::string text = read_file("/proc/self/cmdline", 1 << 20).value_or("");
  for (const std::string_view word : split(text, '\0'))
    words.emplace_back(word);
  // Each word ends with a zero: behind the last one is no other.
  if (!words.empty()) words.pop_back();
  return words;
}

}  // namespace ebb::base
