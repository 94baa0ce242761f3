// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "sense/process.h"
#include "support/child_process.h"

namespace ebb::agent {
namespace {

/// The supervisor's end, in this very process.
class AgentTest : public testing::Test {
 protected:
  AgentTest() : listener_(wire::Listener::open()) {
    EXPECT_TRUE(listener_);
    agent_ = make_agent();
    agent_->start();
    accept();
  }

  Agent* make_agent() {
    static auto* all = new std::vector<Agent*>;  // their threads outlive the tests
    return all->emplace_back(new Agent(listener_->path()));
  }

  /// Talks to the next agent that connects.
  void accept() {
    wait_for(listener_->descriptor());
    channel_ = listener_->accept();
    ASSERT_TRUE(channel_);
  }

  static void wait_for(int descriptor) {
    pollfd source{descriptor, POLLIN, 0};
    ASSERT_EQ(poll(&source, 1, 120'000), 1);
  }

  template <class Record>
  Record next() {
    const auto message = channel_->receive(true);
    EXPECT_TRUE(message && *message);
    const auto* record = message && *message ? std::get_if<Record>(&**message) : nullptr;
    EXPECT_NE(record, nullptr);
    return record != nullptr ? *record : Record{};
  }

  base::Result<wire::Listener> listener_;
  Agent* agent_;
  std::optional<wire::Channel> channel_;
};

TEST_F(AgentTest, SaysWhichAllocatorItIsIn) {
  const auto hello = next<wire::Hello>();
  EXPECT_NE(hello.allocator.view(), "");
  EXPECT_TRUE(agent_->is_supervised());
}

TEST_F(AgentTest, BeginsWithAHelloWhateverTheJobSays) {
  for (int i = 0; i < 5; ++i) {
    Agent* agent = make_agent();
    std::thread job([agent] {
      while (!agent->is_supervised())
        agent->tell(wire::Round{1});
      agent->tell(wire::Round{2});
    });
    agent->start();
    accept();
    next<wire::Hello>();
    job.join();
  }
}

TEST_F(AgentTest, ReadsAndCleansWhenAsked) {
  next<wire::Hello>();
  ASSERT_TRUE(channel_->send(wire::Read{}));
  EXPECT_GT(next<wire::Reading>().memory.rss, 0U);
  wire::Clean ask;
  ask.trigger = fact::Trigger::critical;
  ASSERT_TRUE(channel_->send(ask));
  const auto done = next<fact::Cleanup>();
  EXPECT_EQ(done.trigger, fact::Trigger::critical);
  EXPECT_GT(done.before.rss, 0U);
}

TEST_F(AgentTest, HasTheLanguageTellOfCardsAndEmptyTheirCaches) {
  next<wire::Hello>();
  ASSERT_TRUE(channel_->send(wire::ReadCards{}));
  EXPECT_TRUE(next<wire::Cards>().cards.empty()) << "nobody is there to tell";
  Collector& collector = *agent_->collector();
  const fact::CardSample card{0, {100, 10, 80, 30}};
  std::thread language([&] {
    while (const std::uint32_t wanted = collector.await()) {
      if (wanted == Collector::kCards) collector.saw(card);
      if (wanted == Collector::kDeviceCaches)
        collector.changed(base::DeviceChange::between(0, 80, 50));
      collector.collected();
    }
  });
  wire::Cards told;
  while (told.cards.empty()) {  // until the thread is there
    ASSERT_TRUE(channel_->send(wire::ReadCards{}));
    told = next<wire::Cards>();
  }
  EXPECT_EQ(told.cards, std::vector{card});
  wire::Clean ask;
  ask.trigger = fact::Trigger::card;
  ASSERT_TRUE(channel_->send(ask));
  const auto done = next<fact::Cleanup>();
  EXPECT_EQ(done.trigger, fact::Trigger::card);
  EXPECT_FALSE(done.missed_garbage);
  EXPECT_FALSE(done.after.live) << "the heap was not looked at";
  EXPECT_EQ(done.devices, (std::vector<base::DeviceChange>{{0, 80, 50, 30}}));
  collector.close();
  language.join();
}

TEST_F(AgentTest, PassesRoundsAndNamesOn) {
  next<wire::Hello>();
  agent_->tell(wire::Round{12});
  EXPECT_EQ(next<wire::Round>().number, 12U);
  agent_->tell(wire::Name{wire::Text<48>("site-1")});
  EXPECT_EQ(next<wire::Name>().name.view(), "site-1");
  agent_->tell(wire::Marker{wire::Text<240>("[RSS] SV s=server r=0 end: 1.0 MB")});
  EXPECT_EQ(next<wire::Marker>().line.view(), "[RSS] SV s=server r=0 end: 1.0 MB");
}

TEST_F(AgentTest, SendsWhatWasSaidBeforeItWasConnected) {
  Agent* agent = make_agent();
  agent->tell(wire::Round{3});
  fact::Cleanup cleaned;
  cleaned.returned = 7;
  agent->tell(cleaned);
  agent->start();
  accept();
  next<wire::Hello>();
  EXPECT_EQ(next<wire::Round>().number, 3U);
  EXPECT_EQ(next<fact::Cleanup>().returned, 7U);
}

TEST_F(AgentTest, ConnectsWhenSomethingIsSaid) {
  Agent* agent = make_agent();  // whose thread never comes
  agent->tell(wire::Round{3});
  agent->tell(wire::Round{4});
  EXPECT_TRUE(agent->is_supervised());
  accept();
  const auto hello = next<wire::Hello>();
  EXPECT_EQ(hello.parent, getppid());
  EXPECT_EQ(hello.start, sense::read_process().value().start_ticks);
  EXPECT_NE(hello.program.view(), "");
  EXPECT_EQ(next<wire::Round>().number, 3U);
  EXPECT_EQ(next<wire::Round>().number, 4U);
}

TEST_F(AgentTest, LetsAnotherCleanInItsPlace) {
  next<wire::Hello>();
  agent_->set_cleaner([](const void*, void* cleaned) {
    wire::CleanupRecord done;
    done.rss_before = ~std::uint64_t{0};
    done.rss_after = 5;
    std::memcpy(cleaned, &done, sizeof done);
  });
  ASSERT_TRUE(channel_->send(wire::Clean{}));
  EXPECT_EQ(next<fact::Cleanup>().after.rss, 5U);
}

TEST_F(AgentTest, IsSilentWhenTheSupervisorGoesAway) {
  next<wire::Hello>();
  channel_.reset();
  while (agent_->is_supervised())
    std::this_thread::yield();
  agent_->tell(wire::Round{1});
}

#if EBB_THREADS_IN_CHILDREN
TEST_F(AgentTest, AForkedChildHasAnAgentOfItsOwn) {
  next<wire::Hello>();
  ASSERT_TRUE(channel_->send(wire::Clean{}));  // perhaps in the middle of a cleanup
  support::WaitingChild child;
  EXPECT_GT(next<fact::Cleanup>().before.rss, 0U);
  wait_for(listener_->descriptor());
  channel_ = listener_->accept();
  ASSERT_TRUE(channel_);
  EXPECT_EQ(wire::peer_of(*channel_)->pid, child.pid());
  next<wire::Hello>();
  ASSERT_TRUE(channel_->send(wire::Clean{}));
  EXPECT_GT(next<fact::Cleanup>().before.rss, 0U);
}

TEST_F(AgentTest, AChildThatIsLostSaysSo) {
  next<wire::Hello>();
  static Agent* the_agent = nullptr;
  the_agent = agent_;
  base::when_fork_lost([] { the_agent->start(); });
  base::ForkMutex mutex(0);
  mutex.lock();  // by the thread that forks, which never gets it
  const pid_t child = fork();
  if (child == 0) {
    const bool does_nothing = !agent_->is_supervised() && agent_->collector() == nullptr;
    agent_->tell(wire::Round{1});
    while (does_nothing)
      pause();
    _exit(1);
  }
  mutex.unlock();
  base::when_fork_lost(nullptr);
  wait_for(listener_->descriptor());
  channel_ = listener_->accept();
  EXPECT_EQ(wire::peer_of(*channel_)->pid, child);
  next<wire::Left>();
  EXPECT_EQ(channel_->receive(true).error().code, base::Code::not_found);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}
#endif

TEST_F(AgentTest, OneWhoseCleanerIsLostSaysSo) {
  next<wire::Hello>();
  agent_->leave();
  EXPECT_FALSE(agent_->is_supervised());
  ASSERT_TRUE(channel_->send(wire::Read{}));
  wait_for(listener_->descriptor());
  channel_ = listener_->accept();
  next<wire::Left>();
}

}  // namespace
}  // namespace ebb::agent
