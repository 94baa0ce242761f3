// SPDX-License-Identifier: Apache-2.0
#include "record/secrets.h"

#include <gtest/gtest.h>

namespace ebb::record {
namespace {

using Words = std::vector<std::string>;

TEST(Secrets, ValuesOfOptionsAreHidden) {
  for (const char* option : {"--password", "--token", "--secret", "--api-key", "--api_key",
                             "--hf-token", "--db-password", "-password", "--API-KEY"}) {
    EXPECT_EQ(without_secrets({"job", option, "hunter2", "--epochs", "3"}),
              (Words{"job", option, "***", "--epochs", "3"}));
    EXPECT_EQ(without_secrets({std::string(option) + "=hunter2"}),
              Words{std::string(option) + "=***"});
  }
  EXPECT_EQ(without_secrets({"--password", "two words", "x"}), (Words{"--password", "***", "x"}));
  EXPECT_EQ(without_secrets({"--password", "-x"}), (Words{"--password", "***"}));
  EXPECT_EQ(without_secrets({"--password", "--token", "x"}),
            (Words{"--password", "--token", "***"}));
}

TEST(Secrets, ValuesOfVariablesAreHidden) {
  EXPECT_EQ(
      without_secrets({"env", "AWS_SECRET_ACCESS_KEY=x", "HF_TOKEN=y", "DB_PASSWORD=z", "A=b"}),
      (Words{"env", "AWS_SECRET_ACCESS_KEY=***", "HF_TOKEN=***", "DB_PASSWORD=***", "A=b"}));
  EXPECT_EQ(without_secrets({"--env=MY_KEY=a=b", "-eMY_TOKEN=x", "https://host/?api_key=x&b=c"}),
            (Words{"--env=MY_KEY=***", "-eMY_TOKEN=***", "https://host/?api_key=***"}));
  EXPECT_EQ(without_secrets({R"({"api_key": "x y", "lr": 1})"}),
            Words{R"({"api_key": "***", "lr": 1})"});
}

TEST(Secrets, UserAndPasswordInAddressesAreHidden) {
  EXPECT_EQ(without_secrets({"https://me:pass@host/x", "postgres://u:p@h:5432/db?x=1"}),
            (Words{"https://***@host/x", "postgres://***@h:5432/db?x=1"}));
  EXPECT_EQ(without_secrets({"git+https://ghp_x@github.com/a/b@v1", "ssh://git@host/x"}),
            (Words{"git+https://***@github.com/a/b@v1", "ssh://git@host/x"}));
}

TEST(Secrets, LinesForAShellAreLookedThrough) {
  EXPECT_EQ(
      without_secrets({"sh", "-c", "A_KEY='x y' job --password 'a b' --token c; curl u://a:b@h"}),
      (Words{"sh", "-c", "A_KEY='***' job --password '***' --token *** curl u://***@h"}));
  EXPECT_EQ(without_secrets({"sh -c \"job --password x\" isn't it --token y z"}),
            Words{"sh -c \"job --password *** isn't it --token *** z"});
  EXPECT_EQ(without_secrets({"['job', '--password', 'x y', 'z']"}),
            Words{"['job', '--password', '***', 'z']"});
}

TEST(Secrets, EverythingElseStaysAsItIs) {
  const Words plain = {"python3",
                       "train.py",
                       "--tokens",
                       "3",
                       "--max-tokens=5",
                       "KEY=x",
                       "s3://bucket/key=1/x",
                       "--keyboard",
                       "a@b.c",
                       "",
                       "--password-file",
                       "/run/secret"};
  EXPECT_EQ(without_secrets(plain), plain);
  EXPECT_EQ(without_secrets({"--token"}), Words{"--token"});
}

TEST(Secrets, OfAPrivateRunOnlyTheProgramIsKept) {
  EXPECT_EQ(program_only(Words{"/home/me/bin/job", "--x"}), Words{"job"});
  EXPECT_EQ(program_only(Words{}), Words{});
  EXPECT_EQ(program_only(std::string("/usr/bin/python3 /home/me/x.py")), "python3");
}

}  // namespace
}  // namespace ebb::record
