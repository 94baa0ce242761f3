// SPDX-License-Identifier: Apache-2.0
// causes CAUSE STOP: memory that grows for one reason. Ends once the file STOP is there.
//
// cache: a map that nothing is taken out of. closure: callbacks that keep what they were made with.
// thread: threads that wait for ever. queue: more is put in than is taken out. fragmentation: of
// ever more blocks a little stays. private: a library's own allocator keeps what was freed
// (tests/heap/programs/private_copy.c). tmpfs: a mapped file without a disk.
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

extern "C" {
void* private_copy_take(std::size_t size);
void private_copy_free(void* block);
}

namespace {

constexpr std::size_t kBlock = 48 << 10;

}  // namespace

// What a person would look for has a name of its own.
namespace intake {

std::map<int, std::string> results;
std::vector<std::function<int()>> callbacks;
std::deque<std::vector<double>> waiting;

[[gnu::noinline]] void look_up(int key) {
  results[key] = std::string(kBlock, 'x');  // line 43
}

[[gnu::noinline]] void subscribe() {
  auto message = std::make_shared<std::vector<char>>(kBlock, 'x');  // line 47
  callbacks.emplace_back([message] { return (*message)[0]; });
}

[[gnu::noinline]] void handle() {
  const std::vector<char> buffer(kBlock, 'x');  // line 52
  while (buffer[0] == 'x')
    std::this_thread::sleep_for(std::chrono::hours(1));
}

[[gnu::noinline]] void produce() {
  for (int i = 0; i < 2; ++i)
    waiting.emplace_back(kBlock / sizeof(double), 0.5);  // line 59
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

/// Takes ever more of the library's own allocator, and gives all of it back.
void use_library() {
  static int most = 0;
  std::vector<void*> blocks;
  ++most;
  for (int i = 0; i < most; ++i)
    blocks.push_back(private_copy_take(kBlock));
  for (void* block : blocks)
    private_copy_free(block);
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
  for (int i = 0; ::access(words[2], F_OK) != 0; ++i) {
    if (cause == "cache") intake::look_up(i);
    if (cause == "closure") intake::subscribe();
    if (cause == "thread") std::thread(intake::handle).detach();
    if (cause == "queue") intake::produce();
    if (cause == "fragmentation") intake::fragment();
    if (cause == "tmpfs") grow_file();
    if (cause == "private") use_library();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  std::_Exit(0);  // with its threads
}
