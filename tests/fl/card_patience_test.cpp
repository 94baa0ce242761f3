// SPDX-License-Identifier: Apache-2.0
#include "fl/card_patience.h"

#include "fl/fake_card.h"

namespace ebb::fl {
namespace {

const base::Error kNoRoom = base::error(base::Code::out_of_memory, "tried to allocate 2.00 GiB");

class CardPatienceTest : public testing::Test {
 protected:
  /// Fails so many times for want of memory.
  std::function<base::Status()> fails(int times) {
    return [this, times]() -> base::Status {
      return attempts_++ < times ? base::Status(kNoRoom) : base::Status();
    };
  }

  FakeCard card_;
  CardPatience patience_{&card_};
  int attempts_ = 0;
};

TEST_F(CardPatienceTest, LeavesSuccessAlone) {
  EXPECT_TRUE(patience_.insist("round 1", fails(0)));
  EXPECT_EQ(card_.emptied, 0);
  EXPECT_TRUE(patience_.lines().empty());
}

TEST_F(CardPatienceTest, EmptiesTheCacheBeforeItWaits) {
  EXPECT_TRUE(patience_.insist("round 1", fails(1)));
  EXPECT_EQ(card_.emptied, 1);
  EXPECT_EQ(card_.waited, 0);
  EXPECT_EQ(patience_.lines(),
            std::vector<std::string>{"round 1: GPU 0 had no room (tried to allocate 2.00 GiB); it "
                                     "had some 0 s later"});
}

TEST_F(CardPatienceTest, WaitsForOthersUpToAMinute) {
  EXPECT_TRUE(patience_.insist("round 1", fails(4)));
  EXPECT_EQ(card_.waited, 7);
  const base::Status never = patience_.insist("round 2", fails(1000));
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().code, base::Code::out_of_memory);
  EXPECT_EQ(card_.waited, 67);
  EXPECT_EQ(patience_.lines().size(), 2U);
}

TEST_F(CardPatienceTest, OtherFailuresAreFinal) {
  const base::Status failed = patience_.insist("round 1", [&]() -> base::Status {
    ++attempts_;
    return base::error(base::Code::bad_input, "diverged");
  });
  EXPECT_FALSE(failed);
  EXPECT_EQ(attempts_, 1);
}

TEST_F(CardPatienceTest, OnTheHostEverythingIsTriedOnce) {
  CardPatience none(nullptr);
  EXPECT_FALSE(none.insist("round 1", fails(1)));
  EXPECT_EQ(attempts_, 1);
}

}  // namespace
}  // namespace ebb::fl
