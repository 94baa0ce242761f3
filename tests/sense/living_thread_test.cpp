// SPDX-License-Identifier: Apache-2.0
// Processes whose first thread has ended while another lives on.
#include "sense/living_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <string>

#include "base/file.h"
#include "recorded.h"
#include "sense/cgroup_place.h"
#include "sense/mapping_sums.h"
#include "sense/memory_info.h"
#include "sense/process.h"
#include "sense/process_environment.h"
#include "support/child_process.h"

namespace ebb::sense {
namespace {

/// Of this process, once its first thread has ended.
bool has_lost_first_thread() {
  const std::string stat = base::read_file("/proc/self/stat").value_or("");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.size() > name_end + 2 && stat[name_end + 2] == 'Z';
}

/// A forked child whose first thread has ended; `body` runs in the other one, which then waits.
class ChildWithoutFirstThread {
 public:
  explicit ChildWithoutFirstThread(bool (*body)()) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      body_ = body;
      told_ = ends[1];
      pthread_t other{};
      pthread_create(&other, nullptr, run, nullptr);
      syscall(SYS_exit, 0);  // of this thread alone, and at once
    }
    close(ends[1]);
    char word = 'n';
    if (read(ends[0], &word, 1) != 1) word = 'n';
    close(ends[0]);
    holds_ = word == 'y';
  }
  ~ChildWithoutFirstThread() { end(); }
  ChildWithoutFirstThread(const ChildWithoutFirstThread&) = delete;
  ChildWithoutFirstThread& operator=(const ChildWithoutFirstThread&) = delete;

  pid_t pid() const { return pid_; }
  bool holds() const { return holds_; }
  void end(bool reaps = true) {
    kill(pid_, SIGKILL);
    siginfo_t ignored{};
    waitid(P_PID, static_cast<id_t>(pid_), &ignored, WEXITED | (reaps ? 0 : WNOWAIT));
  }

 private:
  static void* run(void* /*unused*/) {
    alarm(120);
    while (!has_lost_first_thread())
      sched_yield();
    const char word = body_() ? 'y' : 'n';
    if (write(told_, &word, 1) != 1) _exit(1);
    while (true)
      pause();
  }

  inline static bool (*body_)() = nullptr;
  inline static int told_ = -1;
  pid_t pid_ = -1;
  bool holds_ = false;
};

bool nothing_to_do() {
  return true;
}

TEST(LivingThread, IsWhatAProcessIsReadThrough) {
  if (!EBB_THREADS_IN_CHILDREN) GTEST_SKIP() << "children start no threads here";
  ChildWithoutFirstThread child(nothing_to_do);
  ASSERT_TRUE(child.holds());
  ASSERT_TRUE(living_thread(child.pid()));
  EXPECT_NE(*living_thread(child.pid()), child.pid());
  const auto reading = read_process_exact(child.pid());
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->pid, child.pid());
  EXPECT_EQ(reading->parent, getpid());
  EXPECT_TRUE(reading->first_thread_ended);
  EXPECT_TRUE(reading->can_run());
  EXPECT_GT(reading->rss, 0U);
  EXPECT_GT(reading->hwm, 0U);
  EXPECT_GT(reading->pss, 0U);
  EXPECT_GT(read_rss_fast(child.pid()).value_or(0), 0U);
  const auto info = memory_info(child.pid());
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_GT(info->process.virtual_size, 0U);
  EXPECT_EQ(find_cgroup(child.pid())->group, find_cgroup()->group);
  EXPECT_TRUE(read_mapping_sums(child.pid()));
  EXPECT_EQ(read_environment(child.pid()).value_or({}), read_environment().value_or({}));
  EXPECT_EQ(read_process(child.pid())->start_ticks, reading->start_ticks);
  child.end(false);
  EXPECT_FALSE(living_thread(child.pid()));
  EXPECT_EQ(read_process(child.pid()).error().code, base::Code::not_found);
}

TEST(LivingThread, ReadsItsOwnProcess) {
  if (!EBB_THREADS_IN_CHILDREN) GTEST_SKIP() << "children start no threads here";
  static const auto meter = RssMeter::for_self();
  const ChildWithoutFirstThread child([] {
    const auto reading = read_process();
    const auto later = RssMeter::for_self();
    return reading && reading->pid == getpid() && reading->first_thread_ended && reading->rss > 0 &&
           read_rss_fast().value_or(0) > 0 && meter && later && meter->read().value_or(0) > 0 &&
           later->read().value_or(0) > 0 && read_mapping_sums() && memory_info();
  });
  EXPECT_TRUE(child.holds());
}

TEST(LivingThread, IsNoneOfAProcessThatEndsOrHasItsFirst) {
  EXPECT_FALSE(living_thread(kSelf));
  EXPECT_EQ(number_to_read(getpid()), getpid());
  const CopiedTree tree("v2");
  const auto stat = [](const char* state, const char* flags, const char* threads) {
    return std::string("100 (x) ") + state + " 1 1 1 1 1 " + flags + " 1 1 1 1 1 1 1 1 1 1 " +
           threads + " 0 777 1 1\n";
  };
  tree.write("proc/100/stat", stat("Z", "4", "3"));
  tree.write("proc/100/task/100/stat", stat("Z", "4", "3"));
  tree.write("proc/100/task/101/stat", stat("Z", "4", "3"));
  tree.write("proc/100/task/102/stat", stat("D", "4", "3"));
  EXPECT_FALSE(living_thread(kRecorded, tree.roots()))
      << "one has ended, one gives its memory back";
  tree.write("proc/100/task/102/stat", stat("D", "64", "3"));
  EXPECT_EQ(living_thread(kRecorded, tree.roots()), 102);
  EXPECT_EQ(folder_to_read(kRecorded, tree.roots()), tree / "proc/100/task/102");
  tree.write("proc/100/stat", stat("Z", "4", "1"));
  EXPECT_FALSE(living_thread(kRecorded, tree.roots()));
  tree.write("proc/100/stat", stat("S", "64", "3"));
  EXPECT_FALSE(living_thread(kRecorded, tree.roots())) << "the first one lives";
}

}  // namespace
}  // namespace ebb::sense
