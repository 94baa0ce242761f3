// SPDX-License-Identifier: Apache-2.0
// ebb run where nobody reads what it says: the job is served all the same.
#include "run/run_fixture.h"
#include "support/full_pipe.h"

namespace ebb::run {
namespace {

using support::Subprocess;

class EbbRunThatNobodyReads : public EbbRun {
 protected:
  /// With the pipe as its stderr; the job's is another.
  Words unread(const Words& options, const std::string& job) const {
    Words words = {"sh", "-c", "exec \"$@\" 2> " + pipe_.path(), "sh"};
    for (const std::string& word : command(options, {"sh", "-c", "exec 2> /dev/null; " + job}))
      words.push_back(word);
    return words;
  }

  const support::FullPipe pipe_{folder_ / "pipe"};
};

TEST_F(EbbRunThatNobodyReads, SignalsAndTheStatusArePassedOn) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const std::int64_t before = so_far().summary.run.id;
    Subprocess child(unread({"--interval", "50ms", "--warn", "0.01"},
                            "trap 'echo caught; exit 5' TERM INT HUP; echo ready; "
                            "while true; do sleep 0.02; done"));
    ASSERT_EQ(child.read_line(), "ready");
    wait_until([&] {
      const record::RecordedRun found = so_far();
      return found.summary.run.id > before && has_event(found, "warn");
    });
    kill(child.pid(), number);
    EXPECT_EQ(child.read_line(), "caught") << number;
    EXPECT_EQ(child.wait(), 5) << number;
    EXPECT_EQ(last().summary.run.exit_code, 5);
  }
  EXPECT_EQ(pipe_.drain(), "");
}

TEST_F(EbbRunThatNobodyReads, LinesThatAreLeftOutAreCountedWhenOneIsReadAgain) {
  const Words words = unread({"--interval", "50ms", "--warn", "0.01"},
                             "while [ ! -e " + stop_file() + " ]; do sleep 0.02; done; exit 4");
  Subprocess child(words);
  wait_until([&] { return has_event(so_far(), "warn"); });
  EXPECT_EQ(pipe_.drain(), "");
  folder_.write("stop", "");
  EXPECT_EQ(child.wait(), 4);
  const std::string said = pipe_.drain();
  EXPECT_NE(said.find(" missing here: nobody read stderr\nebb: "), std::string::npos) << said;
  EXPECT_NE(said.find("ebb report"), std::string::npos) << "the last line; " << said;
}

TEST_F(EbbRunThatNobodyReads, TheJobIsStartedWhereSomethingWasToBeSaidBefore) {
  // Nowhere to record: one line, before there is a job.
  const std::string unset = "unset HOME EBB_DB XDG_STATE_HOME XDG_DATA_HOME; exec \"$@\" 2> ";
  Subprocess child({"sh", "-c", unset + pipe_.path(), "sh", EBB_PROGRAM, "run", "--", "sh", "-c",
                    "exec 2> /dev/null; exit 4"});
  EXPECT_EQ(child.wait(), 4);
}

}  // namespace
}  // namespace ebb::run
