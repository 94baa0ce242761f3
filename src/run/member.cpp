// SPDX-License-Identifier: Apache-2.0
#include "run/member.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "record/secrets.h"
#include "record/values.h"
#include "sense/living_thread.h"

namespace ebb::run {
namespace {

constexpr std::size_t kLongestCommand = 500;
/// What is looked at for it: a job must not keep the supervisor busy with its name.
constexpr std::size_t kLooked = 16 << 10;

}  // namespace

std::string command_of(pid_t pid) {
  std::string text = base::read_file(sense::folder_to_read(pid) + "/cmdline", 1 << 20).value_or("");
  while (!text.empty() && text.back() == '\0')
    text.pop_back();
  if (text.empty()) {
    text = base::read_file("/proc/" + std::to_string(pid) + "/comm", 1 << 10).value_or("");
    return std::string(base::trimmed(text));
  }
  // In between words, also those of a line of code: half an address does not look like a secret.
  if (text.size() > kLooked)
    text.resize(std::min(text.find_last_of(std::string_view(" \n\0", 3), kLooked), kLooked));
  std::vector<std::string> words;
  for (const std::string_view word : base::split(text, '\0'))
    words.emplace_back(word);
  text.clear();
  for (const std::string& word : record::without_secrets(words))
    text += (text.empty() ? "" : " ") + word;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }, ' ');
  if (text.size() > kLongestCommand) text = record::shortened(text, kLongestCommand - 3) + "...";
  return text;
}

}  // namespace ebb::run
