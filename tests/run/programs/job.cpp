// SPDX-License-Identifier: Apache-2.0
// A job whose memory is known:
//
//   job SECONDS [leak] [retain] [rounds] [workers] [worker-leaks] [cache] [file] [squeeze]
//       [steady] [until FILE]
//
// leak: 10 MiB a second are never freed. retain: builds ever larger structures on four threads and
// frees them whole; with steady no larger than after ten seconds. rounds: announces each second as
// a round. workers: three forked processes share 64 MiB with it; with worker-leaks one of them
// leaks. cache: fills a cache once, over a third of its time, and stays so. file: maps a growing
// part of a file. squeeze: holds 90 MiB, builds 360 MiB more and frees them (with until, once FILE
// is there), which the allocator keeps; once they were returned, or after SECONDS, it needs 250 MiB
// elsewhere. until: otherwise ends before its time, once FILE is there.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kBlock = 8 << 10;

void* filled(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  std::memset(memory, 1, bytes);
  return memory;
}

std::vector<void*> blocks(std::size_t bytes) {
  std::vector<void*> made;
  for (std::size_t i = 0; i < bytes / kBlock; ++i)
    made.push_back(filled(kBlock));
  return made;
}

void free_all(std::vector<void*>& memory) {
  for (void* block : memory)
    std::free(block);
  memory.clear();
}

/// Threads that live as long as the job, as a framework's do.
class Pool {
 public:
  explicit Pool(int count) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    run(nullptr);
    for (std::thread& thread : threads_)
      thread.join();
  }

  /// Runs `task` once on each thread.
  void run(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    task_ = std::move(task);
    ends_ = !task_;
    ++generation_;
    left_ = threads_.size();
    changed_.notify_all();
    changed_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  void work() {
    std::uint64_t done = 0;
    while (true) {
      std::function<void()> task;
      bool ends = false;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return generation_ != done; });
        done = generation_;
        task = task_;
        ends = ends_;
      }
      if (task) task();
      {
        const std::lock_guard lock(mutex_);
        --left_;
      }
      changed_.notify_all();
      if (ends) return;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool ends_ = false;
  std::uint64_t generation_ = 0;
  std::size_t left_ = 0;
  std::vector<std::thread> threads_;
};

struct Plan {
  double seconds = 10;
  std::set<std::string> has;
  std::string until;

  bool is_over(double elapsed) const {
    return elapsed >= seconds || (!until.empty() && access(until.c_str(), F_OK) == 0);
  }
};

void round_done(std::uint64_t number) {
  using Announce = void (*)(std::uint64_t);
  static const auto announce =
      reinterpret_cast<Announce>(dlsym(RTLD_DEFAULT, "ebb_agent_round_done"));
  if (announce != nullptr) announce(number);
}

void live(const Plan& plan, bool leaks) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::vector<void*> kept = blocks(16 * kMiB);
  // The first large block that is freed raises glibc's thresholds, as it does in any real job.
  std::free(filled(30 * kMiB));
  Pool pool(4);
  FILE* file = std::tmpfile();
  char* mapped = nullptr;
  if (plan.has.count("file") != 0) {
    if (ftruncate(fileno(file), 512 * kMiB) != 0) std::abort();
    mapped = static_cast<char*>(
        mmap(nullptr, 512 * kMiB, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0));
  }
  for (std::uint64_t step = 0; !plan.is_over(elapsed()); ++step) {
    std::vector<void*> temporary = blocks(4 * kMiB);
    free_all(temporary);
    if (leaks) {
      for (void* block : blocks(kMiB))
        kept.push_back(block);
    }
    if (plan.has.count("cache") != 0 && elapsed() < plan.seconds / 3) {
      for (void* block : blocks(2 * kMiB))
        kept.push_back(block);
    }
    if (mapped != nullptr) std::memset(mapped + step % 500 * kMiB, 1, kMiB);
    if (step % 10 == 9) {
      if (plan.has.count("retain") != 0) {
        const std::size_t round = plan.has.count("steady") != 0 ? step / 10 % 10 : step / 10;
        const std::size_t size = (10 + 4 * round) * kMiB;
        pool.run([size] {
          std::vector<void*> built = blocks(size);
          free_all(built);
        });
      }
      if (plan.has.count("rounds") != 0) round_done(step / 10);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::fclose(file);
}

/// Touches memory that no allocator knows of.
bool take(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  std::memset(memory, 1, bytes);
  return true;
}

std::size_t resident_bytes() {
  FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  if (file == nullptr || std::fscanf(file, "%*u %lu", &pages) != 1) std::abort();
  std::fclose(file);
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

int squeeze(const Plan& plan) {
  std::free(filled(30 * kMiB));
  if (!take(90 * kMiB)) return 1;
  // All are built before one is freed: whoever sees memory retained also sees how much is used.
  static thread_local std::vector<void*> built;
  Pool pool(8);
  // Below 60 MiB each, of which glibc keeps all once its thresholds are up.
  pool.run([] { built = blocks(45 * kMiB); });
  constexpr auto kPause = std::chrono::milliseconds(50);
  for (double waited = 0; !plan.until.empty() && !plan.is_over(waited); waited += 0.05)
    std::this_thread::sleep_for(kPause);
  pool.run([] { free_all(built); });
  for (double waited = 0; waited < plan.seconds && resident_bytes() > 300 * kMiB; waited += 0.05)
    std::this_thread::sleep_for(kPause);
  if (!take(250 * kMiB)) return 1;
  std::puts("survived");
  return 0;
}

int with_workers(const Plan& plan) {
  const std::vector<void*> shared = blocks(64 * kMiB);
  std::vector<pid_t> workers;
  for (int i = 0; i < 3; ++i) {
    const pid_t worker = fork();
    if (worker == 0) {
      live(plan, i == 1 && plan.has.count("worker-leaks") != 0);
      std::fflush(nullptr);
      _exit(0);
    }
    workers.push_back(worker);
  }
  int failed = 0;
  for (const pid_t worker : workers) {
    int status = 0;
    waitpid(worker, &status, 0);
    failed |= status;
  }
  return failed == 0 && shared.size() > 1 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  Plan plan;
  if (count > 1) plan.seconds = std::atof(words[1]);
  for (int i = 2; i < count; ++i) {
    if (std::strcmp(words[i], "until") == 0 && i + 1 < count) {
      plan.until = words[++i];
    } else {
      plan.has.insert(words[i]);
    }
  }
  if (plan.has.count("squeeze") != 0) return squeeze(plan);
  if (plan.has.count("workers") != 0) return with_workers(plan);
  live(plan, plan.has.count("leak") != 0);
  return 0;
}
