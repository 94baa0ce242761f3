// SPDX-License-Identifier: Apache-2.0
#include "wire/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace ebb::wire {
namespace {

/// Both ends of a connection, and the listener that made it.
struct Pair {
  Listener listener;
  Channel agent;
  Channel supervisor;

  static Pair make() {
    auto listener = Listener::open();
    EXPECT_TRUE(listener) << listener.error().message;
    auto agent = connect(listener->path());
    EXPECT_TRUE(agent) << agent.error().message;
    auto supervisor = listener->accept();
    EXPECT_TRUE(supervisor);
    return {*std::move(listener), *std::move(agent), *std::move(supervisor)};
  }
};

TEST(Channel, CarriesRecordsBothWays) {
  const Pair pair = Pair::make();
  ASSERT_TRUE(pair.agent.send(Round{7}));
  ASSERT_TRUE(pair.agent.send(Round{8}));
  auto first = pair.supervisor.receive();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ(std::get<Round>(**first).number, 7U);
  auto second = pair.supervisor.receive();
  ASSERT_TRUE(second && *second);
  EXPECT_EQ(std::get<Round>(**second).number, 8U);
  auto none = pair.supervisor.receive();
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  ASSERT_TRUE(pair.supervisor.send(Read{}));
  const auto asked = pair.agent.receive(true);
  ASSERT_TRUE(asked && *asked);
  EXPECT_TRUE(std::holds_alternative<Read>(**asked));
}

TEST(Channel, KnowsWhoIsAtTheOtherEnd) {
  const Pair pair = Pair::make();
  const auto peer = peer_of(pair.supervisor);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, getpid());
  EXPECT_EQ(peer->user, geteuid());
}

TEST(Channel, TellsWhenTheOtherEndIsGone) {
  Pair pair = Pair::make();
  { const Channel gone = std::move(pair.supervisor); }
  const auto nothing = pair.agent.receive(true);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, base::Code::not_found);
  EXPECT_FALSE(pair.agent.send(Round{1})) << "and raises no SIGPIPE";
}

TEST(Channel, HearsWhatAnEndSaidThatWentWithAQuestionUnread) {
  Pair pair = Pair::make();
  ASSERT_TRUE(pair.agent.send(Round{7}));
  ASSERT_TRUE(pair.supervisor.send(Read{}));
  { const Channel gone = std::move(pair.agent); }
  const auto last = pair.supervisor.receive();
  ASSERT_TRUE(last && *last);
  EXPECT_EQ(std::get<Round>(**last).number, 7U);
  const auto nothing = pair.supervisor.receive();
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, base::Code::not_found);
}

TEST(Channel, RefusesToBlockOnAPeerThatDoesNotRead) {
  const Pair pair = Pair::make();
  bool refused = false;
  for (int i = 0; i < 100'000 && !refused; ++i)
    refused = !pair.agent.send(Round{1});
  EXPECT_TRUE(refused);
}

TEST(Channel, SeesThatItsDescriptorBecameSomebodyElses) {
  Pair pair = Pair::make();
  ASSERT_TRUE(pair.agent.is_ours());
  const int descriptor = pair.agent.descriptor();
  const int other = open("/dev/null", O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(dup2(other, descriptor), descriptor);
  EXPECT_FALSE(pair.agent.is_ours());
  pair.agent.abandon();
  EXPECT_EQ(fcntl(descriptor, F_GETFD), 0) << "left open: it is not ours to close";
  close(descriptor);
  close(other);
}

TEST(Channel, LiesWhereJobsDoNotCountDescriptors) {
  const Pair pair = Pair::make();
  EXPECT_GE(pair.agent.descriptor(), 800);
  EXPECT_NE(fcntl(pair.agent.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Channel, RefusesRecordsThatAreTooLongOrNone) {
  const Pair pair = Pair::make();
  const std::string garbage(4096, 'g');
  ASSERT_EQ(send(pair.agent.descriptor(), garbage.data(), garbage.size(), 0), 4096);
  auto refused = pair.supervisor.receive();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::bad_input);
  ASSERT_EQ(send(pair.agent.descriptor(), garbage.data(), 20, 0), 20);
  refused = pair.supervisor.receive();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::bad_input);
}

TEST(Listener, LeavesNothingBehind) {
  std::string folder;
  {
    const auto listener = Listener::open();
    ASSERT_TRUE(listener);
    folder = std::filesystem::path(listener->path()).parent_path();
    struct stat status {};
    ASSERT_EQ(stat(folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U) << "nobody else may connect";
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Connect, NamesASocketThatIsNotThere) {
  const auto nobody = connect("/nonexistent/agents");
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().message.find("/nonexistent/agents"), std::string::npos);
  EXPECT_FALSE(connect(std::string(200, 'x')));
  EXPECT_FALSE(connect(""));
}

}  // namespace
}  // namespace ebb::wire
