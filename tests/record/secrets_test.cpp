// SPDX-License-Identifier: Apache-2.0
#include "record/secrets.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json.h"

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
            Words{"sh -c \"job --password ***\" isn't it --token *** z"});
  EXPECT_EQ(without_secrets({"['job', '--password', 'x y', 'z']"}),
            Words{"['job', '--password', '***', 'z']"});
}

TEST(Secrets, WhatAWordBeginsWithReachesToItsEnd) {
  EXPECT_EQ(without_secrets({"env", "DB_PASSWORD=a b", "--password=my pass phrase", "x y"}),
            (Words{"env", "DB_PASSWORD=***", "--password=***", "x y"}));
  EXPECT_EQ(without_secrets({"--password='a'b", "--env=MY_KEY=a\"b c", "-Dspring.password=a b"}),
            (Words{"--password=***", "--env=MY_KEY=***", "-Dspring.password=***"}));
  EXPECT_EQ(without_secrets({"X-Api-Key: a b", "--password a b"}),
            (Words{"X-Api-Key: ***", "--password ***"}));
  EXPECT_EQ(without_secrets({"ssh", "host", "A_KEY=x job"}), (Words{"ssh", "host", "A_KEY=***"}));
}

TEST(Secrets, InALineOfCodeAValueEndsWhereAShellEndsIt) {
  EXPECT_EQ(without_secrets({"bash", "-lc", "A_KEY='a'b job"}),
            (Words{"bash", "-lc", "A_KEY='*** job"}));
  EXPECT_EQ(without_secrets({"sh", "-c", R"(job --token a\ b"c d"'e f' g)"}),
            (Words{"sh", "-c", "job --token *** g"}));
  EXPECT_EQ(without_secrets({"sh", "-c", R"(A_TOKEN='it'\''s me' job)"}),
            (Words{"sh", "-c", "A_TOKEN='*** job"}));
  EXPECT_EQ(without_secrets({"sh", "-c", R"(sh -c 'A_TOKEN='\''a b'\'' job')"}),
            (Words{"sh", "-c", R"(sh -c 'A_TOKEN='\''***)"}));
  EXPECT_EQ(without_secrets({"sh", "-c", R"(env 'A_TOKEN=a b' job --password="'a'b c" x)"}),
            (Words{"sh", "-c", R"(env 'A_TOKEN=***' job --password="'***" x)"}));
  EXPECT_EQ(without_secrets({"sh", "-c", "A_TOKEN=$(echo hunter2 x) job"}),
            (Words{"sh", "-c", "A_TOKEN=*** job"}));
  EXPECT_EQ(without_secrets({"sh", "-c", R"(ssh h "job --token x" --password "y z" --lr 1)"}),
            (Words{"sh", "-c", R"(ssh h "job --token ***" --password "***" --lr 1)"}));
}

TEST(Secrets, JsonInsideOfTextIsLookedThrough) {
  EXPECT_EQ(without_secrets({R"({\"password\": \"x y\", \"lr\": 1})"}),
            Words{R"({\"password\": \"***\", \"lr\": 1})"});
  EXPECT_EQ(without_secrets({R"({"password": "a\"b c", "lr": 1})"}),
            Words{R"({"password": "***", "lr": 1})"});
  EXPECT_EQ(without_secrets({R"({"token": ["a b", "c"], "lr": 1})"}),
            Words{R"({"token": *** "lr": 1})"});
}

TEST(Secrets, APasswordMayBeWrittenWithSlashes) {
  EXPECT_EQ(without_secrets({"https://u:p/w@h/x", "--url=ssh://u:p?#'/w@h", "ssh://u:p w@h"}),
            (Words{"https://***@h/x", "--url=ssh://***@h", "ssh://***@h"}));
  EXPECT_EQ(without_secrets({"sh", "-c", "curl https://u:p/w@h x@y"}),
            (Words{"sh", "-c", "curl https://***@h x@y"}));
  const Words ports = {"http://localhost:4873/@scope/x", "http://[::1]:80/x@v1", "https://h/x@v1"};
  EXPECT_EQ(without_secrets(ports), ports);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string in_json(const std::string& value) {
  return base::Json::object({{"password", value}, {"lr", 1}}).text();
}

std::string for_shell(const std::string& value) {
  return "'" + replaced(value, "'", "'\\''") + "'";
}

/// Every way in which a secret may stand in a command.
std::vector<Words> commands_with(const std::string& secret) {
  const std::string escaped = replaced(replaced(secret, "\\", "\\\\"), "\"", "\\\"");
  const std::string code =
      "env A_TOKEN=" + for_shell(secret) + " job --password " + for_shell(secret) + " --lr 1";
  return {{"job", "--password", secret, "--lr", "1"},
          {"job", "--hf-token=" + secret},
          {"env", "DB_PASSWORD=" + secret, "job"},
          {"docker", "run", "--env=MY_KEY=" + secret},
          {"job", "--config", in_json(secret)},
          {"job", "--config", base::Json::object({{"inner", in_json(secret)}}).text()},
          {"job", "--config=" + base::Json::object({{"inner", in_json(secret)}}).text()},
          {"sh", "-c", code},
          {"sh", "-c", "exec " + code},
          {"sh", "-c",
           "env " + for_shell("A_TOKEN=" + secret) + " job " + for_shell("--password=" + secret) +
               " --lr 1"},
          {"sh", "-c", "job --password \"" + escaped + "\" --lr 1"}};
}

TEST(Secrets, NothingOfASecretIsLeftWhateverItIsMadeOf) {
  const std::string made_of = "QQQQQQ '\"\\ ,;:=/?#&|<>(){}[]$-@";
  std::mt19937 random(20261119);
  for (int trial = 0; trial < 1000; ++trial) {
    std::string secret = "Q";
    for (std::size_t length = random() % 12; length > 0; --length)
      secret += made_of[random() % made_of.size()];
    for (const Words& command : commands_with(secret))
      for (const std::string& word : without_secrets(command))
        ASSERT_EQ(word.find('Q'), std::string::npos) << secret << "\n"
                                                     << command.back() << "\n"
                                                     << word;
  }
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
