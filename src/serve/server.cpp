// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/signals_blocked.h"

namespace ebb::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr int kBacklog = 128;
constexpr std::size_t kDrainBytes = 4096;
// Until another one is tried, where there is no descriptor left for a connection.
constexpr std::chrono::milliseconds kAcceptPause{200};

std::chrono::steady_clock::duration lasting(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

using Asked = http::request<http::string_body>;

Request request_of(const Asked& asked) {
  Request request;
  request.path = std::string(asked.target());
  const std::size_t mark = request.path.find('?');
  if (mark != std::string::npos) {
    request.query = request.path.substr(mark + 1);
    request.path.resize(mark);
  }
  request.host = std::string(asked[http::field::host]);
  request.origin = std::string(asked[http::field::origin]);
  request.accept = std::string(asked[http::field::accept]);
  request.cookie = std::string(asked[http::field::cookie]);
  request.authorization = std::string(asked[http::field::authorization]);
  return request;
}

/// What every answer says to a browser, whatever the handler forgets: nothing may be loaded, framed
/// or guessed.
void add_headers(http::fields& fields, const Answer& answer) {
  fields.set(http::field::content_type, answer.type);
  fields.set(http::field::cache_control, "no-store");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  for (const auto& [name, value] : answer.headers)
    fields.set(name, value);
}

/// Asio opens sockets that children inherit: this one is opened here.
base::Result<base::FileDescriptor> listening_socket(const tcp::endpoint& endpoint) {
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

class Server::Running {
 public:
  Running(const Address& address, const Bounds& bounds) : address_(address), bounds_(bounds) {}
  ~Running() { stop(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  base::Status listen();
  base::Status start(Handler handler);
  const Address& address() const { return address_; }

 private:
  class Session;

  void serve();
  Answer handled(const Request& request) const;
  void accept();
  void accept_later();
  void session_ended();
  void stop();

  Address address_;
  Bounds bounds_;
  Handler handler_;
  std::atomic<std::size_t> sessions_ = 0;
  bool accepts_ = false;  ///< on the thread of connections alone
  std::atomic<bool> is_stopping_ = false;
  asio::io_context connections_{1};
  tcp::acceptor acceptor_{connections_};
  asio::steady_timer pause_{connections_};
  std::optional<asio::thread_pool> worker_;
  std::thread thread_;
};

/// One connection: a request is read, handled and answered, and then the next.
class Server::Running::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Running& server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {
    ++server_.sessions_;
  }
  ~Session() { server_.session_ended(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read(double patience) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(server_.bounds_.header_bytes));
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // none is read
    stream_.expires_after(lasting(patience));
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](ErrorCode failure, std::size_t) { self->was_read(failure); });
  }

 private:
  void was_read(ErrorCode failure) {
    if (failure == http::error::end_of_stream) return close();
    if (failure == http::error::header_limit)
      return answer(refusal(431, "the header of the request is too long"), false);
    if (failure && failure.category() == http::make_error_code(http::error::bad_version).category())
      return answer(refusal(400, "no HTTP request: " + failure.message()), false);
    if (failure) return;  // it is gone, or took too long
    const Asked& asked = parser_->get();
    is_head_ = asked.method() == http::verb::head;
    const bool has_body = !parser_->is_done();
    const bool keeps = asked.keep_alive() && !has_body;
    if (!is_head_ && asked.method() != http::verb::get) {
      Answer refused = refusal(405, "expected GET or HEAD");
      refused.headers.emplace_back("Allow", "GET, HEAD");
      return answer(refused, keeps);
    }
    if (has_body) return answer(refusal(413, "expected a request without a body"), false);
    asio::post(*server_.worker_, [self = shared_from_this(), request = request_of(asked),
                                  keeps]() mutable { handle(std::move(self), request, keeps); });
  }

  /// On the handler's thread; the session goes back to its own.
  static void handle(std::shared_ptr<Session> self, const Request& request, bool keeps) {
    const auto executor = self->stream_.get_executor();
    try {
      Answer made = self->server_.handled(request);
      asio::post(executor, [self = std::move(self), made = std::move(made), keeps]() mutable {
        self->answer(std::move(made), keeps);
      });
    } catch (const std::exception&) {
      // Out of memory even for a refusal: the connection ends without one.
    }
  }

  void answer(Answer made, bool keeps) {
    response_.emplace();
    response_->result(static_cast<unsigned>(made.status));
    response_->keep_alive(keeps);
    add_headers(response_->base(), made);
    response_->content_length(made.body.size());
    if (!is_head_) response_->body() = std::move(made.body);
    stream_.expires_after(lasting(server_.bounds_.stall_seconds));
    const auto written = [self = shared_from_this(), keeps](ErrorCode failure, std::size_t) {
      self->was_written(failure, keeps);
    };
    if (is_head_) {
      serializer_.emplace(*response_);
      return http::async_write_header(stream_, *serializer_, written);
    }
    http::async_write(stream_, *response_, written);
  }

  void was_written(ErrorCode failure, bool keeps) {
    serializer_.reset();
    if (failure) return;
    if (!keeps) return close();
    is_head_ = false;
    read(server_.bounds_.idle_seconds);
  }

  /// What still comes is read and dropped: closing a socket with something unread takes the answer
  /// from the client.
  void close() {
    ErrorCode ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(lasting(server_.bounds_.stall_seconds));
    drain();
  }

  void drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kDrainBytes),
                            [self = shared_from_this()](ErrorCode failure, std::size_t) {
                              if (!failure) self->drain();
                            });
  }

  Running& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  bool is_head_ = false;
};

base::Status Server::Running::listen() {
  ErrorCode failure;
  const auto number = asio::ip::make_address(address_.host, failure);
  if (failure) return base::error(base::Code::bad_input, "%s: no address", address_.host.c_str());
  tcp::endpoint endpoint(number, address_.port);
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

base::Status Server::Running::start(Handler handler) {
  handler_ = std::move(handler);
  const base::SignalsBlocked blocked;
  try {
    worker_.emplace(1);
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
      connections_.run();
    } catch (const std::exception&) {
      // Out of memory: the connection that needed it is gone, the others go on.
      std::this_thread::sleep_for(kAcceptPause);
    }
  }
}

Answer Server::Running::handled(const Request& request) const {
  try {
    return handler_(request);
  } catch (const std::exception&) {
    return refusal(503, "no answer could be made");
  }
}

void Server::Running::accept() {
  if (is_stopping_ || accepts_ || sessions_ >= bounds_.connections) return;
  acceptor_.async_accept([this](ErrorCode failure, tcp::socket socket) {
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

void Server::Running::session_ended() {
  --sessions_;
  if (is_stopping_) return;
  try {
    asio::post(connections_, [this] { accept(); });
  } catch (const std::exception&) {
    // Out of memory: the next one that ends tries again.
  }
}

void Server::Running::stop() {
  is_stopping_ = true;
  connections_.stop();
  if (thread_.joinable()) thread_.join();
  if (!worker_) return;
  worker_->stop();  // what waits for an answer will get none
  worker_->join();
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

base::Status Server::start(Handler handler) {
  return running_->start(std::move(handler));
}

}  // namespace ebb::serve
