// SPDX-License-Identifier: Apache-2.0
// Runs start scripts with real shells, in folders that imitate those of distributions.
#include "keep/start_script.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb::keep {
namespace {

using support::Finished;

constexpr const char* kOptIn = "NVFLARE_ENABLE_JEMALLOC_PRELOAD";
constexpr const char* kShow =
    "printf '%s|%s|%s' \"$LD_PRELOAD\" \"$MALLOC_CONF\" \"$MALLOC_ARENA_MAX\"";
constexpr const char* kSettings = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";

class StartScript : public testing::TestWithParam<const char*> {
 protected:
  /// Starts a shell that shows its environment, on a machine with that name. What is imitated
  /// cannot be loaded: the loader says so on stderr and goes on.
  Finished start(const std::string& script, support::Subprocess::Environment environment = {}) {
    const std::string uname = root_.write("bin/uname", "#!/bin/sh\necho " + machine_ + "\n");
    std::filesystem::permissions(uname, std::filesystem::perms::owner_all);
    const std::string path = root_.write("start.sh", script);
    environment.emplace_back("EBB_PRELOAD_ROOT", root_.path());
    environment.emplace_back("PATH", root_.path() + "/bin:/usr/bin:/bin");
    return support::run({GetParam(), path, "sh", "-c", kShow}, environment);
  }

  support::TemporaryDirectory root_;
  std::string machine_ = "x86_64";
};

TEST_P(StartScript, FindsTheLibraryOfEachDistribution) {
  const std::string script = start_script(Role::server, JemallocUse::by_opt_in, std::nullopt);
  for (const auto& [machine, path] : std::vector<std::pair<std::string, std::string>>{
           {"x86_64", "/usr/local/lib/libjemalloc.so"},
           {"x86_64", "/usr/lib/libjemalloc.so.2"},                     // Alpine
           {"x86_64", "/usr/lib64/libjemalloc.so.2"},                   // Red Hat
           {"x86_64", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"},    // Debian
           {"aarch64", "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2"},  // Debian
           {"x86_64", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"}}) {
    machine_ = machine;
    root_.write(path.substr(1), "");
    const Finished shown = start(script, {{kOptIn, "true"}});
    EXPECT_EQ(shown.status, 0) << shown.error;
    EXPECT_EQ(shown.output, root_.path() + path + "|" + kSettings + "|4") << path;
    EXPECT_EQ(shown.error.find("Using jemalloc: " + root_.path() + path + "\n"), 0U) << shown.error;
  }
}

TEST_P(StartScript, WithoutTheLibraryTheJobStartsAndIsToldHowToInstallIt) {
  root_.write("usr/lib/sparc64-linux-gnu/libjemalloc.so.2", "");
  const Finished shown =
      start(start_script(Role::client, JemallocUse::by_opt_in, std::nullopt), {{kOptIn, "true"}});
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.output, "||2");
  EXPECT_EQ(shown.error,
            "jemalloc is not installed: apt install libjemalloc2, dnf install jemalloc or apk add "
            "jemalloc; the job starts without it\n");
}

TEST_P(StartScript, WithoutTheOptInNothingIsPreloaded) {
  root_.write("usr/lib64/libjemalloc.so.2", "");
  const std::string script = start_script(Role::server, JemallocUse::by_opt_in, 8);
  EXPECT_EQ(start(script).output, "||8");
  EXPECT_EQ(start(script, {{kOptIn, "1"}}).output, "||8") << "that word and no other";
  const std::string always = start_script(Role::server, JemallocUse::always, std::nullopt);
  EXPECT_NE(start(always).error.find("Using jemalloc: "), std::string::npos);
}

TEST_P(StartScript, WhatTheUserHasSetStays) {
  root_.write("usr/lib64/libjemalloc.so.2", "");
  const Finished shown =
      start(start_script(Role::server, JemallocUse::always, std::nullopt),
            {{"LD_PRELOAD", "/a.so:/b.so"}, {"MALLOC_CONF", "mine"}, {"MALLOC_ARENA_MAX", "3"}});
  EXPECT_TRUE(
      shown.output.ends_with("/a.so:/b.so:" + root_.path() + "/usr/lib64/libjemalloc.so.2|mine|3"))
      << shown.output;
}

TEST_P(StartScript, HandsOnArgumentsAndStatus) {
  const std::string path =
      root_.write("start.sh", start_script(Role::trainer, JemallocUse::by_opt_in, {}));
  const Finished shown =
      support::run({GetParam(), path, "sh", "-c", "printf '%s' \"$1\"; exit 7", "sh", "a  b"});
  EXPECT_EQ(shown.output, "a  b");
  EXPECT_EQ(shown.status, 7);
  const Finished none = support::run({GetParam(), path});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.error, "usage: " + path + " COMMAND [ARGUMENT...]\n");
}

INSTANTIATE_TEST_SUITE_P(Shells, StartScript, testing::Values("dash", "bash"));

}  // namespace
}  // namespace ebb::keep
