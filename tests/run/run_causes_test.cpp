// SPDX-License-Identifier: Apache-2.0
// ebb run --sites: programs whose memory grows for one known reason, or does not, in C++ and in
// Python.
#include <cstdio>
#include <memory>

#include "heap/installed.h"
#include "run/causes.h"
#include "run/sites_fixture.h"

namespace ebb::run {
namespace {

using support::Subprocess;

class Causes : public Sites {
 protected:
  struct Running {
    const Cause* cause;
    std::string db;
    std::string stop;
    std::unique_ptr<Subprocess> child;
  };

  Running start(const Cause& cause, heap::AllocatorKind allocator) const {
    const std::string name = cause.name + (cause.is_python ? "-py" : "-cpp");
    Running one{&cause, folder_ / (name + ".db"), folder_ / (name + ".stop"), nullptr};
    std::filesystem::remove(one.stop);
    std::filesystem::remove(one.db);
    Words words = {EBB_PROGRAM, "run",    "--sites",  "--quiet",    "--db",
                   one.db,      "--name", cause.name, "--interval", "200ms"};
    if (allocator != heap::AllocatorKind::glibc)
      words.insert(words.end(), {"--allocator", heap::name_of(allocator)});
    words.emplace_back("--");
    if (cause.is_python) words.insert(words.end(), {"/usr/bin/python3", EBB_CAUSES_PY});
    if (!cause.is_python) words.emplace_back(EBB_CAUSES);
    words.insert(words.end(), {cause.name, one.stop});
    one.child = std::make_unique<Subprocess>(words);
    return one;
  }

  Json report_of(const Running& one) const {
    const Finished done = support::run({EBB_PROGRAM, "report", "--json", "--db", one.db});
    return base::parse_json(done.output).value_or({});
  }

  /// Whether the report can be judged: it is about a minute and a half, and sure of itself.
  static bool is_ripe(const Json& report) {
    const Json* evidence = report.find("evidence");
    const Json* seconds = evidence != nullptr ? evidence->find("observed_seconds") : nullptr;
    return seconds != nullptr && seconds->as_double().value_or(0) >= 90;
  }

  static bool is_right(const Cause& cause, const Json& report) {
    return text(report, "verdict") == cause.verdict &&
           (cause.place.empty() ? grower(report).empty() : grower(report).starts_with(cause.place));
  }

  /// Goes on until the report is right, and stays so for a while: on a busy machine a job does less
  /// in its time, and at first the growth of a site may be told and not told again.
  void check(Running& one, const std::string& allocator) const {
    constexpr int kStays = 5;
    constexpr int kPatienceSeconds = 600;
    Json report;
    for (int i = 0, right = 0; i < kPatienceSeconds && right < kStays; i += 2) {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      report = report_of(one);
      right = is_ripe(report) && is_right(*one.cause, report) ? right + 1 : 0;
    }
    folder_.write(std::filesystem::path(one.stop).filename().string(), "");
    EXPECT_EQ(one.child->wait(), 0);
    const std::string language = one.cause->language();
    const std::string place = grower(report);
    SCOPED_TRACE(language + " " + one.cause->name + ", " + place);
    EXPECT_EQ(text(report, "verdict"), one.cause->verdict);
    EXPECT_TRUE(one.cause->place.empty() ? place.empty() : place.starts_with(one.cause->place));
    std::printf("| %-6s | %-13s | %-8s | %-17s | %s |\n", language.c_str(), one.cause->name.c_str(),
                allocator.c_str(), text(report, "verdict").c_str(),
                place.empty() ? "-" : place.c_str());
  }

  void check_all(heap::AllocatorKind allocator) const {
    constexpr std::size_t kSideBySide = 9;
    std::vector<Running> running;
    const auto finish = [&] {
      for (Running& one : running)
        check(one, heap::name_of(allocator));
      running.clear();
    };
    for (const Cause& cause : causes()) {
      if (allocator == heap::AllocatorKind::jemalloc && cause.on_jemalloc == "-") continue;
      running.push_back(start(cause, allocator));
      if (running.size() == kSideBySide) finish();
    }
    finish();
  }
};

TEST_F(Causes, AreFoundOnGlibc) {
  check_all(heap::AllocatorKind::glibc);
}

TEST_F(Causes, AreFoundOnJemalloc) {
  ASSERT_TRUE(heap::find_installed(heap::AllocatorKind::jemalloc));
  check_all(heap::AllocatorKind::jemalloc);
}

}  // namespace
}  // namespace ebb::run
