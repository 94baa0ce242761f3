// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/mutex.h"
#include "base/signals_blocked.h"
#include "serve/session.h"
#include "serve/waiting.h"

namespace ebb::serve {
namespace {

constexpr int kBacklog = 128;
// Until another one is tried, where there is no descriptor left for a connection.
constexpr std::chrono::milliseconds kAcceptPause{200};
// A comment: whoever listens drops it.
constexpr const char* kStillThere = ":\n\n";

/// Asio opens sockets that children inherit: this one is opened here.
base::Result<base::FileDescriptor> listening_socket(const Tcp::endpoint& endpoint) {
  base::FileDescriptor socket(
      ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return base::system_error(errno, "cannot make a socket");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
      ::listen(socket.get(), kBacklog) != 0)
    return base::system_error(errno, "cannot listen");
  return socket;
}

}  // namespace

/// All of it happens on the thread of connections, but for what is said to be on the handlers'.
class Server::Running final : public SessionHost {
 public:
  Running(const Address& address, const Bounds& bounds) : address_(address), bounds_(bounds) {}
  ~Running() { stop(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  base::Status listen();
  base::Status start(Handlers handlers);
  const Address& address() const { return address_; }

 private:
  const Bounds& bounds() const override { return bounds_; }
  bool takes_posts() const override { return static_cast<bool>(handlers_.post); }
  void begun() override { ++sessions_; }
  void ended() override;
  void handle(std::shared_ptr<Session> session, Request request, bool keeps) override;
  void take(const std::shared_ptr<Session>& session, Taker taker,
            base::FileDescriptor body) override;
  void make_later(const std::shared_ptr<Session>& session, Later later) override;
  void beside(std::function<void()> work) override { asio::post(*writer_, std::move(work)); }
  void listens(const std::shared_ptr<Session>& session) override;

  void serve();
  void stop();
  void accept();
  void accept_later();
  /// Calls `make` on the handlers' thread with where its answer goes.
  template <class Make>
  void answer_later(const std::shared_ptr<Session>& session, Make make);
  /// On the handlers' thread.
  Answer handled(const Request& request) const;
  void ask(const std::vector<std::string>& topics);

  void keep_ticking();
  void tick();
  void tell(const std::vector<Event>& events);

  Address address_;
  Bounds bounds_;
  Handlers handlers_;
  std::atomic<std::size_t> sessions_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> is_asking_ = false;  ///< the ticker, which takes as long as it takes
  bool accepts_ = false;
  bool will_tick_ = false;
  std::vector<std::weak_ptr<Session>> listeners_;
  asio::io_context connections_{1};
  Tcp::acceptor acceptor_{connections_};
  asio::steady_timer pause_{connections_};
  asio::steady_timer next_tick_{connections_};
  std::shared_ptr<WayBack> way_back_ = std::make_shared<WayBack>();
  std::optional<asio::thread_pool> worker_;
  std::optional<asio::thread_pool> writer_;
  std::thread thread_;
};

base::Status Server::Running::listen() {
  ErrorCode failure;
  const auto number = asio::ip::make_address(address_.host, failure);
  if (failure) return base::error(base::Code::bad_input, "%s: no address", address_.host.c_str());
  Tcp::endpoint endpoint(number, address_.port);
  auto socket = listening_socket(endpoint);
  if (!socket) {
    base::Error error = socket.error();
    error.message = address_.text() + ": " + error.message;
    return error;
  }
  acceptor_.assign(endpoint.protocol(), socket->release(), failure);
  if (!failure) endpoint = acceptor_.local_endpoint(failure);
  if (failure) return base::error(base::Code::unavailable, "%s", failure.message().c_str());
  address_.port = endpoint.port();
  return {};
}

base::Status Server::Running::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  const base::SignalsBlocked blocked;
  try {
    worker_.emplace(1);
    writer_.emplace(1);
    {
      const base::Lock lock(way_back_->mutex);
      way_back_->connections = &connections_;
    }
    thread_ = std::thread([this] { serve(); });
  } catch (const std::exception& failure) {  // Boost's own, or the standard's
    return base::error(base::Code::unavailable, "cannot start a thread: %s", failure.what());
  }
  return {};
}

void Server::Running::serve() {
  const auto work = asio::make_work_guard(connections_);
  while (!is_stopping_) {
    try {
      accept();
      keep_ticking();
      connections_.run();
    } catch (const std::exception&) {
      // Out of memory: the connection that needed it is gone, the others go on.
      std::this_thread::sleep_for(kAcceptPause);
    }
  }
}

void Server::Running::stop() {
  is_stopping_ = true;
  {
    const base::Lock lock(way_back_->mutex);
    way_back_->connections = nullptr;
  }
  connections_.stop();
  if (thread_.joinable()) thread_.join();
  for (std::optional<asio::thread_pool>* pool : {&worker_, &writer_}) {
    if (!*pool) continue;
    (*pool)->stop();  // what waits for an answer will get none
    (*pool)->join();
  }
}

void Server::Running::accept() {
  if (is_stopping_ || accepts_ || sessions_ >= bounds_.connections) return;
  acceptor_.async_accept([this](ErrorCode failure, Tcp::socket socket) {
    accepts_ = false;
    if (failure) return accept_later();
    std::make_shared<Session>(*this, std::move(socket))->read(bounds_.stall_seconds);
    accept();
  });
  accepts_ = true;
}

void Server::Running::accept_later() {
  if (is_stopping_) return;
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](ErrorCode) { accept(); });
}

void Server::Running::ended() {
  --sessions_;
  if (is_stopping_) return;
  try {
    asio::post(connections_, [this] { accept(); });
  } catch (const std::exception&) {
    // Out of memory: the next one that ends tries again.
  }
}

void Server::Running::handle(std::shared_ptr<Session> session, Request request, bool keeps) {
  asio::post(*worker_, [this, session = std::move(session), request = std::move(request),
                        keeps]() mutable {
    const auto executor = session->executor();
    try {
      Answer made = handled(request);
      asio::post(executor, [session = std::move(session), made = std::move(made), keeps]() mutable {
        session->answer(std::move(made), keeps);
      });
    } catch (const std::exception&) {
      // Out of memory even for a refusal: the connection ends without one.
    }
  });
}

Answer Server::Running::handled(const Request& request) const {
  try {
    return request.is_post ? handlers_.post(request) : handlers_.get(request);
  } catch (const std::exception&) {
    return refusal(503, "no answer could be made");
  }
}

template <class Make>
void Server::Running::answer_later(const std::shared_ptr<Session>& session, Make make) {
  auto waiting = std::make_shared<Waiting>(way_back_, session);
  asio::post(*worker_, [make = std::move(make), waiting = std::move(waiting)]() mutable {
    try {
      try {
        make(waiting);
      } catch (const std::exception&) {
        waiting->answer(refusal(503, "no answer could be made"));
      }
    } catch (const std::exception&) {
      // Out of memory even for a refusal: the connection ends without one.
    }
  });
}

void Server::Running::take(const std::shared_ptr<Session>& session, Taker taker,
                           base::FileDescriptor body) {
  answer_later(session, [taker = std::move(taker),
                         body = std::move(body)](const std::shared_ptr<Waiting>& waiting) mutable {
    taker(std::move(body), [waiting](Answer made) { waiting->answer(std::move(made)); });
  });
}

void Server::Running::make_later(const std::shared_ptr<Session>& session, Later later) {
  answer_later(session, [later = std::move(later)](const std::shared_ptr<Waiting>& waiting) {
    later([waiting](Answer made) { waiting->answer(std::move(made)); },
          [waiting] { return waiting->is_there(); });
  });
}

void Server::Running::listens(const std::shared_ptr<Session>& session) {
  listeners_.push_back(session);
  keep_ticking();
}

void Server::Running::keep_ticking() {
  if (will_tick_ || listeners_.empty() || !handlers_.ticker) return;
  next_tick_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(bounds_.tick_seconds)));
  next_tick_.async_wait([this](ErrorCode) {
    will_tick_ = false;
    tick();
    keep_ticking();
  });
  will_tick_ = true;
}

void Server::Running::tick() {
  std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
  if (listeners_.empty() || is_asking_) return;
  std::vector<std::string> topics;
  for (const auto& listener : listeners_)
    if (const auto session = listener.lock()) topics.push_back(session->topic());
  std::sort(topics.begin(), topics.end());
  topics.erase(std::unique(topics.begin(), topics.end()), topics.end());
  is_asking_ = true;
  try {
    asio::post(*worker_, [this, topics = std::move(topics)] { ask(topics); });
  } catch (...) {
    is_asking_ = false;
    throw;
  }
}

void Server::Running::ask(const std::vector<std::string>& topics) {
  try {
    asio::post(connections_, [this, events = handlers_.ticker(topics)] { tell(events); });
  } catch (const std::exception&) {
    // Out of memory: told with the next one.
  }
  is_asking_ = false;
}

void Server::Running::tell(const std::vector<Event>& events) {
  const auto quiet_since =
      Session::Clock::now() - std::chrono::duration_cast<Session::Clock::duration>(
                                  std::chrono::duration<double>(bounds_.quiet_seconds));
  for (const auto& listener : listeners_) {
    const auto session = listener.lock();
    if (!session) continue;
    const auto event = std::find_if(events.begin(), events.end(), [&](const Event& one) {
      return one.topic == session->topic();
    });
    if (event != events.end())
      session->tell(text_of(*event));
    else if (session->last_told() < quiet_since)
      session->tell(kStillThere);
  }
}

base::Result<Server> Server::listen(const Address& address, const Bounds& bounds) {
  auto running = std::make_unique<Running>(address, bounds);
  if (const auto listens = running->listen(); !listens) return listens.error();
  return Server(std::move(running));
}

Server::Server(std::unique_ptr<Running> running) : running_(std::move(running)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

const Address& Server::address() const {
  return running_->address();
}

base::Status Server::start(Handlers handlers) {
  return running_->start(std::move(handlers));
}

}  // namespace ebb::serve
