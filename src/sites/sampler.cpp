// SPDX-License-Identifier: Apache-2.0
#include "sites/sampler.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace ebb::sites {

constinit thread_local ThreadState this_thread{};

namespace {

// What the life of a process's sampling goes through.
constexpr std::uint32_t kNotBegun = 0, kBeginning = 1, kAlive = 2, kOff = 3;

// Bytes until a thread that may not sample yet asks again, and one that never may.
constexpr std::int64_t kSoon = 64 << 10;
constexpr std::int64_t kNever = std::int64_t{1} << 60;
// A thread asks at least so often how far apart samples are to be: they may have been far apart for
// a while that is over.
constexpr std::int64_t kLongest = 4 << 20;

std::uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// The next sample of a thread.
void draw(ThreadState& thread) {
  thread.left = distance(thread.random, thread.shift);
  thread.is_cut = thread.left > kLongest;
  if (thread.is_cut) thread.left = kLongest;
}

/// Appends a number; there is no snprintf, which may allocate.
char* put_number(char* at, std::uint64_t value) {
  char digits[20];
  std::size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  while (count > 0)
    *at++ = digits[--count];
  return at;
}

/// Where the caller stands: the rules for this very instruction lead on from it.
[[gnu::always_inline]] inline Place place_here() {
  Place place{};
  asm volatile(
      "leaq 0(%%rip), %0\n"
      "movq %%rsp, %1\n"
      "movq %%rbp, %2\n"
      : "=&r"(place.pc), "=&r"(place.sp), "=&r"(place.fp));
  return place;
}

}  // namespace

void Sampler::begin(const char* folder) {
  if (std::strlen(folder) + 64 > sizeof folder_) return;
  std::memcpy(folder_, folder, std::strlen(folder) + 1);
  room_.open(folder);
  unwinder_.prepare();
  void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Without it (Linux 4.14) a forked child would write to its parent's table.
  if (page == MAP_FAILED || ::madvise(page, 4096, MADV_WIPEONFORK) != 0) return;
  life_.store(static_cast<std::atomic<std::uint32_t>*>(page), std::memory_order_release);
}

bool Sampler::open_table() {
  const auto pid = static_cast<std::uint64_t>(::syscall(SYS_getpid));
  char path[sizeof folder_ + 64];
  const std::size_t length = std::strlen(folder_);
  std::memcpy(path, folder_, length);
  char* at = path + length;
  std::memcpy(at, "/sites-", 7);
  at = put_number(at + 7, pid);
  *at++ = '-';
  at = put_number(at, now_ns());
  *at = '\0';
  this_thread.random.state ^= pid * 0x9E3779B97F4A7C15ULL;
  return table_.open(path, pid, &room_);
}

bool Sampler::is_alive() {
  std::atomic<std::uint32_t>* const life = life_.load(std::memory_order_acquire);
  if (life == nullptr) return false;
  std::uint32_t state = life->load(std::memory_order_acquire);
  if (state == kNotBegun &&
      life->compare_exchange_strong(state, kBeginning, std::memory_order_acq_rel)) {
    state = open_table() ? kAlive : kOff;
    budget_.begin(now_ns());
    if (state == kAlive) table_.header().python.store(python_.minor(), std::memory_order_relaxed);
    life->store(state, std::memory_order_release);
  }
  return state == kAlive;
}

bool Sampler::is_sampled(std::size_t bytes, std::uint64_t now) {
  ThreadState& thread = this_thread;
  if (thread.random.state == 0) {
    // Its first bytes went past uncounted for no longer than this allocation.
    thread.random.state = (now ^ reinterpret_cast<std::uint64_t>(&thread) << 16) | 1;
    for (int i = 0; i < 4; ++i)
      thread.random.next();
    thread.shift = static_cast<unsigned>(table_.header().slower.load(std::memory_order_relaxed));
    return distance(thread.random, thread.shift) <= static_cast<std::int64_t>(bytes);
  }
  if (!thread.is_cut) return true;
  budget_.keep(now, 0, table_.header().slower);
  // Distances have no memory: what is left of this one is as long as a new one.
  return distance(thread.random, thread.shift) <= -thread.left;
}

void Sampler::sample(void* block, std::size_t bytes, std::uint64_t now) {
  ThreadState& thread = this_thread;
  Header& header = table_.header();
  if (is_sampled(bytes, now)) {
    // Of the thread's own time: what others did meanwhile is no cost.
    const std::uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    const auto kept = static_cast<std::uint32_t>(thread.random.next() >> 40);
    if (stays(bytes, thread.shift, table_.thinned(), kept)) {
      const Place place = place_here();
      const std::uint32_t stack = read_stack(place);
      const std::uint64_t age = (now - header.began_ns.load(std::memory_order_relaxed)) / 1'000'000;
      table_.insert(reinterpret_cast<std::uint64_t>(block),
                    {bytes, Table::about_of(stack, thread.shift, kept), age});
    }
    const std::uint64_t spent = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    header.last_ns.store(now, std::memory_order_relaxed);
    header.spent_ns.fetch_add(spent, std::memory_order_relaxed);
    budget_.keep(now, spent, header.slower);
  }
  const unsigned thinned = table_.thinned();
  const auto slower = static_cast<unsigned>(header.slower.load(std::memory_order_relaxed));
  thread.shift = slower > thinned ? slower : thinned;
  draw(thread);
}

[[gnu::noinline]] void Sampler::took(void* block, std::size_t bytes) {
  ThreadState& thread = this_thread;
  if (thread.is_inside) {
    thread.left = kSoon;
    return;
  }
  const int before = errno;
  thread.is_inside = true;
  const std::uint64_t start = now_ns();
  const bool is_alive_now = is_alive();
  if (!is_alive_now) {
    const auto* life = life_.load(std::memory_order_relaxed);
    thread.left = life != nullptr && life->load() == kOff ? kNever : kSoon;
  } else {
    sample(block, bytes, start);
  }
  thread.is_inside = false;
  errno = before;
}

std::uint32_t Sampler::read_stack(const Place& place) {
  std::uint64_t native[kMostNative];
  PythonCall python[kMostPython];
  Readable memory;
  bool is_joined = false;
  const auto own = reinterpret_cast<std::uint64_t>(&put_number);
  const std::size_t natives =
      unwinder_.walk(place, own, memory, &table_, native, kMostNative, &is_joined);
  const std::size_t pythons = python_.read(memory, table_, python, kMostPython);
  if (python_refused_.load(std::memory_order_relaxed))
    table_.header().no_python.fetch_add(1, std::memory_order_relaxed);
  return table_.add_stack(native, natives, python, pythons, is_joined && pythons > 0);
}

bool Sampler::forget(void* block, Table::Kept* kept) {
  const auto* life = life_.load(std::memory_order_acquire);
  // In a forked child that has no table yet, the one that is mapped is its parent's.
  if (life == nullptr || life->load(std::memory_order_acquire) != kAlive) return false;
  return table_.remove(reinterpret_cast<std::uint64_t>(block), kept);
}

void Sampler::restore(void* block, const Table::Kept& kept) {
  if (is_alive()) table_.insert(reinterpret_cast<std::uint64_t>(block), kept);
}

bool Sampler::begin_python(unsigned minor, PythonFrames::ThisThread this_python_thread,
                           std::uint64_t eval, const char* file, const char* function,
                           std::uint32_t line) {
  const bool is_right = python_.begin(minor, this_python_thread, file, function, line);
  python_refused_ = !is_right;
  if (is_right) unwinder_.stop_at(eval);
  const auto* life = life_.load(std::memory_order_acquire);
  if (life != nullptr && life->load() == kAlive)
    table_.header().python.store(python_.minor(), std::memory_order_relaxed);
  return is_right;
}

}  // namespace ebb::sites
