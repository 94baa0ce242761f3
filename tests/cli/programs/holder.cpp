// SPDX-License-Identifier: Apache-2.0
// holder KIND [MIB_PER_SECOND]: holds 64 MiB until its standard input ends, and besides
//   flat      nothing
//   leak      ever more, at the pace given; how much follows the clock, not the loop
//   sawtooth  up to 32 MiB in rounds of a fifth of a second
//   child     nothing, in a child too
// Says "ready" once the 64 MiB are there.
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kChunk = 64 << 10;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Resident memory in chunks, straight from the kernel so that giving back really does.
class Chunks {
 public:
  void resize(std::size_t bytes) {
    const std::size_t wanted = bytes / kChunk;
    while (chunks_.size() > wanted) {
      munmap(chunks_.back(), kChunk);
      chunks_.pop_back();
    }
    while (chunks_.size() < wanted) {
      void* chunk =
          mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (chunk == MAP_FAILED) std::abort();
      std::memset(chunk, 1, kChunk);
      chunks_.push_back(chunk);
    }
  }

 private:
  std::vector<void*> chunks_;
};

}  // namespace

int main(int count, char** words) {
  const std::string kind = count > 1 ? words[1] : "";
  const double pace = count > 2 ? std::atof(words[2]) * (1 << 20) : 0;
  Chunks held;
  Chunks moving;
  held.resize(64 << 20);
  if (kind == "child" && fork() == 0) {
    pollfd input{0, 0, 0};
    while (poll(&input, 1, -1) == 0) {
    }
    _exit(0);
  }
  std::puts("ready");
  std::fflush(stdout);
  const double begin = now();
  while (true) {
    const double time = now() - begin;
    if (kind == "leak") moving.resize(static_cast<std::size_t>(time * pace));
    if (kind == "sawtooth") {
      const double phase = time * 5 - static_cast<double>(static_cast<long>(time * 5));
      moving.resize(static_cast<std::size_t>(phase * (32 << 20)));
    }
    pollfd input{0, POLLIN, 0};
    if (poll(&input, 1, 5) != 0) return 0;
  }
}
