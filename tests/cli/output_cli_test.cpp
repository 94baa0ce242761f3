// SPDX-License-Identifier: Apache-2.0
// Where answers and files go: whatever may stand at a path, a disk that is full, readers that
// leave.
#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "cli/run_ebb.h"
#include "support/temporary_directory.h"

namespace ebb {
namespace {

using cli_test::ebb;
using cli_test::expect_one_line;
using cli_test::is_page;
using cli_test::mode_of;
using support::Finished;

class Output : public testing::Test {
 protected:
  void SetUp() override {
    const Finished run = ebb({"run", "--db", db_, "--", "true"});
    ASSERT_EQ(run.status, 0) << run.error;
  }

  Finished report(const std::string& page) const {
    return ebb({"report", "--db", db_, "--html", page});
  }

  /// `script` in a shell where $EBB is the program, $DB a record of one run and $ROOT this tree.
  Finished in_shell(const std::string& script) const {
    return support::run({"sh", "-c", script},
                        {{"EBB", EBB_PROGRAM}, {"DB", db_}, {"ROOT", EBB_ROOT}});
  }

  support::TemporaryDirectory folder_;
  std::string db_ = folder_ / "runs.db";
  std::string page_ = folder_ / "page.html";
};

TEST_F(Output, APageKeepsTheModeOfTheFileItReplaces) {
  folder_.write("page.html", "old");
  ASSERT_EQ(::chmod(page_.c_str(), 0600), 0);
  ASSERT_EQ(report(page_).status, 0);
  EXPECT_EQ(mode_of(page_) & 07777, 0600U);
  EXPECT_TRUE(is_page(*base::read_file(page_)));
}

TEST_F(Output, APageIsWrittenThroughALink) {
  const std::string target = folder_.write("target.html", "old");
  ASSERT_EQ(::symlink("target.html", page_.c_str()), 0);
  ASSERT_EQ(report(page_).status, 0);
  EXPECT_TRUE(S_ISLNK(mode_of(page_)));
  EXPECT_TRUE(is_page(*base::read_file(target)));
}

TEST_F(Output, APageToStdoutLeavesItInItsPlace) {
  // Not /dev/stdout itself: where this fails, as root, the machine would be without it.
  ASSERT_EQ(::symlink("/proc/self/fd/1", page_.c_str()), 0);
  const Finished piped = report(page_);
  EXPECT_EQ(piped.status, 0) << piped.error;
  EXPECT_TRUE(is_page(piped.output));
  EXPECT_TRUE(S_ISLNK(mode_of(page_)));
}

TEST_F(Output, APageToAFifoReachesItsReader) {
  ASSERT_EQ(::mkfifo(page_.c_str(), 0600), 0);
  expect_one_line(report(page_), 2, "page.html: a FIFO that nobody reads");
  support::Subprocess reader({"cat", page_});
  // Until the reader has opened it, it is refused.
  Finished done;
  do {
    done = report(page_);
  } while (done.status == 2);
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_TRUE(is_page(reader.read_rest_of_output()));
  EXPECT_TRUE(S_ISFIFO(mode_of(page_)));
}

TEST_F(Output, AFileThatMayNotGrowIsOneLine) {
  const Finished page = in_shell("ulimit -f 128; $EBB report --db $DB --html " + page_);
  expect_one_line(page, 1, "File too large");
  EXPECT_FALSE(std::filesystem::exists(page_));
  expect_one_line(in_shell("ulimit -f 0; $EBB runs --db $DB"), 1, "disk I/O error");
  const Finished job =
      in_shell("ulimit -f 0; exec $EBB run --quiet --no-record -- sh -c 'echo x > " + page_ + "'");
  EXPECT_EQ(job.status, -SIGXFSZ) << "the command is told as without Ebb: " << job.error;
}

TEST_F(Output, AClosedStdoutIsOneLineAndStatusOne) {
  expect_one_line(in_shell("$EBB runs --db $DB >&-"), 1,
                  "cannot write the answer to stdout: Bad file descriptor");
}

TEST_F(Output, AReaderThatHasLeftEndsItQuietly) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const base::FileDescriptor end(ends[1]);
  const std::string to = " >&" + std::to_string(end.get());
  const Finished by_signal = in_shell("exec $EBB runs --db $DB" + to);
  EXPECT_EQ(by_signal.status, -SIGPIPE);
  EXPECT_EQ(by_signal.error, "");
  const Finished by_error = in_shell("trap '' PIPE; exec $EBB runs --db $DB" + to);
  EXPECT_EQ(by_error.status, 1);
  EXPECT_EQ(by_error.error, "");
}

TEST_F(Output, ARunKeepsTheStatusOfItsCommandWhereStdoutIsFullOrClosed) {
  for (const char* to : {" > /dev/full", " >&-", " 2>&-", " <&- >&- 2>&-"}) {
    SCOPED_TRACE(to);
    EXPECT_EQ(in_shell("$EBB run --db $DB -- sh -c 'exit 7'" + std::string(to)).status, 7);
  }
}

TEST_F(Output, ACommandFindsItsStreamsClosedAsItWouldWithoutEbb) {
  const std::string job =
      "sh -c 'for fd in 0 1 2; do [ -e /proc/self/fd/$fd ] && exit 1; done; exit 5'";
  EXPECT_EQ(in_shell("exec " + job + " <&- >&- 2>&-").status, 5);
  EXPECT_EQ(in_shell("exec $EBB run --db $DB -- " + job + " <&- >&- 2>&-").status, 5);
}

}  // namespace
}  // namespace ebb
