// SPDX-License-Identifier: Apache-2.0
// Names and commands that others chose: bytes that are no text.
#include <algorithm>

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
  /// A run of a program that is called `program`, which ends at once.
  void record(const std::string& name, const std::string& program, const std::string& argument) {
    program_ = folder_ / program;
    std::filesystem::create_symlink("/bin/sh", program_);
    const Finished run =
        ebb({"run", "--db", db_, "--name", name, "--", program_, "-c", ":", argument});
    ASSERT_EQ(run.status, 0) << run.error;
    said_ = run.error;
  }

  support::TemporaryDirectory folder_;
  std::string db_ = folder_ / "runs.db";
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
  EXPECT_EQ(*process.find("command")->as_string(), program_ + " -c : a\xFD");
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

}  // namespace
}  // namespace ebb
