// SPDX-License-Identifier: Apache-2.0
// What holds for every verb that `ebb --help` names: a new one has to be given its lines here.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

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

using Lines = std::vector<std::string>;

/// What lines name in short.
constexpr const char* kSnapshot =
    EBB_ROOT "/tests/data/torch-2.11/frames/prefetch_streams.default.dump.pickle";
constexpr const char* kNetwork =
    EBB_ROOT "/examples/models/small-resnet.json --channels 3 --size 32";
constexpr const char* kWorld =
    "--dataset synthetic --synthetic-train 64 --synthetic-test 32 --rounds 1 --clients 2 "
    "--per-round 1 --quiet --no-record";

/// Ways to ask each verb for an answer on stdout. `serve` has none: it answers elsewhere.
const std::map<std::string, Lines> kAnswers = {
    {"", {"--version"}},
    {"compare", {"--list", "--methods heuristic.random --dry-run $WORLD"}},
    {"doctor",
     {"last --db $DB", "last --db $DB --json", "$$ --for 20ms", "$SNAPSHOT", "$SNAPSHOT --json",
      "--cgroup $GROUP", "--cgroup $GROUP --json"}},
    {"env", {"--role server", "--role server --json", "--role client --shell script"}},
    {"info", {"", "--json", "$$", "$$ --json"}},
    {"plan", {}},
    {"plan budget", {"--params 1000000"}},
    {"plan clients", {"", "--json"}},
    {"plan model", {"$NETWORK", "$NETWORK --json"}},
    {"plan transformer", {"gpt2", "gpt2 --json"}},
    {"replay", {"$SNAPSHOT", "$SNAPSHOT --json"}},
    {"report", {"--db $DB", "--db $DB --json"}},
    {"run", {"--dry-run -- true", "--dry-run --json -- true"}},
    {"runs", {"--db $DB", "--db $DB --json"}},
    {"runs import", {"$ROOT/tests/data/interface/simulation --db $DB.new"}},
    {"runs rm", {"1 --db $DB"}},
    {"serve", {}},
    {"simulate", {"--list", "--dry-run $WORLD"}},
    {"tune", {"$SNAPSHOT", "$SNAPSHOT --json", "--interval 10ms -- true"}},
    {"watch", {"$$ --interval 10ms", "$$ --interval 10ms --json"}},
};

/// Ways to ask each verb that has `--html` for a page.
const std::map<std::string, Lines> kPages = {
    {"compare", {"--methods heuristic.random $WORLD"}},
    {"doctor", {"last --db $DB", "$SNAPSHOT"}},
    {"plan model", {"$NETWORK"}},
    {"plan transformer", {"gpt2"}},
    {"replay", {"$SNAPSHOT"}},
    {"report", {"--db $DB"}},
    {"simulate", {"$WORLD"}},
    {"tune", {"$SNAPSHOT"}},
};

std::string help_of(const std::string& verb) {
  return support::run({"sh", "-c", "exec \"$0\" " + verb + " --help", EBB_PROGRAM}).output;
}

/// Those that the help of `verb` names, and theirs.
void add_verbs(const std::string& verb, std::set<std::string>& verbs) {
  verbs.insert(verb);
  const std::string help = help_of(verb);
  const std::size_t list = help.find("\nSubcommands:\n");
  if (list == std::string::npos) return;
  std::istringstream lines(help.substr(list + 1));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    if (line[2] == ' ') continue;  // goes on with what the one before is for
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    add_verbs(verb.empty() ? name : verb + " " + name, verbs);
  }
}

const std::set<std::string>& all_verbs() {
  static const auto* verbs = [] {
    auto* found = new std::set<std::string>;
    add_verbs("", *found);
    return found;
  }();
  return *verbs;
}

bool needs_simulator(const std::string& verb) {
  return verb == "simulate" || verb == "compare";
}

class EveryVerb : public testing::Test {
 protected:
  void SetUp() override {
    const Finished run = ebb({"run", "--db", db_, "--", "true"});
    ASSERT_EQ(run.status, 0) << run.error;
  }

  Finished in_shell(const std::string& script) const {
    return support::run({"sh", "-c", script}, {{"EBB", EBB_PROGRAM},
                                               {"DB", db_},
                                               {"ROOT", EBB_ROOT},
                                               {"GROUP", group()},
                                               {"NETWORK", kNetwork},
                                               {"PAGE", page_},
                                               {"SNAPSHOT", kSnapshot},
                                               {"WORLD", kWorld}});
  }

  /// A control group that can be read; none where there is none.
  static const std::string& group() {
    static const std::string found = [] {
      for (const char* one : {"/", "/sys/fs/cgroup", "/sys/fs/cgroup/memory"})
        if (ebb({"doctor", "--cgroup", one}).status == 0) return one;
      return "";
    }();
    return found;
  }

  /// Each line of `table` that can be asked for here.
  template <class Look>
  void for_each(const std::map<std::string, Lines>& table, Look&& look) const {
    for (const auto& [verb, lines] : table) {
      if (needs_simulator(verb) && !EBB_HAS_SIMULATOR) continue;
      for (const std::string& line : lines) {
        if (line.find("$GROUP") != std::string::npos && group().empty()) continue;
        std::string words = verb;
        words += " " + line;
        SCOPED_TRACE(words);
        look("timeout 120 $EBB " + words);
      }
    }
  }

  support::TemporaryDirectory folder_;
  std::string db_ = folder_ / "runs.db";
  std::string page_ = folder_ / "page.html";
};

TEST_F(EveryVerb, HasItsLinesHere) {
  std::set<std::string> answers;
  for (const auto& [verb, lines] : kAnswers)
    answers.insert(verb);
  EXPECT_EQ(answers, all_verbs());
  std::set<std::string> pages;
  for (const std::string& verb : all_verbs())
    if (help_of(verb).find("\n  --html ") != std::string::npos) pages.insert(verb);
  std::set<std::string> given;
  for (const auto& [verb, lines] : kPages)
    given.insert(verb);
  EXPECT_EQ(given, pages);
}

TEST_F(EveryVerb, SaysInOneLineThatStdoutIsFull) {
  const auto look = [&](const std::string& command) {
    expect_one_line(in_shell(command + " > /dev/full"), 1,
                    "cannot write the answer to stdout: No space left on device");
  };
  for_each(kAnswers, look);
  for (const std::string& verb : all_verbs()) {
    SCOPED_TRACE(verb + " --help");
    look("timeout 120 $EBB " + verb + " --help");
  }
}

TEST_F(EveryVerb, WritesItsPageThroughALinkIntoAFileThatKeepsItsMode) {
  for_each(kPages, [&](const std::string& command) {
    std::filesystem::remove(page_);
    const std::string target = folder_.write("target.html", "old");
    ASSERT_EQ(::chmod(target.c_str(), 0600), 0);
    ASSERT_EQ(::symlink("target.html", page_.c_str()), 0);
    const Finished done = in_shell(command + " --html $PAGE");
    EXPECT_EQ(done.status, 0) << done.error;
    EXPECT_TRUE(S_ISLNK(mode_of(page_)));
    EXPECT_EQ(mode_of(target) & 07777, 0600U);
    EXPECT_TRUE(is_page(*base::read_file(target)));
  });
}

TEST_F(EveryVerb, WritesItsPageToAFifoThatSomebodyReads) {
  ASSERT_EQ(::mkfifo(page_.c_str(), 0600), 0);
  for_each(kPages, [&](const std::string& command) {
    const std::string got = folder_ / "got.html";
    support::Subprocess reader({"sh", "-c", "cat \"$0\" > \"$1\"", page_, got});
    // Until the reader has opened it, it is refused.
    Finished done;
    do {
      done = in_shell(command + " --html $PAGE > /dev/null");
    } while (done.status == 2);
    ASSERT_EQ(done.status, 0) << done.error;
    EXPECT_EQ(reader.wait(), 0);
    EXPECT_TRUE(is_page(*base::read_file(got)));
    EXPECT_TRUE(S_ISFIFO(mode_of(page_)));
  });
}

TEST_F(EveryVerb, RefusesAFifoThatNobodyReads) {
  ASSERT_EQ(::mkfifo(page_.c_str(), 0600), 0);
  for_each(kPages, [&](const std::string& command) {
    expect_one_line(in_shell(command + " --html $PAGE > /dev/null"), 2,
                    "page.html: a FIFO that nobody reads");
    EXPECT_TRUE(S_ISFIFO(mode_of(page_)));
  });
}

}  // namespace
}  // namespace ebb
