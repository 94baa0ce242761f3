// SPDX-License-Identifier: Apache-2.0
#include "random_steps.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

std::uint64_t use_heap(Random& random) {
  std::vector<std::vector<unsigned char>> blocks(1 + random.below(40));
  std::uint64_t hash = 0;
  for (auto& block : blocks) {
    block.assign(1 + random.below(1 << (8 + random.below(12))),
                 static_cast<unsigned char>(random.next()));
    hash = hash * 31 + block.size() + block.back();
  }
  return hash;
}

std::uint64_t use_own_pages(Random& random) {
  const std::size_t size = (1 + random.below(256)) << 12U;
  void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) std::_Exit(97);
  std::memset(pages, static_cast<int>(random.below(256)), size);
  const std::uint64_t hash = size + *static_cast<unsigned char*>(pages);
  ::munmap(pages, size);
  return hash;
}

std::uint64_t use_child(Random& random) {
  const std::uint64_t how = random.next();
  const pid_t child = ::fork();
  if (child < 0) std::_Exit(96);
  if (child == 0) {
    Random own(how);
    use_heap(own);
    if (how % 5 == 0) ::raise(SIGKILL);
    std::_Exit(static_cast<int>(how % 100));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return static_cast<std::uint64_t>(status);
}

void close_descriptors() {
  for (int descriptor = 3; descriptor < 1024; ++descriptor)
    ::close(descriptor);
}

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
    if (wrote < 0) std::_Exit(99);
    done += static_cast<std::size_t>(wrote);
  }
}
