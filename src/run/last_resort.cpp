// SPDX-License-Identifier: Apache-2.0
#include "run/last_resort.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "base/write_now.h"

namespace ebb::run {
namespace {

constexpr int kPatienceMs = 100;

// How the program was started. Written once, before anything else runs.
char** words_of_program = nullptr;
int number_of_words = 0;
sigset_t mask_at_start;
bool ignored_children = false;
std::atomic<bool> is_armed{false};
bool is_main_begun = false;

void print_plainly(std::string_view text) {
  base::write_within(STDERR_FILENO, text, kPatienceMs);  // nobody may be reading
}

/// Words behind the dashes of `ebb run … --`; 0 where there are none.
std::size_t words_of_command() {
  if (number_of_words < 2 || std::strcmp(words_of_program[1], "run") != 0) return 0;
  for (int i = 2; i < number_of_words; ++i) {
    if (std::strcmp(words_of_program[i], "--dry-run") == 0) return 0;
    if (std::strcmp(words_of_program[i], "--") == 0)
      return static_cast<std::size_t>(number_of_words - i - 1);
  }
  return 0;
}

void out_of_memory() {
  const std::size_t words = words_of_command();
  if (!is_main_begun && words == 0) {  // nobody catches anything yet
    say_without_memory("out of memory");
    ::_exit(EXIT_FAILURE);
  }
  if (!is_armed.exchange(false) || words == 0) {
    std::set_new_handler(nullptr);  // operator new asks it next, and throws
    return;
  }
  ::_exit(become_command(words, "out of memory"));
}

void arm(int count, char** words) {
  number_of_words = count;
  words_of_program = words;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask_at_start);
  struct sigaction children {};
  ::sigaction(SIGCHLD, nullptr, &children);
  ignored_children = children.sa_handler == SIG_IGN;
  is_armed = true;
  std::set_new_handler(out_of_memory);
}

#ifdef __GLIBC__  // which alone passes the command line to constructors
/// Before the first object of the program is made: those ask for memory already.
__attribute__((constructor(101))) void arm_early(int count, char** words, char** /*environment*/) {
  arm(count, words);
}
#endif

}  // namespace

void say_without_memory(const char* why) {
  print_plainly("ebb: ");
  print_plainly(why);
  print_plainly("\n");
}

void arm_last_resort(int count, char** words) {
  if (words_of_program == nullptr) arm(count, words);
  is_main_begun = true;
}

void give_up_last_resort() {
  is_armed = false;
}

int become_command(std::size_t words, const char* why) {
  is_armed = false;
  if (words == 0 || static_cast<int>(words) >= number_of_words) return 1;
  char** command = words_of_program + number_of_words - static_cast<int>(words);
  print_plainly("ebb: ");
  print_plainly(why);
  print_plainly(": the command runs without Ebb\n");
  if (ignored_children) ::signal(SIGCHLD, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &mask_at_start, nullptr);
  ::execvp(command[0], command);
  const int status = errno == ENOENT ? 127 : 126;
  print_plainly("ebb: cannot run ");
  print_plainly(command[0]);
  print_plainly(status == 127 ? ": no such command\n" : "\n");
  return status;
}

}  // namespace ebb::run
