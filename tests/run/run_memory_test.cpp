// SPDX-License-Identifier: Apache-2.0
// ebb with too little memory, from any moment on: the command runs, other verbs say so.
#include "run/run_fixture.h"

namespace ebb::run {
namespace {

using support::Finished;
using support::Subprocess;

class EbbWithoutMemory : public EbbRun {
 protected:
  /// Runs `whole_command` again and again, from every `step`-th allocation on without memory; hands
  /// on how it ended until there is one that has all it wants.
  template <class Look>
  void sweep(const Words& whole_command, int step, Look&& look) const {
    const std::string reached = folder_ / "reached";
    int runs = 0;
    for (int first = 1;; first += step, ++runs) {
      SCOPED_TRACE("from allocation " + std::to_string(first));
      std::filesystem::remove(reached);
      const Finished done =
          support::run(whole_command, {{"LD_PRELOAD", EBB_NO_MEMORY},
                                       {"EBB_TEST_ALLOCATION", std::to_string(first)},
                                       {"EBB_TEST_REACHED", reached}});
      if (!std::filesystem::exists(reached)) break;
      look(done);
      if (HasFailure()) return;
    }
    EXPECT_GT(runs, 3);
  }
};

TEST_F(EbbWithoutMemory, TheCommandRunsFromWhateverMomentOn) {
  const Words whole = command({"--interval", "50ms"}, {"sh", "-c", "echo here; exit 7"});
  // The supervisor starts within some hundred allocations.
  sweep(whole, 200, [](const Finished& done) {
    EXPECT_EQ(done.status, 7) << done.error;
    EXPECT_EQ(done.output, "here\n") << done.error;
  });
}

TEST_F(EbbWithoutMemory, OtherVerbsSaySo) {
  ASSERT_EQ(run({}, {"true"}).status, 0);
  for (const Words& verb : {Words{"--version"}, Words{"info"}, Words{"env", "--role", "server"},
                            Words{"runs", "--db", db()}, Words{"report", "last", "--db", db()}}) {
    SCOPED_TRACE(verb.front());
    Words words = {EBB_PROGRAM};
    words.insert(words.end(), verb.begin(), verb.end());
    sweep(words, 1500, [](const Finished& done) {
      EXPECT_EQ(done.status, 1) << done.error;
      EXPECT_EQ(done.error, "ebb: out of memory\n");
    });
  }
}

TEST_F(EbbWithoutMemory, TheCommandRunsUnderALimitOfWritableMemory) {
  for (const char* kib : {"2000", "5000", "10000", "20000", "40000", "60000", "100000"}) {
    SCOPED_TRACE(kib);
    Words words = {"sh", "-c", "ulimit -d " + std::string(kib) + "; exec \"$@\"", "sh"};
    const Words whole = command({}, {"sh", "-c", "exit 7"});
    words.insert(words.end(), whole.begin(), whole.end());
    const Finished done = support::run(words);
    EXPECT_EQ(done.status, 7) << done.error;
    EXPECT_LE(std::count(done.error.begin(), done.error.end(), '\n'), 2) << done.error;
  }
}

}  // namespace
}  // namespace ebb::run
