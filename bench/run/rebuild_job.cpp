// SPDX-License-Identifier: Apache-2.0
// The job that run-rebuild measures: every PERIOD seconds eight threads build a structure of 1 GiB
// in blocks of 4 to 100 KiB, use it and free it, but for one block in 200 that lives until the next
// time; then two threads do arithmetic on a small working set, as training does.
//
//   rebuild-job SECONDS PERIOD
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kThreads = 8;
constexpr std::size_t kBytesEach = (std::size_t{1} << 30) / kThreads;
constexpr int kPasses = 200'000;  // most of a period of 20 s on one core

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One thread's part of the structure.
class Part {
 public:
  explicit Part(unsigned seed) : random_(seed) {}

  void rebuild() {
    for (const Block& block : kept_)
      std::free(block.bytes);
    kept_.clear();
    std::vector<Block> blocks;
    for (std::size_t taken = 0; taken < kBytesEach; taken += blocks.back().size) {
      const std::size_t size = (4 + random_() % 96) << 10;
      auto* bytes = static_cast<unsigned char*>(std::malloc(size));
      if (bytes == nullptr) std::abort();
      std::memset(bytes, static_cast<int>(random_() & 0xFF), size);
      blocks.push_back({bytes, size});
    }
    for (const Block& block : blocks) {
      for (std::size_t i = 0; i < block.size; i += 64)
        sum_ += block.bytes[i];
      if (random_() % 200 == 0) {
        kept_.push_back(block);
      } else {
        std::free(block.bytes);
      }
    }
  }

  std::size_t sum() const { return sum_; }

 private:
  struct Block {
    unsigned char* bytes;
    std::size_t size;
  };

  std::mt19937 random_;
  std::vector<Block> kept_;
  std::size_t sum_ = 0;
};

/// Arithmetic on 1 MiB, always the same amount.
double train() {
  std::vector<double> weights(1 << 17, 1.0);
  double last = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (double& weight : weights)
      weight = weight * 0.999 + 0.001 * last;
    last = weights.back();
  }
  return last;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const double length = std::atof(words[1]);
  const double period = std::atof(words[2]);
  const Clock::time_point start = Clock::now();
  const auto cycles = static_cast<std::size_t>(length / period);
  std::barrier together(kThreads + 1);
  std::vector<Part> parts;
  for (unsigned i = 0; i < kThreads; ++i)
    parts.emplace_back(i);
  std::vector<std::thread> builders;
  for (Part& part : parts) {
    builders.emplace_back([&] {
      for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
        together.arrive_and_wait();
        part.rebuild();
        together.arrive_and_wait();
      }
    });
  }
  double result = 0;
  for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
    together.arrive_and_wait();
    together.arrive_and_wait();
    double other_result = 0;
    std::thread other([&] { other_result = train(); });
    result += train();
    other.join();
    result += other_result;
    const double left = period * static_cast<double>(cycle + 1) - seconds_since(start);
    if (left > 0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
  }
  for (std::thread& builder : builders)
    builder.join();
  std::size_t sum = 0;
  for (const Part& part : parts)
    sum += part.sum();
  std::printf("{\"cycles\": %zu, \"sum\": %zu, \"result\": %g}\n", cycles, sum, result);
  return 0;
}
