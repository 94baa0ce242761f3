// SPDX-License-Identifier: Apache-2.0
// The start-up hook in jobs of Python, which the system brings.
#include "base/bytes.h"
#include "run/run_fixture.h"

namespace ebb::run {
namespace {

using base::kMiB;
using support::Finished;

TEST_F(EbbRun, LetsPythonsGarbageTakePart) {
  const std::string script =
      folder_.write("job.py",
                    "import ctypes, gc, os, sys, time, weakref\n"
                    "class Node: pass\n"
                    "agent = ctypes.CDLL(None)\n"
                    "while not agent.ebb_agent_is_supervised(): time.sleep(0.05)\n"
                    "gc.disable()\n"
                    "def garbage():\n"
                    "  for _ in range(64):\n"
                    "    n = Node(); n.me = n; n.data = bytearray(1 << 20)\n"
                    "  return weakref.ref(n)\n"
                    "last = garbage()\n"
                    "agent.ebb_agent_round_done(0)\n"
                    "while not os.path.exists(sys.argv[1]): time.sleep(0.05)\n"
                    "print(last() is None, gc.collect())\n");
  const Finished done =
      run_until({"--interval", "50ms"}, {"/usr/bin/python3", script, stop_file()},
                [](const record::RecordedRun& run) { return !run.actions.empty(); });
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "True 0\n") << "the cleanup had collected everything";
  const record::RecordedRun recorded = last();
  ASSERT_FALSE(recorded.actions.empty());
  EXPECT_GT(recorded.actions.front().cleanup.returned, 60 * kMiB);
}

TEST_F(EbbRun, LeavesASitecustomizeOfTheJobsOwnWorking) {
  folder_.write("own/sitecustomize.py", "import os\nos.environ['SEEN'] = 'yes'\n");
  const Finished done =
      run({}, {"/usr/bin/python3", "-c", "import os, sitecustomize; print(os.environ['SEEN'])"},
          {{"PYTHONPATH", folder_ / "own"}});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "yes\n");
}

TEST_F(EbbRun, SeesTheRoundsOfNvflareInItsLog) {
  folder_.write("nvflare/__init__.py", "");
  const std::string script =
      folder_.write("job.py",
                    "import sys, time; sys.path.insert(0, sys.argv[1])\n"
                    "import ctypes; agent = ctypes.CDLL(None)\n"
                    "while not agent.ebb_agent_is_supervised(): time.sleep(0.05)\n"
                    "import nvflare, logging\n"
                    "log = logging.getLogger('FedAvg')\n"
                    "for r in range(3):\n"
                    "  log.info('Round %d started.' % r); log.error(f'Round {r} started.')\n"
                    "log.error('[identity=server, run=1]: Round 2 finished.')\n");
  const Finished done = run({"--interval", "50ms"}, {"/usr/bin/python3", script, folder_.path()});
  EXPECT_EQ(done.status, 0) << done.error;
  std::vector<std::uint64_t> numbers;
  for (const record::Round& round : last().rounds)
    numbers.push_back(round.number);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{0, 1, 2}));
}

/// What starts late because the machine is busy must not be met by an interpreter that ends.
TEST_F(EbbRun, HasItsThreadInPythonOnlyWhileTheInterpreterStands) {
  const std::string count_threads =
      "import _thread\n"
      "class Last:\n"
      "  def __del__(self, count=_thread._count): print(count())\n"
      "last = Last()\n"
      "print(_thread._count())\n";
  for (const std::string late : {"0", "300"}) {
    const Finished done = run({}, {"/usr/bin/python3", "-c", count_threads},
                              {{"LD_PRELOAD", EBB_LATE_THREADS}, {"LATE_MILLISECONDS", late}});
    EXPECT_EQ(done.status, 0) << done.error;
    EXPECT_EQ(done.output, "1\n0\n") << "from its first line until its objects go, not longer";
  }
}

TEST_F(EbbRun, EndsAPythonJobAfterTheCollectionThatIsUnderWay) {
  const std::string script = folder_.write(
      "job.py",
      "import ctypes, gc, time\n"
      "agent = ctypes.CDLL(None)\n"
      "while not agent.ebb_agent_is_supervised(): time.sleep(0.05)\n"
      "seen = []\n"
      "class Slow:\n"
      "  def __del__(self, seen=seen, sleep=time.sleep):\n"
      "    seen.append('begun'); sleep(1); seen.append('ended')\n"
      "gc.disable()\n"
      "s = Slow(); s.me = s; s.data = [bytearray(1 << 20) for _ in range(64)]; del s\n"
      "agent.ebb_agent_round_done(0)\n"
      "while not seen: time.sleep(0.01)\n"
      "class Last:\n"
      "  def __del__(self, seen=seen): print(seen)\n"
      "last = Last()\n");
  const Finished done = run({"--interval", "50ms"}, {"/usr/bin/python3", script});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "['begun', 'ended']\n");
}

}  // namespace
}  // namespace ebb::run
