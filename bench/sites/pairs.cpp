// SPDX-License-Identifier: Apache-2.0
// sites-pairs THREADS BYTES PAIRS: each thread takes and gives back blocks, 64 at a time. Prints
// the processor time of one pair of calls, in nanoseconds.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kAtOnce = 64;

void take_and_give(std::size_t bytes, long pairs) {
  void* blocks[kAtOnce];
  for (long done = 0; done < pairs; done += kAtOnce) {
    for (void*& block : blocks) {
      block = std::malloc(bytes);
      asm volatile("" : : "r"(block) : "memory");
    }
    for (void* block : blocks)
      std::free(block);
  }
}

double processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int threads = std::atoi(argv[1]);
  const auto bytes = static_cast<std::size_t>(std::atol(argv[2]));
  const long pairs = std::atol(argv[3]) / threads;
  const double start = processor_ns();
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back(take_and_give, bytes, pairs);
  for (std::thread& thread : all)
    thread.join();
  std::printf("%.3f\n", (processor_ns() - start) / static_cast<double>(pairs * threads));
  return 0;
}
