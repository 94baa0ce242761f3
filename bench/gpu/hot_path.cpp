// SPDX-License-Identifier: Apache-2.0
// hot-path TORCH_VERSION [LIBRARY]: host nanoseconds per alloc+free pair that is served from the
// cache, PyTorch's own allocator against Ebb's, on device 0, in one process, taking turns: the same
// sizes in the same order on the default stream, statistics on. Exit 1 where Ebb is not kClaim
// times faster on every row. Built by bench/gpu/run, against libc10_cuda.
#include <c10/cuda/CUDACachingAllocator.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "cache/allocator.h"
#include "device/cuda_driver.h"

namespace {

using namespace ebb;
using Clock = std::chrono::steady_clock;
namespace native = c10::cuda::CUDACachingAllocator;

constexpr double kClaim = 3.0;
constexpr int kRepetitions = 9;
constexpr double kShareOfCard = 0.3;  // for each of the two

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "hot-path: %s\n", why.c_str());
  std::exit(1);
}

struct Totals {
  std::uint64_t reserved = 0;
  std::uint64_t allocated = 0;
};

class Side {
 public:
  virtual ~Side() = default;
  /// One thread's share of a repetition: for each i, frees the block in the slot and takes another.
  virtual void run(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& slots,
                   std::vector<void*>& blocks) = 0;
  virtual void empty(std::vector<void*>& blocks) = 0;
  virtual void empty_cache() = 0;
  virtual Totals totals() = 0;
};

/// The loop is part of each side, so that calls are made as their own callers make them.
template <class Calls>
class MeasuredSide final : public Side {
 public:
  explicit MeasuredSide(Calls calls) : calls_(calls) {}

  void run(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& slots,
           std::vector<void*>& blocks) override {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      void*& block = blocks[slots[i]];
      if (block != nullptr) calls_.give(block);
      block = calls_.take(sizes[i]);
    }
  }
  void empty(std::vector<void*>& blocks) override {
    for (void*& block : blocks) {
      if (block != nullptr) calls_.give(block);
      block = nullptr;
    }
  }
  void empty_cache() override { calls_.empty_cache(); }
  Totals totals() override { return calls_.totals(); }

 private:
  Calls calls_;
};

struct NativeCalls {
  void* take(std::size_t bytes) { return native::raw_alloc_with_stream(bytes, nullptr); }
  void give(void* block) { native::raw_delete(block); }
  void empty_cache() { native::emptyCache(); }
  Totals totals() {
    const auto stats = native::getDeviceStats(0);
    return {static_cast<std::uint64_t>(stats.reserved_bytes[0].current),
            static_cast<std::uint64_t>(stats.allocated_bytes[0].current)};
  }
};

struct EbbCalls {
  cache::Allocator* allocator;

  void* take(std::size_t bytes) {
    const cache::Address address = allocator->try_allocate(bytes, 0);
    if (address == 0) die("Ebb found no memory");
    return reinterpret_cast<void*>(address);
  }
  void give(void* block) { allocator->free(reinterpret_cast<cache::Address>(block)); }
  void empty_cache() {
    if (const auto emptied = allocator->empty_cache(); !emptied) die(emptied.error().message);
  }
  Totals totals() {
    const cache::StatsTable table = allocator->memory_stats();
    const auto value = [&](const char* key) {
      const auto found = std::find_if(table.begin(), table.end(),
                                      [key](const auto& row) { return row.first == key; });
      return found == table.end() ? 0 : static_cast<std::uint64_t>(found->second);
    };
    return {value("reserved_bytes.all.current"), value("allocated_bytes.all.current")};
  }
};

struct Row {
  std::string name;
  std::size_t bytes = 0;  // one size again and again; 0 is a mix of sizes
  std::size_t live = 1;   // blocks of all threads together
  int threads = 1;
};

/// What one thread does in every repetition.
struct Program {
  std::vector<std::size_t> sizes;
  std::vector<std::size_t> slots;
};

Program program_of(const Row& row, std::size_t live, unsigned seed) {
  constexpr std::size_t kPairs = 100'000;
  std::mt19937_64 random(seed);
  Program program;
  program.sizes.resize(kPairs);
  program.slots.resize(kPairs);
  for (std::size_t i = 0; i < kPairs; ++i) {
    // 512 bytes to 16 MiB, every power of two as likely as the next.
    const double exponent = 9 + 15 * (static_cast<double>(random() % 4096) / 4096);
    program.sizes[i] = row.bytes != 0 ? row.bytes : static_cast<std::size_t>(std::exp2(exponent));
    program.slots[i] = random() % live;
  }
  return program;
}

/// Nanoseconds per pair and thread, from the first thread's start to the last one's end.
double measure(Side& side, const std::vector<Program>& programs,
               std::vector<std::vector<void*>>& blocks) {
  std::vector<Clock::time_point> starts(programs.size());
  std::vector<Clock::time_point> ends(programs.size());
  std::barrier together(static_cast<std::ptrdiff_t>(programs.size()));
  const auto work = [&](std::size_t thread) {
    together.arrive_and_wait();
    starts[thread] = Clock::now();
    side.run(programs[thread].sizes, programs[thread].slots, blocks[thread]);
    ends[thread] = Clock::now();
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < programs.size(); ++i) {
    threads.emplace_back(work, i);
  }
  work(0);
  for (std::thread& thread : threads) {
    thread.join();
  }
  const std::chrono::duration<double, std::nano> elapsed =
      *std::max_element(ends.begin(), ends.end()) - *std::min_element(starts.begin(), starts.end());
  return elapsed.count() / static_cast<double>(programs[0].sizes.size());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Prints the row; whether the claim holds.
bool compare(const Row& row, std::array<Side*, 2> sides) {
  const auto threads = static_cast<std::size_t>(row.threads);
  std::vector<Program> programs;
  for (std::size_t i = 0; i < threads; ++i) {
    programs.push_back(program_of(row, row.live / threads, static_cast<unsigned>(i + 1)));
  }
  std::array<std::vector<std::vector<void*>>, 2> blocks;
  std::array<std::vector<double>, 2> times;
  for (auto& each : blocks) {
    each.assign(threads, std::vector<void*>(row.live / threads));
  }
  for (int repetition = -2; repetition < kRepetitions; ++repetition) {  // the first two warm up
    for (std::size_t turn = 0; turn < 2; ++turn) {
      const std::size_t side = (turn + static_cast<std::size_t>(repetition + 2)) % 2;
      const double time = measure(*sides[side], programs, blocks[side]);
      if (repetition >= 0) times[side].push_back(time);
    }
  }
  const Totals native_totals = sides[0]->totals();
  const Totals ebb_totals = sides[1]->totals();
  for (std::size_t side = 0; side < 2; ++side) {
    for (auto& each : blocks[side]) {
      sides[side]->empty(each);
    }
    sides[side]->empty_cache();
  }
  const double native_ns = median(times[0]);
  const double ebb_ns = median(times[1]);
  const double ratio = native_ns / ebb_ns;
  std::printf("| %s | %d | %.1f | %.1f | %.2f%s | %s / %s | %s / %s |\n", row.name.c_str(),
              row.threads, native_ns, ebb_ns, ratio, ratio >= kClaim ? "" : " **below**",
              base::bytes_text(native_totals.allocated).c_str(),
              base::bytes_text(native_totals.reserved).c_str(),
              base::bytes_text(ebb_totals.allocated).c_str(),
              base::bytes_text(ebb_totals.reserved).c_str());
  std::fflush(stdout);
  return ratio >= kClaim;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) die("expected the version of PyTorch");
  const auto profile = cache::parse_version(arguments[1]);
  if (!profile) die(profile.error().message);
  auto driver = count > 2 ? device::CudaDriver::open(arguments[2]) : device::CudaDriver::open();
  if (!driver) {
    std::fprintf(stderr, "hot-path: %s\n", driver.error().message.c_str());
    return driver.error().code == base::Code::unavailable ? 3 : 1;
  }
  cache::CoreOptions options;
  options.profile = *profile;
  auto allocator = cache::Allocator::create(**driver, 0, options);
  if (!allocator) die(allocator.error().message);
  if (const auto limited = (*allocator)->set_memory_fraction(kShareOfCard); !limited) {
    die(limited.error().message);
  }
  native::init(1);
  native::setMemoryFraction(kShareOfCard, 0);

  MeasuredSide<NativeCalls> native_side(NativeCalls{});
  MeasuredSide<EbbCalls> ebb_side(EbbCalls{allocator->get()});
  std::printf(
      "Median of %d repetitions, taking turns; nanoseconds per alloc+free pair and thread.\n\n"
      "| pairs | threads | PyTorch ns | Ebb ns | times faster | PyTorch allocated / reserved | "
      "Ebb allocated / reserved |\n|---|---|---|---|---|---|---|\n",
      kRepetitions);
  bool holds = true;
  for (const int threads : {1, 2}) {
    const auto each = static_cast<std::size_t>(threads);
    const Row rows[] = {{"512 B", 512, each, threads},
                        {"1 MiB", base::kMiB, each, threads},
                        {"20 MiB", 20 * base::kMiB, each, threads},
                        {"churn, 100 live", 0, 100, threads},
                        {"churn, 1,000 live", 0, 1'000, threads},
                        {"churn, 10,000 live", 0, 10'000, threads}};
    for (const Row& row : rows) {
      holds = compare(row, {&native_side, &ebb_side}) && holds;
    }
  }
  std::printf("\nAt least %.0f times faster on every row: %s.\n", kClaim, holds ? "yes" : "NO");
  return holds ? 0 : 1;
}
