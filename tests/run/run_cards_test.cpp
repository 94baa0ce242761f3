// SPDX-License-Identifier: Apache-2.0
// Thresholds of cards: what NVML says comes from a library that plays GPUs, what PyTorch says from
// a module that plays PyTorch. The hook, the agent, the supervisor and the record are the real
// ones.
#include <regex>

#include "base/bytes.h"
#include "run/run_fixture.h"
#include "support/process_state.h"

namespace ebb::run {
namespace {

using base::kGiB;
using support::Finished;

/// A card of 80 GiB, 20 of them in use and 59 cached, and one that is not in use. `measured`: how
/// often the hook has asked what is held, twice for each time that it empties the cache.
constexpr const char* kTorch =
    "G = 1 << 30\n"
    "class cuda:\n"
    "  total, in_use, reserved, emptied, measured, looked = 80 * G, 20 * G, 79 * G, 0, 0, 0\n"
    "  is_initialized = staticmethod(lambda: True)\n"
    "  device_count = staticmethod(lambda: 2)\n"
    "  @staticmethod\n"
    "  def memory_reserved(device):\n"
    "    cuda.measured += device == 1\n"
    "    return cuda.reserved if device == 0 else 0\n"
    "  @staticmethod\n"
    "  def memory_stats(device):\n"
    "    cuda.looked += device == 1\n"
    "    return {'reserved_bytes.all.current': cuda.reserved if device == 0 else 0,\n"
    "            'active_bytes.all.current': cuda.in_use if device == 0 else 0,\n"
    "            'allocated_bytes.all.current': cuda.in_use - 2 * G,\n"
    "            'inactive_split_bytes.all.current': 9 * G}\n"
    "  @staticmethod\n"
    "  def mem_get_info(device):\n"
    "    assert device == 0, 'of a device that is not in use'\n"
    "    return cuda.total - cuda.reserved, cuda.total\n"
    "  @staticmethod\n"
    "  def empty_cache():\n"
    "    cuda.reserved = cuda.in_use\n"
    "    cuda.emptied += 1\n";

/// A round that ends while the supervisor still waits for an answer is left out: jobs go on until
/// one is heard. A look at the card is asked for once everything before has been answered.
constexpr const char* kBegin =
    "import ctypes, os, sys, time; sys.path.insert(0, sys.argv[1])\n"
    "from torch import cuda, G\n"
    "agent = ctypes.CDLL(None)\n"
    "while not agent.ebb_agent_is_supervised(): time.sleep(0.02)\n"
    "n = -1\n"
    "def round():\n"
    "  global n\n"
    "  n += 1\n"
    "  agent.ebb_agent_round_done(ctypes.c_uint64(n))\n"
    "def rounds_until(is_so):\n"
    "  while not is_so():\n"
    "    round()\n"
    "    time.sleep(0.02)\n"
    "def look():\n"
    "  before = cuda.looked\n"
    "  rounds_until(lambda: cuda.looked > before)\n"
    "def emptied(times):\n"
    "  rounds_until(lambda: cuda.measured == 2 * times)\n";

class EbbRunCards : public EbbRun {
 protected:
  /// A job that has PyTorch.
  Words job(const std::string& body) {
    folder_.write("torch/__init__.py", kTorch);
    return {"/usr/bin/python3", folder_.write("job.py", kBegin + body), folder_.path(),
            stop_file()};
  }

  /// Runs one on a machine whose cards have so much room.
  Finished run_job(const Words& options, const std::string& body, const char* free_gib = "1") {
    Words all = {"--interval", "50ms"};
    all.insert(all.end(), options.begin(), options.end());
    return run(all, job(body), {{"EBB_NVML", EBB_FAKE_NVML}, {"FAKE_NVML_FREE_GIB", free_gib}});
  }

  std::vector<record::Action> emptyings() const {
    std::vector<record::Action> found;
    for (const record::Action& action : last().actions)
      if (action.cleanup.trigger == fact::Trigger::card) found.push_back(action);
    return found;
  }

  static std::vector<std::string> lines_of(const record::RecordedRun& run) {
    std::vector<std::string> texts;
    for (const record::Event& event : run.events)
      if (event.kind == "card") texts.push_back(event.text);
    return texts;
  }
};

TEST_F(EbbRunCards, EmptiesACacheThatFillsTheCardAtTheEndOfARound) {
  const Finished done = run_job({}, "emptied(1)\nlook()\nlook()\nprint(cuda.emptied)\n");
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "1\n") << "it had room in the next round";
  const std::vector<record::Action> actions = emptyings();
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(actions[0].cleanup.devices,
            (std::vector<base::DeviceChange>{{0, 79 * kGiB, 20 * kGiB, 59 * kGiB}}));
  EXPECT_GT(actions[0].cleanup.seconds, 0) << "what it cost";
  EXPECT_NE(done.error.find(": GPU 0's cache gave 59.0 GiB back in"), std::string::npos)
      << done.error;
  EXPECT_NE(done.error.find("and 59.0 GiB of GPU 0 in"), std::string::npos)
      << "in the last line: " << done.error;
}

TEST_F(EbbRunCards, NamesRoundRamAndCardsInOneLine) {
  const support::ScopedVariable library("EBB_NVML", EBB_FAKE_NVML);
  const support::ScopedVariable room("FAKE_NVML_FREE_GIB", folder_.write("free", "50"));
  const Finished done = run_until({"--interval", "50ms"},
                                  job("os.chdir(sys.argv[1])\n"
                                      "round()\n"
                                      "with open('less', 'w') as less: less.write('7')\n"
                                      "os.replace('less', 'free')\n"
                                      "rounds_until(lambda: os.path.exists(sys.argv[2]))\n"),
                                  [](const auto& run) { return !lines_of(run).empty(); });
  EXPECT_EQ(done.status, 0) << done.error;
  const std::vector<std::string> said = lines_of(last());
  ASSERT_EQ(said.size(), 1U);
  const std::regex line("round [0-9]+: RAM at [0-9]+ %, GPU 0 at 91 %, GPU 1 at 91 %");
  EXPECT_TRUE(std::regex_match(said[0], line)) << said[0];
  EXPECT_NE(done.error.find(said[0]), std::string::npos) << done.error;
}

TEST_F(EbbRunCards, DoesNotRepeatWhatWasTakenAgain) {
  const Finished done = run_job(
      {}, "emptied(1)\ncuda.reserved = 79 * G\nlook()\nlook()\nlook()\nprint(cuda.emptied)\n");
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "1\n");
  EXPECT_EQ(emptyings().size(), 1U);
  EXPECT_NE(done.error.find("what GPU 0's cache gave back was taken again: it is kept now"),
            std::string::npos)
      << done.error;
}

TEST_F(EbbRunCards, KeepsHeadroomInEveryRound) {
  const std::string body =
      "for times in 1, 2, 3:\n"
      "  cuda.reserved = 70 * G\n"
      "  emptied(times)\n"
      "look()\n";
  const Finished done = run_job({"--headroom", "12GiB"}, body, "10");
  EXPECT_EQ(done.status, 0) << done.error;
  std::uint64_t count = 0;
  for (const record::Action& action : emptyings())
    count += action.count;
  EXPECT_EQ(count, 3U);
}

TEST_F(EbbRunCards, LeavesACardWithRoomAlone) {
  const Finished done = run_job({"--gpu-warn", "99", "--gpu-critical", "99.5"},
                                "for _ in range(3): round()\nprint(cuda.emptied, cuda.looked)\n");
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "0 0\n") << "the job was not even asked";
  const record::RecordedRun recorded = last();
  EXPECT_EQ(recorded.rounds.size(), 3U);
  EXPECT_TRUE(emptyings().empty());
  EXPECT_TRUE(lines_of(recorded).empty());
}

TEST_F(EbbRunCards, RecordsWhatAJobHoldsOfCardsWhereItUsesThem) {
  const support::ScopedVariable library("EBB_NVML", EBB_FAKE_NVML);
  const support::ScopedVariable room("FAKE_NVML_FREE_GIB", "50");
  const auto of_job = [](const record::RecordedRun& run) {
    std::vector<record::DeviceSample> found;
    for (const record::DeviceSample& device : run.devices)
      if (device.process) found.push_back(device);
    return found;
  };
  const Finished done = run_until({"--interval", "50ms"},
                                  job("driver = ctypes.CDLL('" EBB_FAKE_CUDA "')\n"
                                      "while not os.path.exists(sys.argv[2]): time.sleep(0.02)\n"
                                      "print(cuda.looked > 0, cuda.emptied)\n"),
                                  [&](const auto& run) {
                                    const auto found = of_job(run);
                                    return !found.empty() && found.size() < run.devices.size();
                                  });
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "True 0\n") << "it was only asked";
  const record::RecordedRun recorded = last();
  const std::vector<record::DeviceSample> found = of_job(recorded);
  ASSERT_EQ(found.size(), 1U) << "the last of each, and the other one is not in use";
  EXPECT_EQ(found[0].process, recorded.processes.at(0).process.key());
  EXPECT_EQ(
      found[0].card,
      (fact::CardSample{0, {80 * kGiB, 1 * kGiB, 79 * kGiB, 59 * kGiB, 18 * kGiB, 9 * kGiB}}));
  EXPECT_EQ(recorded.devices.size(), 3U) << "and the two of the machine";
  EXPECT_EQ(recorded.devices[0].card.memory.free, 50 * kGiB);
}

TEST_F(EbbRunCards, SaysWhereNoCardWasSeen) {
  const support::Subprocess::Environment nothing = {{"EBB_NVML", "/no/such/library.so"}};
  const Finished asked = run({"--headroom", "1GiB", "--gpu-warn", "80"}, {"true"}, nothing);
  EXPECT_EQ(asked.status, 0);
  EXPECT_NE(asked.error.find("ebb: --gpu-warn, --headroom: no GPU was seen (no GPU readings"),
            std::string::npos)
      << asked.error;
  const Finished report = support::run({EBB_PROGRAM, "report", "last", "--db", db()});
  EXPECT_NE(report.output.find("no GPU was seen"), std::string::npos) << report.output;
  EXPECT_EQ(run({}, {"true"}, nothing).error.find("GPU"), std::string::npos)
      << "who does not ask hears nothing";
}

TEST_F(EbbRunCards, RefusesBoundsThatCannotBe) {
  for (const Words& options : {Words{"--gpu-warn", "98"}, {"--gpu-critical", "101"}}) {
    const Finished done = run(options, {"true"});
    EXPECT_EQ(done.status, 2) << options[0];
    EXPECT_NE(done.error.find("expected 0 < warn <= critical <= 100"), std::string::npos);
  }
  EXPECT_EQ(run({"--headroom", "much"}, {"true"}).status, 2);
}

}  // namespace
}  // namespace ebb::run
