// SPDX-License-Identifier: Apache-2.0
// Jobs whose memory is known, on every real allocator, and what `ebb doctor` says about their runs.
#include <cstdio>
#include <memory>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "heap/installed.h"
#include "run/run_fixture.h"
#include "support/effort.h"

namespace ebb::run {
namespace {

using support::Subprocess;

struct Case {
  std::string allocator;
  std::vector<std::string> job;  ///< words after the program
  std::string verdict;
  std::vector<std::string> also;  ///< verdicts beside it
  std::string program = EBB_JOB;
  std::string seconds = "20";

  std::string name() const {
    std::string text = allocator + (program == EBB_JOB ? " C++" : " Python");
    for (const std::string& word : job)
      text += " " + word;
    return text;
  }
  bool tells_live() const { return allocator != "mimalloc"; }
};

std::vector<Case> cases_on(const std::string& allocator) {
  // Where pages are purged by the clock, level memory moves by some MiB for a while.
  const std::string until_level = allocator == "glibc" ? "45" : "75";
  std::vector<Case> cases = {
      {allocator, {"neither"}, "healthy", {}, EBB_JOB, until_level},
      {allocator, {"workers"}, "healthy", {}, EBB_JOB, "45"},
      {allocator, {"leak", "rounds"}, "leak", {}},
      {allocator, {"retain", "rounds"}, "retention", {}},
      {allocator, {"leak", "retain", "rounds"}, "leak", {"retention"}, EBB_JOB, "35"},
      {allocator, {"workers", "worker-leaks"}, "leak", {}},
      {allocator, {"leak", "rounds"}, "leak", {}, EBB_JOB_PY},
  };
  if (allocator != "glibc") return cases;
  cases.push_back({allocator, {"cache"}, "healthy", {}, EBB_JOB, "45"});
  cases.push_back({allocator, {"file"}, "file_cache", {}});
  cases.push_back({allocator, {"retain", "rounds"}, "retention", {}, EBB_JOB_PY});
  cases.push_back({allocator, {"leak", "retain", "rounds"}, "leak", {"retention"}, EBB_JOB_PY});
  cases.push_back({allocator, {"neither"}, "healthy", {}, EBB_JOB_PY, "45"});
  cases.push_back({allocator, {"small", "rounds"}, "foreign", {}, EBB_JOB_PY});
  return cases;
}

/// The allocator as a user would preload it, without the settings that make it give back.
std::string preload_of(const std::string& allocator) {
  if (allocator == "glibc") return {};
  const auto installed = heap::find_installed(*heap::allocator_kind_from(allocator));
  EXPECT_TRUE(installed) << installed.error().message;
  return installed ? installed->path : "";
}

/// What follows from the evidence: an observation of less than a minute is never sure, and neither
/// is one without live bytes, but for what the kernel tells. A busy machine may leave too few
/// readings of live bytes for a slope, of retained bytes too, and holes in those of a longer job.
std::set<std::string> confidences_of(const std::string& verdict, const base::Json& evidence) {
  const bool is_long = *evidence.find("observed_seconds")->as_double() >= 60;
  const bool from_kernel = verdict == "healthy" || verdict == "file_cache";
  const auto is_unknown = [&](const char* slope) { return evidence.find(slope)->is_null(); };
  if (is_unknown("live_slope_bytes_per_hour")) return {is_long && from_kernel ? "medium" : "low"};
  std::set<std::string> fitting{"medium"};
  if (is_long && verdict == "healthy") return {"high"};
  if (is_long) fitting.insert("high");
  if (verdict == "retention" && is_unknown("retained_slope_bytes_per_hour")) fitting.insert("low");
  return fitting;
}

class Verdicts : public EbbRun {
 protected:
  /// Jobs sleep most of the time: all of one allocator run side by side, each with its own record.
  std::string db_of(const Case& one) const { return folder_ / (one.name() + ".db"); }

  std::unique_ptr<Subprocess> start(const Case& one) const {
    std::vector<std::string> words = {EBB_PROGRAM,  "run",   "--quiet", "--db",     db_of(one),
                                      "--interval", "100ms", "--",      one.program};
    if (one.program == EBB_JOB_PY) words.insert(words.end() - 1, "/usr/bin/python3");
    words.push_back(one.seconds);
    words.insert(words.end(), one.job.begin(), one.job.end());
    return std::make_unique<Subprocess>(
        words, Subprocess::Environment{{"LD_PRELOAD", preload_of(one.allocator)}});
  }

  support::Finished diagnosed(const Case& one) const {
    return support::run({EBB_PROGRAM, "doctor", "last", "--db", db_of(one), "--json"});
  }

  /// On a machine that is too busy a job does too little in its time. The doctor then says that it
  /// is not sure and asks for a longer run, which it gets; it is never let off with that answer.
  support::Finished diagnosed_in_the_end(Case one) const {
    support::Finished done = diagnosed(one);
    const auto is_unsure = [&] {
      return done.output.find("\"not_enough_data\"") != std::string::npos ||
             done.output.find("live bytes cannot be judged yet") != std::string::npos;
    };
    for (int again = 0; again < 3 && is_unsure(); ++again) {
      one.seconds = std::to_string(2 * std::stoi(one.seconds));
      EXPECT_EQ(start(one)->wait(), 0);
      done = diagnosed(one);
    }
    return done;
  }

  void check(const Case& one) const {
    SCOPED_TRACE(one.name());
    const support::Finished done = diagnosed_in_the_end(one);
    ASSERT_EQ(done.status, 0) << done.error;
    const auto json = base::parse_json(done.output);
    ASSERT_TRUE(json) << done.output;
    const std::string verdict = *json->find("verdict")->as_string();
    const std::string confidence = *json->find("confidence")->as_string();
    const base::Json& evidence = *json->find("evidence");
    std::vector<std::string> also;
    std::string text;
    for (const base::Json& another : *json->find("also")->as_array()) {
      also.push_back(*another.as_string());
      text += (text.empty() ? "" : " ") + also.back();
    }
    EXPECT_EQ(verdict, one.verdict) << done.output;
    EXPECT_EQ(also, one.also) << done.output;
    EXPECT_EQ(confidences_of(one.verdict, evidence).count(confidence), 1U)
        << confidence << ": " << done.output;
    EXPECT_NE(evidence.find("live_bytes")->is_null(), one.tells_live()) << done.output;
    std::printf("| %-34s | %-10s | %-9s | %-6s |\n", one.name().c_str(), verdict.c_str(),
                text.c_str(), confidence.c_str());
  }
};

TEST_F(Verdicts, AreRight) {
  const char* allocators = support::is_thorough() ? "glibc jemalloc tcmalloc mimalloc" : "glibc";
  for (const std::string_view allocator : base::split(allocators, ' ')) {
    const std::vector<Case> cases = cases_on(std::string(allocator));
    std::vector<std::unique_ptr<Subprocess>> running;
    for (const Case& one : cases)
      running.push_back(start(one));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(running[i]->wait(), 0)
          << cases[i].name() << ": " << running[i]->read_rest_of_error();
      check(cases[i]);
    }
  }
}

}  // namespace
}  // namespace ebb::run
