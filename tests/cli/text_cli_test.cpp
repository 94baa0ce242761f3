// SPDX-License-Identifier: Apache-2.0
// Names and commands that others chose: bytes that are no text, and text that terminals obey.
#include <algorithm>
#include <chrono>
#include <thread>

#include "base/file.h"
#include "base/utf8.h"
#include "cli/run_ebb.h"
#include "support/temporary_directory.h"

namespace ebb {
namespace {

using cli_test::ebb;
using support::Finished;

class OthersText : public testing::Test {
 protected:
  /// A run of a program that is called `program`, which ends once it is in the record.
  void record(const std::string& name, const std::string& program, const std::string& argument) {
    program_ = folder_ / program;
    std::filesystem::create_symlink("/bin/sh", program_);
    support::Subprocess run(
        {EBB_PROGRAM, "run", "--db", db_, "--name", name, "--", program_, "-c", script_, argument});
    for (int tries = 0; tries < 6000 && !is_seen(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const Finished done = support::finished(run);
    ASSERT_EQ(done.status, 0) << done.error;
    said_ = done.error;
  }

  bool is_seen() const {
    const auto report = base::parse_json(ebb({"report", "--db", db_, "--json"}).output);
    if (!report || report->find("processes")->as_array()->empty()) return false;
    const base::Json& process = report->find("processes")->as_array()->front();
    // Before it becomes that program it is a copy of ebb.
    return process.find("command")->as_string()->starts_with(folder_.path());
  }

  support::TemporaryDirectory folder_;
  std::string db_ = folder_ / "runs.db";
  const std::string script_ = "read line || :";  ///< until its input ends, in one process
  std::string program_;
  std::string said_;  ///< by the run, on stderr
};

/// The JSON of a verb; a failed test where it is no UTF-8.
base::Json utf8_json_of(const std::vector<std::string>& words) {
  const Finished finished = ebb(words);
  EXPECT_EQ(finished.status, 0) << finished.error;
  EXPECT_TRUE(base::is_utf8(finished.output)) << finished.output;
  const auto json = base::parse_json(finished.output);
  EXPECT_TRUE(json) << finished.output;
  return json ? *json : base::Json();
}

TEST_F(OthersText, BytesThatAreNoUtf8AreReplacedAndStandBesideAsBase64) {
  record("n\xFF", "job\xFE", "a\xFD");
  const Finished listed = ebb({"runs", "--db", db_, "--json"});
  EXPECT_NE(listed.output.find("\"name\":\"n\uFFFD\",\"name_base64\":\"bv8=\""), std::string::npos)
      << listed.output;
  EXPECT_NE(listed.output.find("\"command_base64\":["), std::string::npos) << listed.output;

  // Ebb's own reader takes the bytes for what they were.
  const base::Json runs = utf8_json_of({"runs", "--db", db_, "--json"});
  const base::Json& run = runs.find("runs")->as_array()->front();
  EXPECT_EQ(*run.find("name")->as_string(), "n\xFF");
  EXPECT_EQ(*run.find("command")->as_array()->at(0).as_string(), program_);
  EXPECT_EQ(*run.find("command")->as_array()->at(3).as_string(), "a\xFD");
  const base::Json report = utf8_json_of({"report", "n\xFF", "--db", db_, "--json"});
  const base::Json& process = report.find("processes")->as_array()->front();
  EXPECT_EQ(*process.find("command")->as_string(), program_ + " -c " + script_ + " a\xFD");
  utf8_json_of({"doctor", "n\xFF", "--db", db_, "--json"});
}

TEST_F(OthersText, ADryRunAndAPageAreUtf8Too) {
  const base::Json dry =
      utf8_json_of({"run", "--dry-run", "--json", "--db", db_, "--", "true", "a\xFD"});
  EXPECT_EQ(*dry.find("command")->as_array()->at(1).as_string(), "a\xFD");
  record("n\xFF", "job\xFE", "a\xFD");
  const std::string page = folder_ / "page.html";
  ASSERT_EQ(ebb({"report", "--db", db_, "--html", page}).status, 0);
  EXPECT_TRUE(base::is_utf8(*base::read_file(page)));
}

TEST_F(OthersText, NothingStandsBesideTextThatIsUtf8) {
  record("näme", "jöb", "€");
  for (const char* verb : {"runs", "report"})
    EXPECT_EQ(ebb({verb, "--db", db_, "--json"}).output.find("_base64"), std::string::npos) << verb;
}

/// Neither a control character but the ends of lines, nor a line that is too long for a terminal.
void expect_plain(const std::string& text) {
  EXPECT_TRUE(base::is_utf8(text)) << text;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_control =
        (byte < 0x20 && byte != '\n') || byte == 0x7F || text.substr(i, 2) == "\u009B";
    ASSERT_FALSE(is_control) << "byte " << i << " of\n" << text;
    if (byte != '\n') continue;
    EXPECT_LT(i - begin, 1000U) << text.substr(begin, 200);
    begin = i + 1;
  }
}

constexpr const char* kHostile = "\033[2J\033]0;x\007\nrun 9: fake\r\u009B1A\x9B\u202E";

TEST_F(OthersText, TerminalsObeyNothingOfItInAnyVerb) {
  const std::string name = kHostile + std::string(2000, 'n');
  record(name, "job\033[31m\n", kHostile);
  expect_plain(said_);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"runs"},
                                             {"runs", "--json"},
                                             {"report"},
                                             {"report", "--json"},
                                             {"doctor", "last"},
                                             {"report", kHostile},
                                             {"doctor", kHostile},
                                             {"runs", "rm", kHostile},
                                             {"report", "--html", folder_ / kHostile},
                                             {"run", "--dry-run", "--", "true", kHostile},
                                             {"run", "--", folder_ / kHostile}}) {
    std::vector<std::string> all = words;
    const auto dashes = std::find(all.begin(), all.end(), "--");
    all.insert(all.begin() + (dashes == all.end() ? 1 : dashes - all.begin()), {"--db", db_});
    const Finished finished = ebb(all);
    SCOPED_TRACE(words[0]);
    if (words.back() != "--json") expect_plain(finished.output);
    expect_plain(finished.error);
  }
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{kHostile},
                                             {"info", "--pid", kHostile},
                                             {"watch", kHostile},
                                             {"env", "--role", kHostile},
                                             {"replay", kHostile},
                                             {"tune", kHostile},
                                             {"plan", "transformer", kHostile}}) {
    const Finished finished = ebb(words);
    SCOPED_TRACE(words[0]);
    EXPECT_EQ(finished.status, 2);
    expect_plain(finished.output);
    expect_plain(finished.error);
    EXPECT_EQ(finished.error.find('\n'), finished.error.size() - 1) << finished.error;
  }
}

TEST_F(OthersText, ALongMessageIsCut) {
  const Finished finished = ebb({std::string(100'000, 'v')});
  EXPECT_EQ(finished.status, 2);
  EXPECT_LT(finished.error.size(), 2100U);
  EXPECT_TRUE(finished.error.ends_with("…\n"));
}

TEST_F(OthersText, ATableHasOneLineForEachRun) {
  record("a\nb", "job", "");
  const Finished listed = ebb({"runs", "--db", db_});
  EXPECT_EQ(std::count(listed.output.begin(), listed.output.end(), '\n'), 2) << listed.output;
}

}  // namespace
}  // namespace ebb
