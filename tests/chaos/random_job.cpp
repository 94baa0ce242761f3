// SPDX-License-Identifier: Apache-2.0
// A job drawn from a seed, whose result depends on nothing but the seed and the faults that it is
// given.
//
//   random_job SEED FOLDER [WORKER:STEP:SIGNAL | STEP:SIGNAL:up | end:SIGNAL:group | headless |
//                           brief | private | aloud ...]
//
// Workers are forked, are threads of the job, or have become daemons. Each allocates and frees,
// maps memory of its own, announces rounds, prints, closes descriptors, forks again, and leaves a
// line in FOLDER/worker-N. A worker with a process of its own that reaches a fault's step sends it
// that signal. `up`: the job itself has `ebb` pass the signal on to it, where that is its parent.
// `group`: at its end the job sends the signal to its whole group. `headless`: its first thread
// ends at once, and another does everything. `brief`: the seed decides less: one worker of each
// kind does a little, and the job ends as soon as a supervisor can have seen it. `private`: the job
// itself has memory of an allocator of its own besides. `aloud`: each worker tells its steps on
// stderr. The job prints what its workers came to, and ends with a status, or by a signal, that the
// seed decides.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "private_memory.h"
#include "random_steps.h"

namespace {

struct Fault {
  unsigned worker = 0;
  unsigned step = 0;
  int signal = 0;
  bool is_passed_on = false;
};

struct Plan {
  std::uint64_t seed = 0;
  std::string folder;
  std::vector<Fault> faults;
  int group_signal = 0;
  bool is_headless = false;
  bool is_brief = false;
  bool is_aloud = false;
  std::optional<PrivateAllocator> allocator;
};

bool is_child_of_ebb() {
  char name[32];
  char text[16] = "";
  std::snprintf(name, sizeof name, "/proc/%d/comm", static_cast<int>(::getppid()));
  if (std::FILE* file = std::fopen(name, "re")) {
    if (std::fgets(text, sizeof text, file) == nullptr) text[0] = '\0';
    std::fclose(file);
  }
  return std::strcmp(text, "ebb\n") == 0;
}

void take(const Fault& fault) {
  if (fault.is_passed_on && is_child_of_ebb()) {
    ::kill(::getppid(), fault.signal);
    // Unless the supervisor is gone, it comes.
    while (is_child_of_ebb())
      ::usleep(2000);
  }
  ::kill(::getpid(), fault.signal);
}

/// Written whole or not at all: others look for it.
void leave(const Plan& plan, unsigned worker, std::uint64_t hash) {
  const std::string path = plan.folder + "/worker-" + std::to_string(worker);
  char line[64];
  std::snprintf(line, sizeof line, "%016" PRIx64 "\n", hash);
  const int file = ::open((path + ".part").c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) std::_Exit(98);
  write_all(file, line);
  ::close(file);
  ::rename((path + ".part").c_str(), path.c_str());
}

void announce_round(std::uint64_t number) {
  using RoundDone = void (*)(std::uint64_t);
  if (auto* tell = reinterpret_cast<RoundDone>(::dlsym(RTLD_DEFAULT, "ebb_agent_round_done")))
    tell(number);
}

/// On stderr, in one piece: others write there too.
void say(unsigned worker, unsigned step, std::uint64_t hash) {
  char line[80];
  std::snprintf(line, sizeof line, "job: worker %u step %u %016" PRIx64 "\n", worker, step, hash);
  write_all(STDERR_FILENO, line);
}

// Pages, a child, a round, time for a supervisor to look twice, a round.
constexpr unsigned kBriefKinds[] = {0, 1, 3, 4, 4, 3};
constexpr unsigned kBriefSteps = std::size(kBriefKinds);
constexpr useconds_t kBriefPause = 120000;
constexpr useconds_t kOwnPause = 20000;  // so that there is time for a cleanup

void work(const Plan& plan, unsigned worker, bool has_process, bool has_threads = false) {
  Random random(plan.seed * 1000 + worker);
  Random own_random(plan.seed);
  std::optional<PrivateMemory> own;
  if (plan.allocator && worker == 0) own.emplace(*plan.allocator);
  std::uint64_t hash = 0;
  const unsigned steps = plan.is_brief ? kBriefSteps : 4 + static_cast<unsigned>(random.below(20));
  for (unsigned step = 0; step < steps; ++step) {
    for (const Fault& fault : plan.faults)
      if (has_process && fault.worker == worker && fault.step == step) take(fault);
    hash = hash * 131 + use_heap(random);
    if (own) {
      hash ^= own->change(own_random);
      ::usleep(kOwnPause);
    }
    switch (plan.is_brief ? kBriefKinds[step] : random.below(6)) {
      case 0:
        hash ^= use_own_pages(random);
        break;
      case 1:
        hash ^= use_child(random);
        break;
      case 2:
        if (has_process && !has_threads) close_descriptors();  // those have files open
        break;
      case 3:
        announce_round(step);
        break;
      default:
        ::usleep(plan.is_brief ? kBriefPause : static_cast<useconds_t>(random.below(20000)));
    }
    if (plan.is_aloud) say(worker, step, hash);
  }
  leave(plan, worker, hash);
}

/// A process of the job's own, or one that nobody waits for.
pid_t start(const Plan& plan, unsigned worker, bool daemon) {
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  if (daemon) {
    ::setsid();
    if (::fork() != 0) std::_Exit(0);
    for (int descriptor = 0; descriptor < 3; ++descriptor)
      ::close(descriptor);
    for (int descriptor = 0; descriptor < 3; ++descriptor)
      static_cast<void>(::open("/dev/null", O_RDWR));
  }
  work(plan, worker, true);
  std::_Exit(0);
}

std::string outcome_of(const Plan& plan, unsigned worker) {
  char line[32] = "nothing";
  const std::string path = plan.folder + "/worker-" + std::to_string(worker);
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
    if (std::fgets(line, sizeof line, file) != nullptr) line[std::strcspn(line, "\n")] = '\0';
    std::fclose(file);
  }
  return line;
}

void join(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads)
    if (thread.joinable()) thread.join();
}

int run(const Plan& plan) {
  Random random(plan.seed);
  const auto workers = plan.is_brief ? 3U : static_cast<unsigned>(1 + random.below(4));
  std::vector<std::pair<unsigned, pid_t>> processes;
  std::vector<std::thread> threads;
  if (random.below(3) == 0 && !plan.is_brief)
    write_all(STDOUT_FILENO, std::string(random.below(1 << 20), 'o') + "\n");
  for (unsigned worker = 1; worker <= workers; ++worker) {
    const std::uint64_t kind = plan.is_brief ? workers - worker : random.below(5);
    if (kind == 0) {
      threads.emplace_back([&plan, worker] { work(plan, worker, false); });
    } else {
      processes.emplace_back(worker, start(plan, worker, kind == 1));
    }
  }
  // Before anything happens to the process: how far they had come would be chance.
  if (!plan.faults.empty()) join(threads);
  work(plan, 0, true, !threads.empty());
  join(threads);
  for (const auto& [worker, pid] : processes) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0) {
    }
    std::printf("worker %u: status %d\n", worker, status);
  }
  std::printf("worker 0: %s\n", outcome_of(plan, 0).c_str());
  std::fflush(stdout);
  if (plan.group_signal != 0) ::kill(0, plan.group_signal);
  if (plan.is_brief) return 7;
  if (random.below(6) == 0) ::raise(random.below(2) == 0 ? SIGTERM : SIGKILL);
  return static_cast<int>(random.below(4) == 0 ? random.below(120) : 0);
}

}  // namespace

int main(int count, char** words) {
  Plan plan;
  if (count < 3) return 2;
  plan.seed = std::strtoull(words[1], nullptr, 10);
  plan.folder = words[2];
  for (int i = 3; i < count; ++i) {
    Fault fault;
    if (std::sscanf(words[i], "%u:%u:%d", &fault.worker, &fault.step, &fault.signal) == 3) {
      plan.faults.push_back(fault);
    } else if (std::sscanf(words[i], "%u:%d:up", &fault.step, &fault.signal) == 2) {
      fault.worker = 0;
      fault.is_passed_on = true;
      plan.faults.push_back(fault);
    } else if (std::strcmp(words[i], "headless") == 0) {
      plan.is_headless = true;
    } else if (std::strcmp(words[i], "aloud") == 0) {
      plan.is_aloud = true;
    } else if (std::strcmp(words[i], "private") == 0) {
      plan.allocator = PrivateAllocator::open();
    } else if (std::strcmp(words[i], "brief") == 0) {
      plan.is_brief = true;
    } else if (std::sscanf(words[i], "end:%d:group", &plan.group_signal) != 1) {
      return 2;
    }
  }
  if (!plan.is_headless) return run(plan);
  std::thread([plan] { std::exit(run(plan)); }).detach();
  ::pthread_exit(nullptr);
}
