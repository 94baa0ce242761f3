// SPDX-License-Identifier: Apache-2.0
// causes CAUSE STOP [PAUSE]: memory that grows for one reason, until the file STOP is there.
//
// cache: a map that nothing is taken out of. closure: callbacks that keep what they were made with.
// thread: threads that wait for ever. queue: more is put in than is taken out. fragmentation: of
// ever more blocks a little stays. private: a library's own allocator (mimalloc) keeps what
// was freed. tmpfs: a mapped file without a disk. PAUSE: seconds between two steps.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kBlock = 48 << 10;

}  // namespace

// What a person would look for has a name of its own.
namespace intake {

std::map<int, std::string> results;
std::vector<std::function<int()>> callbacks;
std::deque<std::vector<double>> waiting;

[[gnu::noinline]] void look_up(int key) {
  results[key] = std::string(kBlock, 'x');  // line 39
}

[[gnu::noinline]] void subscribe() {
  auto message = std::make_shared<std::vector<char>>(kBlock, 'x');  // line 43
  callbacks.emplace_back([message] { return (*message)[0]; });
}

[[gnu::noinline]] void handle() {
  const std::vector<char> buffer(kBlock, 'x');  // line 48
  while (buffer[0] == 'x')
    std::this_thread::sleep_for(std::chrono::hours(1));
}

[[gnu::noinline]] void produce() {
  for (int i = 0; i < 2; ++i)
    waiting.emplace_back(kBlock / sizeof(double), 0.5);  // line 55
  waiting.pop_front();
}

/// Of each block a little stays, at its beginning. No other block fits into what is free behind it,
/// and no whole page is.
[[gnu::noinline]] void fragment() {
  static std::vector<void*> kept;
  constexpr int kAtOnce = 24;
  for (int i = 0; i < kAtOnce; ++i) {
    kept.push_back(std::malloc(4000));
    if (kept.back() == nullptr) std::abort();
    std::memset(kept.back(), 1, 4000);
  }
  for (auto block = kept.end() - kAtOnce; block != kept.end(); ++block)
    *block = std::realloc(*block, 24);
}

}  // namespace intake

namespace {

/// Every second or so 100 MiB from the library's own allocator, which are given back at once.
void use_library(int step) {
  static void* const library = ::dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::abort();
  static const auto take = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(library, "mi_malloc"));
  static const auto give = reinterpret_cast<void (*)(void*)>(::dlsym(library, "mi_free"));
  if (step % 30 != 0) return;
  std::vector<void*> blocks;
  for (std::size_t taken = 0; taken < (100 << 20); taken += kBlock) {
    blocks.push_back(take(kBlock));
    std::memset(blocks.back(), 1, kBlock);
  }
  for (void* block : blocks)
    give(block);
}

void grow_file() {
  static std::FILE* const file = [] {
    char name[] = "/dev/shm/ebb-causes-XXXXXX";
    const int made = ::mkstemp(name);
    ::unlink(name);
    return ::fdopen(made, "w+");
  }();
  static off_t size = 0;
  if (file == nullptr || ::ftruncate(::fileno(file), size + off_t{kBlock}) != 0) std::abort();
  void* const mapped =
      ::mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(file), size);
  if (mapped == MAP_FAILED) std::abort();
  std::memset(mapped, 1, kBlock);
  size += off_t{kBlock};
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string cause = words[1];
  const std::chrono::duration<double> pause(count > 3 ? std::atof(words[3]) : 0.03);
  for (int i = 0; ::access(words[2], F_OK) != 0; ++i) {
    if (cause == "cache") intake::look_up(i);
    if (cause == "closure") intake::subscribe();
    if (cause == "thread") std::thread(intake::handle).detach();
    if (cause == "queue") intake::produce();
    if (cause == "fragmentation") intake::fragment();
    if (cause == "tmpfs") grow_file();
    if (cause == "private") use_library(i);
    std::this_thread::sleep_for(pause);
  }
  std::_Exit(0);  // with its threads
}
