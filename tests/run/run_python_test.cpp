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

std::vector<std::uint64_t> numbers_of_rounds(const record::RecordedRun& run) {
  std::vector<std::uint64_t> numbers;
  for (const record::Round& round : run.rounds)
    numbers.push_back(round.number);
  return numbers;
}

/// How a job begins that finds modules in its first argument and has an agent before it goes on.
constexpr const char* kSupervised =
    "import ctypes, os, sys, time; sys.path.insert(0, sys.argv[1])\n"
    "agent = ctypes.CDLL(None)\n"
    "def await_agent():\n"
    "  while not agent.ebb_agent_is_supervised(): time.sleep(0.05)\n"
    "await_agent()\n";

TEST_F(EbbRun, RecordsWhatPyTorchGaveBackOfDevices) {
  // What the hook calls of PyTorch, for machines without a GPU.
  folder_.write("torch/__init__.py",
                "class cuda:\n"
                "  calls, held = 0, [5 << 30, 7 << 20]\n"
                "  is_initialized = staticmethod(lambda: True)\n"
                "  device_count = staticmethod(lambda: 2)\n"
                "  memory_reserved = staticmethod(lambda device: cuda.held[device])\n"
                "  @staticmethod\n"
                "  def empty_cache():\n"
                "    cuda.calls += 1\n"
                "    cuda.held[0] = 1 << 30\n");
  // Once it is called again, the first cleanup has been answered.
  const std::string script =
      folder_.write("job.py", std::string(kSupervised) +
                                  "import torch\n"
                                  "while torch.cuda.calls < 2: time.sleep(0.05)\n");
  const Finished done =
      run({"--quiet", "--interval", "50ms", "--warn", "0.01", "--critical", "0.02"},
          {"/usr/bin/python3", script, folder_.path()});
  EXPECT_EQ(done.status, 0) << done.error;
  std::vector<base::DeviceChange> devices;
  for (const record::Action& action : last().actions)
    for (const base::DeviceChange& change : action.cleanup.devices)
      devices.push_back(change);
  EXPECT_EQ(devices, (std::vector<base::DeviceChange>{{0, 5ULL << 30, 1ULL << 30, 4ULL << 30}}));
}

TEST_F(EbbRun, SeesTheRoundsOfNvflareInItsLog) {
  folder_.write("nvflare/__init__.py", "");
  const std::string script = folder_.write(
      "job.py", std::string(kSupervised) +
                    "import nvflare, logging\n"
                    "log = logging.getLogger('FedAvg')\n"
                    "for r in range(3):\n"
                    "  log.info('Round %d started.' % r); log.error(f'Round {r} started.')\n"
                    "log.error('[identity=server, run=1]: Round 2 finished.')\n");
  const Finished done = run({"--interval", "50ms"}, {"/usr/bin/python3", script, folder_.path()});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(numbers_of_rounds(last()), (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST_F(EbbRun, CallsAForkedProcessOfNvflareWhatItsLogCallsIt) {
  folder_.write("nvflare/__init__.py", "");
  const std::string script = folder_.write(
      "job.py", std::string(kSupervised) +
                    "import nvflare, logging\n"
                    "logging.error('[identity=launcher, run=1]: has a command line of its own')\n"
                    "child = os.fork()\n"
                    "if child == 0:\n"
                    "  await_agent()\n"
                    "  logging.error('[identity=simulator_server, run=1]: Round 0 started.')\n"
                    "  logging.error('[identity=site-1, run=1]: a process has one name')\n"
                    "  while not os.path.exists(sys.argv[2]): time.sleep(0.05)\n"
                    "  os._exit(0)\n"
                    "os.waitpid(child, 0)\n");
  const auto names_in = [](const record::RecordedRun& run) {
    std::vector<std::string> names;
    for (const record::Event& event : run.events)
      if (event.is(record::EventKind::named)) names.push_back(event.text);
    return names;
  };
  const Finished done =
      run_until({"--interval", "50ms"}, {"/usr/bin/python3", script, folder_.path(), stop_file()},
                [&](const record::RecordedRun& run) { return !names_in(run).empty(); });
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(names_in(last()), std::vector<std::string>{"simulator_server"});
}

TEST_F(EbbRun, RecordsTheMarkersOfNvflaresLog) {
  folder_.write("nvflare/__init__.py", "");
  const std::string script =
      folder_.write("job.py", std::string(kSupervised) +
                                  "import nvflare, logging\n"
                                  "log = logging.getLogger('nvflare.fuel.utils.mem_utils')\n"
                                  "log.error('[RSS] CA s=site-1 r=0 recv: 1.0 MB')\n"
                                  "log.info('[RSS] CA s=site-1 r=1 recv: 1.0 MB')\n"  // not enabled
                                  "log.error('something else')\n"
                                  "logging.error('[RSS] not of that logger')\n");
  const Finished done = run({"--interval", "50ms"}, {"/usr/bin/python3", script, folder_.path()});
  EXPECT_EQ(done.status, 0) << done.error;
  std::vector<std::string> markers;
  for (const record::Event& event : last().events)
    if (event.is(record::EventKind::marker)) markers.push_back(event.text);
  EXPECT_EQ(markers, std::vector<std::string>{"[RSS] CA s=site-1 r=0 recv: 1.0 MB"});
}

/// Once it is told to, prints how many arenas malloc has after twelve threads have used it at the
/// same time.
constexpr const char* kCountArenas =
    "import os, sys, time; sys.path.insert(0, sys.argv[1])\n"
    "import nvflare, ctypes, threading\n"
    "while not os.path.exists(sys.argv[2]): time.sleep(0.05)\n"
    "libc = ctypes.CDLL(None)\n"
    "libc.malloc.argtypes = [ctypes.c_size_t]\n"
    "libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p\n"
    "all_there = threading.Barrier(12)\n"
    "def use(): all_there.wait(); libc.malloc(100000); all_there.wait()\n"
    "threads = [threading.Thread(target=use) for _ in range(12)]\n"
    "for thread in threads: thread.start()\n"
    "for thread in threads: thread.join()\n"
    "path = sys.argv[1] + '/info.xml'\n"
    "file = ctypes.c_void_p(libc.fopen(path.encode(), b'w'))\n"
    "libc.malloc_info(0, file); libc.fclose(file)\n"
    "print(open(path).read().count('<heap nr='))\n";

/// Whether its agent was asked and has answered since a round was announced. The first answer after
/// it may be to a question from before.
bool has_looked_after_a_round(const record::RecordedRun& run) {
  std::size_t answers = 0;
  for (const record::ProcessHistory& process : run.processes)
    for (const record::Reading& reading : process.readings)
      if (!run.rounds.empty() && reading.live && reading.seconds >= run.rounds.front().seconds)
        ++answers;
  return answers >= 2;
}

TEST_F(EbbRun, HasNvflaresThreadsShareArenas) {
  folder_.write("nvflare/__init__.py", "");
  const std::string script = folder_.write("job.py", kCountArenas);
  const Finished done =
      run_until({"--interval", "50ms"}, {"/usr/bin/python3", script, folder_.path(), stop_file()},
                [&](const record::RecordedRun& run) { return has_event(run, "arenas"); });
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_LE(std::stoi(done.output), 4) << "the main one, and what Ebb's own threads had already";
  EXPECT_TRUE(has_event(last(), "arenas"));
}

TEST_F(EbbRun, LeavesArenasThatSomebodyHasChosen) {
  folder_.write("nvflare/__init__.py",
                "import ctypes\n"
                "ctypes.CDLL(None).ebb_agent_round_done(ctypes.c_uint64(0))\n");
  const std::string script = folder_.write("job.py", kCountArenas);
  Words whole = {"env", "MALLOC_ARENA_MAX=7"};
  for (const std::string& word :
       command({"--interval", "50ms"}, {"/usr/bin/python3", script, folder_.path(), stop_file()}))
    whole.push_back(word);
  const Finished done = run_until(
      whole, [](const record::RecordedRun& run) { return has_looked_after_a_round(run); });
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "7\n");
  EXPECT_FALSE(has_event(last(), "arenas"));
}

TEST_F(EbbRun, SeesTheRoundsOfFlowerInItsLog) {
  folder_.write("flwr/__init__.py", "");
  const std::string script = folder_.write(
      "job.py", std::string(kSupervised) +
                    "import flwr, logging\n"
                    "log = logging.getLogger('flwr')\n"
                    "log.setLevel(logging.INFO)\n"
                    "log.info('Strategy execution finished in %.2fs', 0.1)\n"
                    "for strategy in range(2):\n"
                    "  for r in 1, 2:\n"
                    "    log.info('[ROUND %s/%s]', r, 2); log.info('configure_train: %s', r)\n"
                    "  log.info('Strategy execution finished in %.2fs', 0.1)\n");
  const Finished done = run({"--interval", "50ms"}, {"/usr/bin/python3", script, folder_.path()});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(numbers_of_rounds(last()), (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

/// A line of Python that waits until the hook's thread is there.
constexpr const char* kAwaitHook =
    "import _thread, time\n"
    "while not _thread._count(): time.sleep(0.01)\n"
    "print('there')\n";

TEST_F(EbbRun, HasItsHookInPythonHoweverItIsStarted) {
  const std::string script = folder_.write("job.py", kAwaitHook);
  const std::string venv = folder_ / "venv";
  ASSERT_EQ(support::run({"/usr/bin/python3", "-m", "venv", "--without-pip", venv}).status, 0);
  // As NVFlare starts its clients.
  const std::string launcher = folder_.write(
      "launcher.py",
      "import os, subprocess, sys\n"
      "path = os.pathsep.join(part for part in sys.path if part)\n"
      "environment = {**os.environ, 'PYTHONPATH': path}\n"
      "sys.exit(subprocess.run([sys.executable, sys.argv[1]], env=environment).returncode)\n");
  const std::vector<Words> ways = {
      {"/usr/bin/python3", script},           {venv + "/bin/python", script},
      {"/usr/bin/python3", launcher, script}, {venv + "/bin/python", launcher, script},
      {"/usr/bin/python3", "-E", script},     {"/usr/bin/python3", "-I", script},
      {"/usr/bin/python3", "-S", script},
  };
  for (const Words& way : ways) {
    const Finished done = run({"--interval", "50ms"}, way);
    EXPECT_EQ(done.status, 0) << done.error;
    EXPECT_EQ(done.output, "there\n") << way[1];
  }
}

TEST_F(EbbRun, LeavesNothingBehindInAnInterpreterThatItsAgentHasTold) {
  const std::string names =
      "print(sorted(n for n in globals() if 'ebb' in n), 'sitecustomize' in "
      "sys.modules and 'ebb' in sys.modules['sitecustomize'].__file__)\n";
  const Finished done =
      run({"--interval", "50ms"},
          {"/usr/bin/python3", "-E", "-c", "import sys\n" + std::string(kAwaitHook) + names});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "there\n[] False\n");
}

TEST_F(EbbRun, SeesRoundsWhereTheHookComesAfterNvflare) {
  folder_.write("nvflare/__init__.py", "");
  const std::string script = folder_.write(
      "job.py", "import sys; sys.path.insert(0, sys.argv[1])\nimport nvflare, logging\n" +
                    std::string(kAwaitHook) +
                    // A hook that came while NVFlare was being found learns of it with the next.
                    "import colorsys\nlogging.error('Round 7 finished.')\n");
  const Finished done =
      run({"--interval", "50ms"}, {"/usr/bin/python3", "-E", script, folder_.path()});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(numbers_of_rounds(last()), std::vector<std::uint64_t>{7}) << done.error;
}

TEST_F(EbbRun, SeesRoundsWhereTheHookComesWhileNvflareIsLookedFor) {
  folder_.write("nvflare/__init__.py", "");
  const std::string script =
      folder_.write("job.py",
                    "import sys; sys.path.insert(0, sys.argv[1])\n"
                    "import _thread, time\n"
                    "class Slow:\n"
                    "  def find_spec(self, name, path=None, target=None):\n"
                    "    while name == 'nvflare' and not _thread._count(): time.sleep(0.01)\n"
                    "sys.meta_path.insert(0, Slow())\n"
                    "assert 'logging' not in sys.modules\n"
                    // What follows it is what the hook needs itself: it must not come twice.
                    "import nvflare, logging, threading\n"
                    "import colorsys\n"
                    "logging.error('Round 7 finished.')\n"
                    "print(logging.threading is threading)\n");
  const Finished done =
      run({"--interval", "50ms"}, {"/usr/bin/python3", "-E", script, folder_.path()});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "True\n");
  EXPECT_EQ(numbers_of_rounds(last()), std::vector<std::uint64_t>{7}) << done.error;
}

TEST_F(EbbRun, SeesRoundsWhereTheHookComesWhileLoggingIsImported) {
  folder_.write("nvflare/__init__.py", "");
  const std::string script =
      folder_.write("job.py",
                    "import sys; sys.path.insert(0, sys.argv[1])\n"
                    "import logging, nvflare, types\n"
                    "sys.modules['logging'] = types.ModuleType('logging')\n" +
                        std::string(kAwaitHook) +
                        "sys.modules['logging'] = logging\n"
                        "import colorsys\nlogging.error('Round 7 finished.')\n");
  const Finished done =
      run({"--interval", "50ms"}, {"/usr/bin/python3", "-E", script, folder_.path()});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(numbers_of_rounds(last()), std::vector<std::uint64_t>{7}) << done.error;
}

TEST_F(EbbRun, SeesRoundsWhereTheHookComesWhileRegularExpressionsAreImported) {
  folder_.write("nvflare/__init__.py", "");
  const std::string script =
      folder_.write("job.py",
                    "import sys; sys.path.insert(0, sys.argv[1])\n"
                    "import logging, nvflare, re, types\n"
                    "sys.modules['re'] = types.ModuleType('re')\n" +
                        std::string(kAwaitHook) +
                        "sys.modules['re'] = re\n"
                        "import colorsys\nlogging.error('Round 7 finished.')\n");
  const Finished done =
      run({"--interval", "50ms"}, {"/usr/bin/python3", "-E", script, folder_.path()});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(numbers_of_rounds(last()), std::vector<std::uint64_t>{7}) << done.error;
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

/// Fills arenas with small objects, then says what the interpreter knows of them and waits.
constexpr const char* kFillsArenas =
    "import os, sys, threading, time\n"
    "kept = [(i, str(i)) for i in range(400000)]\n"
    "for _ in range(3): threading.Thread(target=time.sleep, args=(900,), daemon=True).start()\n"
    "sys._debugmallocstats()\n"
    "while not os.path.exists(sys.argv[1]): time.sleep(0.05)\n";

/// "# arenas allocated current  =  97" in what that said.
std::uint64_t arenas_in(const std::string& said) {
  const std::string key = "# arenas allocated current";
  const std::size_t at = said.find(key);
  return at == std::string::npos ? 0 : std::stoull(said.substr(said.find('=', at) + 1));
}

TEST_F(EbbRun, TellsPythonsArenasAndStacksOfThreads) {
  const std::string script = folder_.write("arenas.py", kFillsArenas);
  const auto python_of = [](const record::RecordedRun& run) {
    return run.mapped.empty() ? std::nullopt : run.mapped.front().parts.python;
  };
  Finished done =
      run_until({"--interval", "50ms"}, {"/usr/bin/python3", script, stop_file()},
                [&](const record::RecordedRun& run) {
                  return python_of(run).value_or(0) > 30 * kMiB && run.mapped.front().parts.stacks;
                });
  EXPECT_EQ(done.status, 0) << done.error;
  const std::uint64_t arenas = arenas_in(done.error) * kMiB;
  ASSERT_GT(arenas, 30 * kMiB) << done.error;
  EXPECT_GE(*python_of(last()) + 8 * kMiB, arenas) << "but for those that it starts with";
  EXPECT_LE(*python_of(last()), arenas + kMiB);
  ASSERT_TRUE(last().mapped.front().parts.stacks);
  EXPECT_GT(*last().mapped.front().parts.stacks, 0U);
  EXPECT_LT(*last().mapped.front().parts.stacks, 8 * kMiB);

  // An interpreter that is asked late does not know what it had before.
  done = run_until({"--interval", "50ms"}, {"/usr/bin/python3", "-E", script, stop_file()},
                   [](const record::RecordedRun& run) { return !run.mapped.empty(); });
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_FALSE(python_of(last()));
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
