// SPDX-License-Identifier: Apache-2.0
// Forked workers of real programs: what they copy is called by its name, and nothing else is.
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/json.h"
#include "run/run_fixture.h"
#include "support/effort.h"

namespace ebb::run {
namespace {

using support::Subprocess;

struct Case {
  const char* kind;     ///< of programs/forked.py
  const char* verdict;  ///< null: whatever its start-up looks like, but no copies
  bool is_quick;        ///< part of every run of the tests

  /// On a busy machine "not enough data" is a good answer where nothing is wrong.
  bool must_be_found() const {
    return verdict != nullptr && std::string_view(verdict) != "healthy";
  }
};

const Case kCases[] = {
    {"objects", "copy_on_write", false},       {"array", "healthy", true},
    {"collect", "copy_on_write", false},       {"collect-frozen", "healthy", false},
    {"loader-objects", "copy_on_write", true}, {"loader-tensor", "healthy", false},
    {"loader-spawn", nullptr, false},          {"leak", "leak", true},
};

std::vector<Case> cases() {
  std::vector<Case> chosen;
  for (const Case& one : kCases)
    if (one.is_quick || support::is_thorough()) chosen.push_back(one);
  return chosen;
}

class CopyOnWrite : public EbbRun {
 protected:
  std::string db_of(const Case& one) const { return folder_ / (std::string(one.kind) + ".db"); }

  std::unique_ptr<Subprocess> start(const Case& one, int seconds) const {
    return std::make_unique<Subprocess>(std::vector<std::string>{
        EBB_PROGRAM, "run", "--quiet", "--db", db_of(one), "--", "/usr/bin/python3", EBB_FORKED_PY,
        one.kind, std::to_string(seconds)});
  }

  base::Json report_of(const Case& one) const {
    const support::Finished done =
        support::run({EBB_PROGRAM, "report", "last", "--db", db_of(one), "--json"});
    EXPECT_EQ(done.status, 0) << done.error;
    return base::parse_json(done.output).value_or({});
  }

  /// In its time a job on a busy machine may do too little to show anything: it gets more.
  base::Json report_in_the_end(const Case& one) const {
    base::Json report = report_of(one);
    for (int seconds = 2 * kSeconds; seconds <= 8 * kSeconds; seconds *= 2) {
      const std::string verdict = *report.find("verdict")->as_string();
      const bool shows_nothing = verdict == "not_enough_data" || verdict == "healthy";
      if (!shows_nothing || !one.must_be_found()) break;
      EXPECT_EQ(start(one, seconds)->wait(), 0);
      report = report_of(one);
    }
    return report;
  }

  static constexpr int kSeconds = 15;
};

double bytes(const base::Json& evidence, const char* key) {
  return evidence.find(key)->as_double().value_or(0);
}

TEST_F(CopyOnWrite, IsTheVerdictWhereForkedWorkersCopyAndNowhereElse) {
  std::vector<std::unique_ptr<Subprocess>> running;
  const std::vector<Case> all = cases();
  for (const Case& one : all)
    running.push_back(start(one, kSeconds));
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].kind);
    ASSERT_EQ(running[i]->wait(), 0) << running[i]->read_rest_of_error();
    const base::Json report = report_in_the_end(all[i]);
    const std::string verdict = *report.find("verdict")->as_string();
    const base::Json& found = *report.find("evidence")->find("copy_on_write");
    if (all[i].must_be_found()) {
      EXPECT_EQ(verdict, all[i].verdict) << report.text();
    } else if (all[i].verdict != nullptr) {
      EXPECT_TRUE(verdict == all[i].verdict || verdict == "not_enough_data") << report.text();
    } else {
      EXPECT_NE(verdict, "copy_on_write") << report.text();
      EXPECT_TRUE(found.is_null()) << found.text();
    }
    std::printf("| %-14s | %-13s | %s\n", all[i].kind, verdict.c_str(), found.text().c_str());
    if (verdict != "copy_on_write") continue;
    const std::string fix = *report.find("fix")->find("text")->as_string();
    EXPECT_NE(fix.find("arrays (NumPy, torch tensors)"), std::string::npos) << fix;
    EXPECT_NE(fix.find("gc.freeze() before the fork"), std::string::npos) << fix;
    EXPECT_NE(fix.find("spawn"), std::string::npos) << fix;
    EXPECT_GE(bytes(found, "copied_bytes"), 32 << 20);
    EXPECT_GT(bytes(found, "still_shared_bytes"), 0);
    EXPECT_GT(bytes(found, "held_after_bytes"), bytes(found, "held_before_bytes"));
    EXPECT_EQ(found.find("processes")->as_array()->size(), 3U) << "two workers and their parent";
    const base::Json::Array& processes = *report.find("processes")->as_array();
    const auto parent = processes.front().find("pid")->as_int();  // the largest
    for (const base::Json& process : processes) {
      const bool is_worker = process.find("parent")->as_int() == parent;
      EXPECT_EQ(*process.find("verdict")->as_string() == "copy_on_write", is_worker)
          << process.text();
    }
  }
}

}  // namespace
}  // namespace ebb::run
