// SPDX-License-Identifier: Apache-2.0
// What `ebb report` writes for other tools, in these tools: go tool pprof, and inferno's flame
// graph.
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "run/sites_fixture.h"

namespace ebb::run {
namespace {

class SiteTools : public Sites {
 protected:
  /// Of a leak in C and in Python, one run each.
  struct Case {
    Words job;
    const char* place;     ///< as Ebb calls it
    const char* function;  ///< as pprof does
    const char* file;
    const char* line;
  };
  static std::vector<Case> cases() {
    return {{{EBB_LEAKS_C, "2"}, "leaks.c:27 parse_input", "parse_input", "leaks.c", ":27"},
            {{"/usr/bin/python3", EBB_LEAKS_PY, "1"},
             "leaks.py:13 load_batch",
             "load_batch",
             "leaks.py",
             ":13"}};
  }

  /// Runs the job and writes both files; the bytes of all stacks together.
  std::uint64_t write_files(const Words& job) const {
    report_of_leak({}, job);
    const Finished written = support::run({EBB_PROGRAM, "report", "--db", db(), "--collapsed",
                                           folder_ / "stacks", "--pprof", folder_ / "profile"});
    EXPECT_EQ(written.status, 0) << written.error;
    std::uint64_t bytes = 0;
    const std::string stacks = base::read_file(folder_ / "stacks").value_or("");
    for (const std::string_view line : base::split(stacks, '\n'))
      bytes += base::parse_unsigned(line.substr(line.rfind(' ') + 1)).value_or(0);
    EXPECT_GT(bytes, 1U << 20) << stacks;
    return bytes;
  }

  /// The line of a text that has all of these.
  static std::string line_with(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string_view line : base::split(text, '\n')) {
      bool has_all = true;
      for (const std::string& part : parts)
        has_all = has_all && line.find(part) != std::string_view::npos;
      if (has_all) return std::string(line);
    }
    return {};
  }
};

TEST_F(SiteTools, GoToolPprofReadsTheProfile) {
  if (support::run({"sh", "-c", "command -v go"}).status != 0)
    GTEST_SKIP() << "no go here: scripts/setup long installs it";
  for (const Case& one : cases()) {
    const std::uint64_t bytes = write_files(one.job);
    const Finished top =
        support::run({"go", "tool", "pprof", "-top", "-lines", "-unit=B", folder_ / "profile"},
                     {{"HOME", folder_.path()}, {"PPROF_TMPDIR", folder_.path()}});
    EXPECT_EQ(top.status, 0) << top.error;
    EXPECT_NE(top.output.find("Type: live\n"), std::string::npos) << top.output;
    EXPECT_NE(top.output.find(" of " + std::to_string(bytes) + "B total"), std::string::npos)
        << top.output << bytes;
    const std::string line =
        line_with(top.output, {one.function, std::string(one.file) + one.line});
    EXPECT_NE(line, "") << top.output;
    const Finished growth = support::run(
        {"go", "tool", "pprof", "-top", "-sample_index=growth_per_hour", folder_ / "profile"},
        {{"HOME", folder_.path()}, {"PPROF_TMPDIR", folder_.path()}});
    EXPECT_EQ(growth.status, 0) << growth.error;
    EXPECT_NE(line_with(growth.output, {one.function}), "") << growth.output;
    std::printf("%s\n", line.c_str());
  }
}

TEST_F(SiteTools, InfernoDrawsTheCollapsedStacks) {
  const Finished found = support::run({EBB_INFERNO_SH});
  if (found.status != 0) GTEST_SKIP() << "no inferno here: " << found.error;
  const std::string inferno = found.output.substr(0, found.output.find('\n'));
  for (const Case& one : cases()) {
    const std::uint64_t bytes = write_files(one.job);
    const Finished drawn = support::run({inferno, "--countname", "bytes", folder_ / "stacks"});
    EXPECT_EQ(drawn.status, 0) << drawn.error;
    EXPECT_EQ(drawn.error, "") << "no line was ignored";
    EXPECT_NE(drawn.output.find("</svg>"), std::string::npos) << drawn.output;
    const std::string title = line_with(drawn.output, {"<title>" + std::string(one.place) + " ("});
    EXPECT_NE(title, "") << drawn.output;
    std::string total = std::to_string(bytes);  // and then "12,345,678"
    for (std::size_t at = total.size(); at > 3; at -= 3)
      total.insert(at - 3, ",");
    EXPECT_NE(drawn.output.find("<title>all (" + total + " bytes, 100%)"), std::string::npos)
        << total;
  }
}

}  // namespace
}  // namespace ebb::run
