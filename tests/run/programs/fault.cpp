// SPDX-License-Identifier: Apache-2.0
// Preloaded into `ebb`: once the file $EBB_TEST_FAULT is there, its next poll() is a real fault;
// where "throw" stands in it, an exception, and the file is gone then.
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

bool is_to_throw(const char* path) {
  char word[8] = "";
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return false;
  const std::size_t got = std::fread(word, 1, sizeof word - 1, file);
  std::fclose(file);
  return got >= 5 && std::strncmp(word, "throw", 5) == 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int poll(pollfd* sources, nfds_t count,
                                                           int timeout) {
  const char* file = std::getenv("EBB_TEST_FAULT");
  if (file != nullptr && std::strcmp(program_invocation_short_name, "ebb") == 0 &&
      ::access(file, F_OK) == 0) {
    if (!is_to_throw(file)) *reinterpret_cast<volatile int*>(8) = 0;
    ::unlink(file);
    throw std::runtime_error("a fault of the test's");
  }
  const timespec time = {timeout / 1000, timeout % 1000 * 1000000L};
  return ::ppoll(sources, count, timeout < 0 ? nullptr : &time, nullptr);
}
