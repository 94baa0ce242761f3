// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "support/subprocess.h"

// The program ebb as a user runs it, and what is expected of every verb.

namespace ebb::cli_test {

using support::Finished;

inline Finished ebb(std::vector<std::string> words,
                    const support::Subprocess::Environment& extra = {}) {
  words.insert(words.begin(), EBB_PROGRAM);
  return support::run(words, extra);
}

/// What the program printed as JSON; null, and a failed test, if that is not what it did.
inline base::Json json_of(const std::vector<std::string>& words) {
  const Finished finished = ebb(words);
  EXPECT_EQ(finished.status, 0) << finished.error;
  auto json = base::parse_json(finished.output);
  EXPECT_TRUE(json) << finished.output.substr(0, 200);
  return json ? *json : base::Json();
}

/// One line on stderr that names `part`, nothing on stdout, and the status.
inline void expect_one_line(const Finished& finished, int status, const std::string& part) {
  EXPECT_EQ(finished.status, status) << finished.error;
  EXPECT_EQ(finished.output, "");
  EXPECT_TRUE(finished.error.starts_with("ebb: ")) << finished.error;
  EXPECT_EQ(finished.error.find('\n'), finished.error.size() - 1) << finished.error;
  EXPECT_NE(finished.error.find(part), std::string::npos) << finished.error;
}

inline mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode;
}

inline bool is_page(const std::string& text) {
  return text.starts_with("<!doctype html>") && text.ends_with("</html>\n");
}

}  // namespace ebb::cli_test
