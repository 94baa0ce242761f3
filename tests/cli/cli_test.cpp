// SPDX-License-Identifier: Apache-2.0
// The real program, run as a user runs it.
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/run_ebb.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb {
namespace {

using cli_test::ebb;
using cli_test::expect_one_line;
using support::Finished;
using support::run;

TEST(EbbInfo, PrintsATableForPeople) {
  const Finished shown = ebb({"info"});
  EXPECT_EQ(shown.status, 0);
  for (const char* word : {"allocator", "rss", "live", "retained", "unexplained", "limit", "gpus"})
    EXPECT_NE(shown.output.find(word), std::string::npos) << word;
  EXPECT_EQ(shown.output.find('\033'), std::string::npos) << "no colours into a pipe";
}

TEST(EbbInfo, PrintsOneJsonObject) {
  const Finished shown = ebb({"info", "--json"});
  ASSERT_EQ(shown.status, 0) << shown.error;
  const auto json = base::parse_json(shown.output);
  ASSERT_TRUE(json) << json.error().message;
  for (const char* key :
       {"allocator", "rss_bytes", "live_bytes", "retained_bytes", "limit_bytes", "percent", "gpus"})
    EXPECT_NE(json->find(key), nullptr) << key;
}

/// The parts of a ledger that are known, together.
std::uint64_t sum_of_parts(const base::Json& ledger) {
  std::uint64_t sum = 0;
  for (const auto& [key, value] : *ledger.as_object())
    if (key.ends_with("_bytes") && key != "total_bytes")
      sum += static_cast<std::uint64_t>(value.as_int().value_or(0));
  return sum;
}

TEST(EbbInfo, TheLedgerAddsUpInsideAndByPid) {
  support::Subprocess job({"/bin/cat"});
  ASSERT_EQ(write(job.input(), "x\n", 2), 2);
  ASSERT_EQ(job.read_line(), "x");
  for (const Finished& shown :
       {ebb({"info", "--json"}), ebb({"info", "--json", "--pid", std::to_string(job.pid())})}) {
    const auto json = base::parse_json(shown.output);
    ASSERT_TRUE(json) << shown.error;
    const base::Json* ledger = json->find("ledger");
    ASSERT_NE(ledger, nullptr);
    const auto total = ledger->find("total_bytes")->as_int();
    ASSERT_TRUE(total && *total > 0) << ledger->text();
    EXPECT_EQ(sum_of_parts(*ledger), static_cast<std::uint64_t>(*total)) << ledger->text();
    EXPECT_TRUE(ledger->find("pinned_bytes")->is_null()) << "it does not use CUDA";
    EXPECT_GT(ledger->find("stacks_bytes")->as_int().value_or(0), 0) << ledger->text();
  }
}

TEST(EbbInfo, TakesTheNumberOfAProcessAsItIs) {
  const std::string pid = std::to_string(::getpid());
  const base::Json json = cli_test::json_of({"info", pid, "--json"});
  ASSERT_NE(json.find("pid"), nullptr);
  EXPECT_EQ(json.find("pid")->as_int(), ::getpid());
  cli_test::expect_one_line(ebb({"info", "none"}), 2, "process 'none': expected the number");
  cli_test::expect_one_line(ebb({"info", pid, "--pid", pid}), 2, "expected one of the two");
}

TEST(EbbInfo, TellsVirtualMemoryCpuAndFragmentation) {
  const base::Json json = cli_test::json_of({"info", "--json"});
  const auto bytes = [&](const char* key) { return json.find(key)->as_unsigned().value_or(0); };
  EXPECT_GE(bytes("virtual_bytes"), bytes("rss_bytes"));
  if (!json.find("virtual_peak_bytes")->is_null()) {
    EXPECT_GE(bytes("virtual_peak_bytes"), bytes("virtual_bytes"));
  }
  EXPECT_GT(bytes("data_bytes"), 0U);
  EXPECT_GE(json.find("fragmentation_ratio")->as_double().value_or(0), 1);
  EXPECT_GE(json.find("cpu_percent")->as_double().value_or(-1), 0);
  const double machine = json.find("machine_cpu_percent")->as_double().value_or(-1);
  EXPECT_TRUE(machine >= 0 && machine <= 100) << machine;
  const Finished shown = ebb({"info"});
  for (const char* words : {"virtual    ", "; data ", "resident for each that is live"})
    EXPECT_NE(shown.output.find(words), std::string::npos) << words << shown.output;
}

struct Preload {
  const char* library;
  const char* allocator;
};

class EbbInfoUnder : public testing::TestWithParam<Preload> {};

TEST_P(EbbInfoUnder, NamesTheAllocatorInsideAndByPid) {
  const support::Subprocess::Environment environment{{"LD_PRELOAD", GetParam().library}};
  const auto inside = base::parse_json(ebb({"info", "--json"}, environment).output);
  ASSERT_TRUE(inside);
  EXPECT_EQ(*inside->find("allocator")->as_string(), GetParam().allocator);
  EXPECT_EQ(inside->find("live_bytes")->is_null(), std::string(GetParam().allocator) == "mimalloc");

  support::Subprocess job({"/bin/cat"}, environment);
  // cat has its libraries once it answers.
  ASSERT_EQ(write(job.input(), "x\n", 2), 2);
  ASSERT_EQ(job.read_line(), "x");
  const Finished outside = ebb({"info", "--json", "--pid", std::to_string(job.pid())});
  ASSERT_EQ(outside.status, 0) << outside.error;
  const auto json = base::parse_json(outside.output);
  ASSERT_TRUE(json);
  EXPECT_EQ(*json->find("allocator")->as_string(), GetParam().allocator);
  EXPECT_EQ(json->find("pid")->as_int(), job.pid());
  EXPECT_TRUE(json->find("live_bytes")->is_null()) << "its allocator's secret";
}

INSTANTIATE_TEST_SUITE_P(RealAllocators, EbbInfoUnder,
                         testing::Values(Preload{"", "glibc"},
                                         Preload{"libjemalloc.so.2", "jemalloc"},
                                         Preload{"libtcmalloc_minimal.so.4", "tcmalloc"},
                                         Preload{"libmimalloc.so.2.0", "mimalloc"}));

TEST(EbbInfo, BadPidsGetOneLine) {
  expect_one_line(ebb({"info", "--pid", "4194304"}), 2, "no process with pid 4194304");
  for (const char* bad : {"0", "-1", "abc", "99999999999", ""})
    expect_one_line(ebb({"info", "--pid", bad}), 2, "");
}

TEST(EbbInfo, SomebodyElsesProcessIsNotAvailable) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to look as another user";
  support::Subprocess job({"/bin/cat"});
  expect_one_line(run({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", EBB_PROGRAM,
                       "info", "--pid", std::to_string(job.pid())}),
                  3, "belongs to somebody else");
}

TEST(EbbEnv, PrintsExportLinesThatAShellTakes) {
  const Finished shown = ebb({"env", "--role", "server"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_NE(shown.output.find("export MALLOC_ARENA_MAX=\"${MALLOC_ARENA_MAX:-4}\""),
            std::string::npos)
      << shown.output;
  EXPECT_NE(shown.output.find("# "), std::string::npos) << "with the reason";
}

TEST(EbbEnv, ItsEnvironmentReallyLoadsTheAllocator) {
  for (const char* allocator : {"jemalloc", "tcmalloc", "mimalloc"}) {
    const std::string script = std::string("eval \"$(") + EBB_PROGRAM +
                               " env --role client --allocator " + allocator + ")\" && " +
                               EBB_PROGRAM + " info --json";
    const Finished shown = run({"sh", "-c", script});
    const auto json = base::parse_json(shown.output);
    ASSERT_TRUE(json) << shown.error;
    EXPECT_EQ(*json->find("allocator")->as_string(), allocator);
  }
}

TEST(EbbEnv, ArenasCanBeChosen) {
  EXPECT_NE(ebb({"env", "--role", "server", "--arenas", "8"}).output.find("MALLOC_ARENA_MAX:-8"),
            std::string::npos);
  expect_one_line(ebb({"env", "--role", "server", "--arenas", "0"}), 2, "expected 1 to 4096");
  expect_one_line(ebb({"env", "--role", "server", "--arenas", "8", "--allocator", "jemalloc"}), 2,
                  "expected glibc");
}

TEST(EbbEnv, NvflaresVariableAsksForJemallocWhereNobodyNamesAnAllocator) {
  const support::Subprocess::Environment asks{{"NVFLARE_ENABLE_JEMALLOC_PRELOAD", "true"}};
  EXPECT_NE(ebb({"env", "--role", "server"}, asks).output.find("libjemalloc"), std::string::npos);
  EXPECT_EQ(ebb({"env", "--role", "server", "--allocator", "glibc"}, asks).output.find("jemalloc"),
            std::string::npos);
  EXPECT_EQ(ebb({"env", "--role", "server"}, {{"NVFLARE_ENABLE_JEMALLOC_PRELOAD", "TRUE"}})
                .output.find("jemalloc"),
            std::string::npos);
  const auto dry = base::parse_json(
      ebb({"run", "--dry-run", "--json", "--no-record", "--", "/bin/true"}, asks).output);
  ASSERT_TRUE(dry);
  EXPECT_NE(dry->text().find("libjemalloc"), std::string::npos) << dry->text();
  EXPECT_EQ(ebb({"run", "--dry-run", "--no-record", "--allocator", "keep", "--", "/bin/true"}, asks)
                .output.find("libjemalloc"),
            std::string::npos);
}

TEST(EbbEnv, ItsScriptReallyStartsAJobOnJemalloc) {
  const std::string script = std::string(EBB_PROGRAM) +
                             " env --role client --shell script > \"$0\" && sh \"$0\" " +
                             EBB_PROGRAM + " info --json";
  const support::TemporaryDirectory folder;
  const Finished shown =
      run({"sh", "-c", script, folder / "start.sh"}, {{"NVFLARE_ENABLE_JEMALLOC_PRELOAD", "true"}});
  const auto json = base::parse_json(shown.output);
  ASSERT_TRUE(json) << shown.output << shown.error;
  EXPECT_EQ(*json->find("allocator")->as_string(), "jemalloc");
  expect_one_line(ebb({"env", "--role", "client", "--shell", "script", "--allocator", "mimalloc"}),
                  2, "expected glibc or jemalloc");
  expect_one_line(ebb({"env", "--role", "client", "--shell", "script", "--json"}), 2,
                  "expected one of the two");
}

TEST(EbbEnv, BadWordsGetOneLine) {
  expect_one_line(ebb({"env", "--role", "chef"}), 2, "unknown role 'chef'");
  expect_one_line(ebb({"env"}), 2, "--role is required");
  expect_one_line(ebb({"env", "--role", "client", "--allocator", "tcmaloc"}), 2,
                  "unknown allocator");
  expect_one_line(ebb({"env", "--role", "client", "--shell", "csh"}), 2, "unknown shell");
}

TEST(Ebb, HelpsAndGuesses) {
  EXPECT_NE(ebb({"--help"}).output.find("Examples:"), std::string::npos);
  EXPECT_NE(ebb({"info", "--help"}).output.find("Examples:"), std::string::npos);
  EXPECT_NE(ebb({"env", "--help"}).output.find("Examples:"), std::string::npos);
  EXPECT_EQ(ebb({"--version"}).output.find("ebb "), 0U);
  expect_one_line(ebb({"inof"}), 2, "did you mean info?");
  expect_one_line(ebb({"info", "--bogus"}), 2, "--bogus");
  expect_one_line(ebb({"--bogus"}), 2, "--bogus");
}

}  // namespace
}  // namespace ebb
