// SPDX-License-Identifier: Apache-2.0
#include "fl/client_log.h"

#include <sys/stat.h>

#include "base/file.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

class ClientLogTest : public testing::Test {
 protected:
  std::string path() const { return folder_ / "clients"; }
  std::string content() const { return base::read_file(path()).value_or("not there"); }

  const support::TemporaryDirectory folder_;
};

TEST_F(ClientLogTest, GrowsByWhatIsAddedAlone) {
  ClientLog log(path());
  ASSERT_TRUE(log.add("one"));
  ASSERT_TRUE(log.add(""));
  ASSERT_TRUE(log.add("two"));
  EXPECT_EQ(content(), "onetwo");
  EXPECT_EQ(log.seal().find("bytes")->as_unsigned(), 6U);
}

TEST_F(ClientLogTest, IsTakenAsFarAsTheCheckpointHasItAndGoesOnThere) {
  base::Json seal;
  {
    ClientLog log(path());
    ASSERT_TRUE(log.add("one"));
    seal = log.seal();
    ASSERT_TRUE(log.add("of a round without a checkpoint"));
  }
  ClientLog again(path());
  const auto taken = again.take(seal);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(*taken, "one");
  EXPECT_EQ(again.seal().text(), seal.text());
  ASSERT_TRUE(again.add("two"));
  EXPECT_EQ(content(), "onetwo");
  ClientLog third(path());
  EXPECT_EQ(*third.take(again.seal()), "onetwo");
}

TEST_F(ClientLogTest, BeginsAnewWhereAnotherSimulationHasLeftOne) {
  ASSERT_TRUE(base::write_file_atomically(path(), "of another"));
  ClientLog log(path());
  ASSERT_TRUE(log.add("one"));
  EXPECT_EQ(content(), "one");
}

TEST_F(ClientLogTest, IsRefusedWhereItIsNotAsItWasWritten) {
  ClientLog log(path());
  ASSERT_TRUE(log.add("one"));
  const base::Json seal = log.seal();
  const std::string expected =
      path() + ": not as it was written, expected what belongs to the checkpoint";
  for (const char* damaged : {"", "on", "onE"}) {
    ASSERT_TRUE(base::write_file_atomically(path(), damaged));
    ClientLog again(path());
    const auto taken = again.take(seal);
    ASSERT_FALSE(taken) << damaged;
    EXPECT_EQ(taken.error().code, base::Code::bad_input);
    EXPECT_EQ(taken.error().message, expected);
  }
  ASSERT_TRUE(base::write_file_atomically(path(), "one"));
  for (const char* wrong : {"{}", "[]", R"({"bytes": -1, "sha256": "x"})", R"({"bytes": 3})"}) {
    ClientLog again(path());
    EXPECT_FALSE(again.take(*base::parse_json(wrong))) << wrong;
  }
}

TEST_F(ClientLogTest, IsRefusedWhereItIsNoFile) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  ClientLog log(path());
  EXPECT_FALSE(log.add("one"));
  EXPECT_FALSE(log.take(log.seal()));
}

}  // namespace
}  // namespace ebb::fl
