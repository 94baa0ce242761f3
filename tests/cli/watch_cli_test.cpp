// SPDX-License-Identifier: Apache-2.0
// ebb watch and ebb doctor PID on real processes whose memory is known.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/json.h"
#include "base/text.h"
#include "support/full_pipe.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb {
namespace {

using support::Finished;
using support::run;
using support::Subprocess;

/// Holds 64 MiB from the moment it is there.
class Holder : public Subprocess {
 public:
  explicit Holder(std::vector<std::string> words) : Subprocess(command(std::move(words))) {
    if (read_line() != "ready") std::abort();
  }
  std::string number() const { return std::to_string(pid()); }

 private:
  static std::vector<std::string> command(std::vector<std::string> words) {
    words.insert(words.begin(), EBB_HOLDER);
    return words;
  }
};

struct Watched {
  std::vector<base::Json> samples;
  base::Json last;
};

Watched parsed(const Finished& finished) {
  EXPECT_EQ(finished.status, 0) << finished.error;
  EXPECT_EQ(finished.error, "");
  Watched watched;
  for (const std::string_view line : base::split(base::trimmed(finished.output), '\n')) {
    auto json = base::parse_json(line);
    EXPECT_TRUE(json) << line;
    if (json) watched.samples.push_back(*std::move(json));
  }
  EXPECT_GE(watched.samples.size(), 2U);
  watched.last = watched.samples.back();
  watched.samples.pop_back();
  return watched;
}

Watched watch(const Holder& holder, const char* length = "3s") {
  return parsed(run(
      {EBB_PROGRAM, "watch", holder.number(), "--interval", "20ms", "--for", length, "--json"}));
}

std::string verdict(const Watched& watched) {
  const base::Json* found = watched.last.find("verdict");
  return found != nullptr && found->as_string() != nullptr ? *found->as_string() : "";
}

/// On a busy machine it may see too little in some seconds, and says so: then for longer.
Watched watch_long_enough(const Holder& holder, const char* length) {
  Watched watched = watch(holder, length);
  return verdict(watched) == "not_enough_data" ? watch(holder, "60s") : watched;
}

TEST(EbbWatch, MeasuresAKnownLeak) {
  const Holder holder({"leak", "16"});
  EXPECT_EQ(verdict(watch(holder)), "not_enough_data") << "three seconds may be part of a round";
  const Watched watched = watch_long_enough(holder, "11s");
  EXPECT_EQ(verdict(watched), "leak") << watched.last.text();
  EXPECT_EQ(*watched.last.find("confidence")->as_string(), "low") << "live bytes are not known";
  EXPECT_EQ(*watched.last.find("ending")->as_string(), "time_is_up");
  EXPECT_EQ(*watched.last.find("allocator")->as_string(), "glibc");
  const double truth = 16.0 * 1048576 * 3600;
  const base::Json& evidence = *watched.last.find("evidence");
  EXPECT_NEAR(evidence.find("rss_slope_bytes_per_hour")->as_double().value(), truth, 0.2 * truth);
  EXPECT_TRUE(evidence.find("live_slope_bytes_per_hour")->is_null());
  for (const base::Json& sample : watched.samples) {
    EXPECT_EQ(sample.find("pid")->as_int(), holder.pid());
    EXPECT_GT(sample.find("rss_bytes")->as_unsigned(), 64U << 20);
    for (const char* key :
         {"seconds", "anon_bytes", "file_bytes", "swap_bytes", "limit_bytes", "percent", "threads",
          "gpu_bytes", "processes", "tree_rss_bytes", "tree_pss_bytes"})
      EXPECT_NE(sample.find(key), nullptr) << key;
  }
}

TEST(EbbWatch, CallsLevelMemoryHealthy) {
  const Holder holder({"flat"});
  EXPECT_EQ(verdict(watch_long_enough(holder, "3s")), "healthy");
}

TEST(EbbWatch, DoesNotTakeRoundsForALeak) {
  const Holder holder({"sawtooth"});
  // Fifty of them: a busy machine sees few moments of each.
  const std::string found = verdict(watch(holder, "10s"));
  EXPECT_TRUE(found == "healthy" || found == "not_enough_data") << found;
}

TEST(EbbWatch, SumsTheProcessesItStarted) {
  const Holder holder({"child"});
  const Watched watched = watch(holder, "100ms");
  const base::Json& sample = watched.samples.front();
  EXPECT_EQ(sample.find("processes")->as_int(), 2);
  EXPECT_GT(sample.find("tree_rss_bytes")->as_unsigned(), 100U << 20);
  EXPECT_LT(sample.find("tree_pss_bytes")->as_unsigned(), 100U << 20) << "forked pages are shared";
  EXPECT_EQ(verdict(watched), "not_enough_data") << "after a tenth of a second";
}

TEST(EbbWatch, EndsWellWhenTheProcessDoes) {
  Holder holder({"flat"});
  Subprocess watcher({EBB_PROGRAM, "watch", holder.number(), "--interval", "20ms", "--json"});
  EXPECT_TRUE(base::parse_json(watcher.read_line()));
  holder.close_input();
  Finished finished;
  finished.output = watcher.read_rest_of_output();
  finished.error = watcher.read_rest_of_error();
  finished.status = watcher.wait();
  EXPECT_EQ(finished.status, 0) << finished.error;
  const auto lines = base::split(base::trimmed(finished.output), '\n');
  const auto last = base::parse_json(lines.back());
  ASSERT_TRUE(last) << lines.back();
  EXPECT_EQ(*last->find("ending")->as_string(), "process_ended");
  EXPECT_NE(last->find("verdict"), nullptr);
}

TEST(EbbWatch, LeavesOnASignalWithTheVerdict) {
  const Holder holder({"flat"});
  Subprocess watcher({EBB_PROGRAM, "watch", holder.number(), "--interval", "20ms"});
  const std::string first = watcher.read_line();
  EXPECT_NE(first.find("rss"), std::string::npos) << first;
  ASSERT_EQ(kill(watcher.pid(), SIGINT), 0);
  const std::string rest = watcher.read_rest_of_output();
  EXPECT_EQ(watcher.wait(), 0);
  EXPECT_NE(rest.find("verdict    "), std::string::npos) << rest;
  EXPECT_EQ(rest.find('\033'), std::string::npos) << "no escape sequences into a pipe";
}

TEST(EbbWatch, BadRequestsGetOneLine) {
  const auto refuses = [](std::vector<std::string> words, const char* part) {
    words.insert(words.begin(), EBB_PROGRAM);
    const Finished finished = run(words);
    EXPECT_EQ(finished.status, 2) << finished.error;
    EXPECT_EQ(finished.output, "");
    EXPECT_EQ(finished.error.find('\n'), finished.error.size() - 1) << finished.error;
    EXPECT_NE(finished.error.find(part), std::string::npos) << finished.error;
  };
  refuses({"watch", "4194304"}, "4194304");
  refuses({"watch", "abc"}, "expected the number of a process");
  refuses({"watch", "0"}, "expected the number of a process");
  refuses({"watch"}, "pid");
  refuses({"watch", "1", "--interval", "soon"}, "'soon' is no duration");
  refuses({"watch", "1", "--interval", "0.5ms"}, "expected 1ms or more");
  refuses({"watch", "1", "--for", ""}, "'' is no duration");
  refuses({"watch", "1", "--for", "0s"}, "'0s' is no duration");
  refuses({"doctor", "4194304"}, "4194304");
  refuses({"doctor", "1", "--fail-on", "leek"}, "leek");
  refuses({"doctor", "1", "--against", "x.pickle"}, "are for snapshots");
  refuses({"doctor", "99999999999"}, "expected the number of a process");
}

TEST(EbbWatch, SomebodyElsesProcessIsNotAvailable) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to look as another user";
  const Holder holder({"flat"});
  for (const char* verb : {"watch", "doctor"}) {
    const Finished finished = run({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                   EBB_PROGRAM, verb, holder.number()});
    EXPECT_EQ(finished.status, 3) << finished.error;
    EXPECT_EQ(finished.output, "");
    EXPECT_EQ(finished.error.find('\n'), finished.error.size() - 1) << finished.error;
  }
}

TEST(EbbWatch, RedrawsOnATerminalAndLeavesItAsItWas) {
  const Holder holder({"flat"});
  int person = -1;
  int terminal = -1;
  const winsize size{30, 100, 0, 0};
  ASSERT_EQ(openpty(&person, &terminal, nullptr, nullptr, &size), 0);
  termios before{};
  ASSERT_EQ(tcgetattr(terminal, &before), 0);
  const std::string number = holder.number();
  const pid_t watcher = fork();
  if (watcher == 0) {
    for (const int stream : {0, 1, 2})
      dup2(terminal, stream);
    setenv("TERM", "xterm", 1);
    execl(EBB_PROGRAM, EBB_PROGRAM, "watch", number.c_str(), "--interval", "20ms", nullptr);
    _exit(127);
  }
  std::string shown;
  char buffer[4096];
  // The second drawing goes up over the first; only then is q pressed.
  while (shown.find("A\r\033[J") == std::string::npos) {
    const ssize_t got = read(person, buffer, sizeof buffer);
    ASSERT_GT(got, 0) << shown;
    shown.append(buffer, static_cast<std::size_t>(got));
  }
  ASSERT_EQ(write(person, "q", 1), 1);
  while (shown.find("\033[?25h") == std::string::npos) {
    const ssize_t got = read(person, buffer, sizeof buffer);
    ASSERT_GT(got, 0) << shown;
    shown.append(buffer, static_cast<std::size_t>(got));
  }
  int status = 0;
  ASSERT_EQ(waitpid(watcher, &status, 0), watcher);
  EXPECT_EQ(status, 0);
  termios after{};
  ASSERT_EQ(tcgetattr(terminal, &after), 0);
  EXPECT_EQ(after.c_lflag, before.c_lflag);
  for (const char* word : {"process    ", "rss", "limit", "slope", "verdict", "q leaves", "▁"})
    EXPECT_NE(shown.find(word), std::string::npos) << word << "\n" << shown;
  close(person);
  close(terminal);
}

TEST(EbbDoctor, DiagnosesARunningProcess) {
  const Holder holder({"leak", "16"});
  Finished finished;
  // On a busy machine it may see too little in some seconds, and says so.
  for (const char* span : {"12s", "60s"}) {
    finished =
        run({EBB_PROGRAM, "doctor", holder.number(), "--for", span, "--json", "--fail-on", "leak"});
    if (finished.output.find("\"not_enough_data\"") == std::string::npos) break;
  }
  EXPECT_EQ(finished.status, 1) << finished.error;
  const auto json = base::parse_json(finished.output);
  ASSERT_TRUE(json) << finished.output;
  EXPECT_EQ(*json->find("verdict")->as_string(), "leak");
  for (const char* key : {"also", "confidence", "evidence", "fix"})
    EXPECT_NE(json->find(key), nullptr) << key;
}

TEST(EbbDoctor, NamesWhatTheEnvironmentOfAProcessLeavesOut) {
  support::Subprocess job({"/bin/cat"}, {{"EBB_ROLE", "server"},
                                         {"EBB_MEMORY_GC_ROUNDS", "5"},
                                         {"GLIBC_TUNABLES", ""},
                                         {"MALLOC_ARENA_MAX", ""}});
  // cat has its environment once it answers.
  ASSERT_EQ(write(job.input(), "x\n", 2), 2);
  ASSERT_EQ(job.read_line(), "x");
  const std::vector<std::string> words = {EBB_PROGRAM, "doctor", std::to_string(job.pid()), "--for",
                                          "50ms"};
  const Finished shown = run(words);
  EXPECT_EQ(shown.status, 0) << shown.error;
  EXPECT_NE(shown.output.find("environment  of a server on glibc, without"), std::string::npos)
      << shown.output;
  EXPECT_NE(shown.output.find("MALLOC_ARENA_MAX=4: "), std::string::npos) << shown.output;
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const auto json = base::parse_json(run(as_json).output);
  ASSERT_TRUE(json);
  const base::Json* environment = json->find("environment");
  ASSERT_NE(environment, nullptr);
  EXPECT_EQ(*environment->find("role")->as_string(), "server");
  EXPECT_EQ(environment->find("missing")->as_array()->size(), 1U) << environment->text();
}

TEST(EbbDoctor, SaysThatAMomentIsNotEnough) {
  const Holder holder({"flat"});
  const Finished finished = run({EBB_PROGRAM, "doctor", holder.number(), "--for", "50ms"});
  EXPECT_EQ(finished.status, 0) << finished.error;
  EXPECT_NE(finished.output.find("not_enough_data"), std::string::npos) << finished.output;
  EXPECT_NE(finished.output.find("40 are needed"), std::string::npos) << finished.output;
}

/// Whether the process has the signal blocked: it takes it in its own way by then.
bool holds_back(pid_t pid, int number) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigBlk:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1) != 0;
  return false;
}

TEST(EbbWatch, ASignalEndsItAlsoWhereNobodyReadsWhatItSays) {
  const Holder holder({"600"});
  const support::TemporaryDirectory folder;
  const support::FullPipe full(folder / "pipe");
  for (const char* form : {"--json", "--interval=10ms"}) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
      Subprocess child({"sh", "-c", "exec \"$@\" > " + full.path(), "sh", EBB_PROGRAM, "watch",
                        holder.number(), form});
      while (!holds_back(child.pid(), number))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      kill(child.pid(), number);
      const Finished done = support::finished(child);
      EXPECT_EQ(done.status, 1) << form << number;
      EXPECT_EQ(done.error, "ebb: nobody reads stdout: the answer ends where it is full\n");
    }
  }
}

}  // namespace
}  // namespace ebb
