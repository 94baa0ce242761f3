// SPDX-License-Identifier: Apache-2.0
#include "serve/browser.h"

#include <signal.h>
#include <spawn.h>
#include <unistd.h>

namespace ebb::serve {

base::Status open_in_browser(const std::string& url) {
  ::signal(SIGCHLD, SIG_IGN);
  sigset_t none;
  sigset_t ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGCHLD);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string program = "xdg-open";
  std::string address = url;
  char* words[] = {program.data(), address.data(), nullptr};
  pid_t opener = 0;
  const int failure =
      ::posix_spawnp(&opener, program.c_str(), nullptr, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) return base::system_error(failure, "no browser is opened: xdg-open");
  return {};
}

}  // namespace ebb::serve
