// SPDX-License-Identifier: Apache-2.0
#include "fl/relay.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ebb::fl {
namespace {

TEST(Relay, HandsThingsOverInTheirOrderAndNoneTwice) {
  constexpr std::size_t kThings = 1000;
  Relay relay(3, kThings);
  std::vector<std::size_t> places(3, kThings);
  std::thread maker([&] {
    while (const auto thing = relay.begin()) {
      places[*thing % places.size()] = *thing;
      relay.done();
    }
  });
  for (std::size_t i = 0; i < kThings; ++i) {
    EXPECT_EQ(relay.take(), i);
    EXPECT_EQ(places[i % places.size()], i) << "in use: nobody writes there";
  }
  maker.join();
}

TEST(Relay, IsAheadByAsManyPlacesAsThereAre) {
  Relay relay(3, 10);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(relay.begin(), i);
    relay.done();
  }
  // The first is in use until the second is taken: both calls leave so much room.
  EXPECT_EQ(relay.take(), 0U);
  EXPECT_EQ(relay.take(), 1U);
  EXPECT_EQ(relay.begin(), 3U);
  relay.done();

  std::atomic<bool> second_is_given_back = false;
  std::thread maker([&] {
    EXPECT_EQ(relay.begin(), 4U);
    EXPECT_TRUE(second_is_given_back) << "there was no room before";
  });
  second_is_given_back = true;
  EXPECT_EQ(relay.take(), 2U);
  maker.join();
}

TEST(Relay, HasOnePlaceAtLeastForBothInTurn) {
  Relay relay(1, 3);
  std::vector<std::size_t> seen;
  std::thread maker([&] {
    while (relay.begin())
      relay.done();
  });
  for (std::size_t i = 0; i < 3; ++i)
    seen.push_back(relay.take());
  maker.join();
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Relay, EndsWhenAllAreMadeOrNoMoreAreWanted) {
  Relay whole(4, 2);
  EXPECT_TRUE(whole.begin());
  whole.done();
  EXPECT_TRUE(whole.begin());
  whole.done();
  EXPECT_FALSE(whole.begin());

  Relay stopped(1, 2);
  EXPECT_TRUE(stopped.begin());
  stopped.done();
  std::thread maker([&] { EXPECT_FALSE(stopped.begin()) << "waits for room until it is stopped"; });
  stopped.stop();
  maker.join();
}

TEST(Relay, HandsOnWhyNoMoreComeAfterThoseThatAreThere) {
  Relay relay(2, 5);
  EXPECT_TRUE(relay.begin());
  relay.done();
  EXPECT_TRUE(relay.begin());
  relay.fail(std::make_exception_ptr(std::runtime_error("no more")));
  EXPECT_EQ(relay.take(), 0U);
  EXPECT_THROW(relay.take(), std::runtime_error);
}

}  // namespace
}  // namespace ebb::fl
