// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "serve/incoming.h"
#include "serve/server.h"
#include "serve/upload_file.h"

// A part of server.cpp, which alone includes it: Boost's headers take long to read.

namespace ebb::serve {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Tcp = asio::ip::tcp;

class Session;

/// What sessions ask of their server.
class SessionHost {
 public:
  virtual const Bounds& bounds() const = 0;
  virtual bool takes_posts() const = 0;
  virtual void begun() = 0;
  virtual void ended() = 0;  ///< on any thread
  /// Has a request handled on another thread; Session::answer() follows on this one.
  virtual void handle(std::shared_ptr<Session> session, Request request, bool keeps) = 0;
  /// Has a body taken on that thread, and the session answered whenever there is an answer.
  virtual void take(const std::shared_ptr<Session>& session, Taker taker,
                    base::FileDescriptor body) = 0;
  /// Has an answer made later, likewise.
  virtual void make_later(const std::shared_ptr<Session>& session, Later later) = 0;
  /// Runs what writes to disk: on a thread of its own, since a disk may take its time.
  virtual void beside(std::function<void()> work) = 0;
  /// It has a topic from now on.
  virtual void listens(const std::shared_ptr<Session>& session) = 0;

 protected:
  ~SessionHost() = default;
};

/// One connection: a request is read, handled and answered, and then the next, until one of them
/// opens a stream. On one thread, but for its end.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Clock = std::chrono::steady_clock;

  Session(SessionHost& host, Tcp::socket socket)
      : host_(host),
        stream_(std::move(socket)),
        // A part of a body, or the header of a chunk: however long that is, no more of it is kept.
        buffer_(host.bounds().header_bytes + kPartBytes) {
    host_.begun();
  }
  ~Session() { host_.ended(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  auto executor() { return stream_.get_executor(); }
  const std::string& topic() const { return topic_; }
  Clock::time_point last_told() const { return last_told_; }

  void read(double patience) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(host_.bounds().header_bytes));
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // none is read
    stream_.expires_after(lasting(patience));
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](ErrorCode failure, std::size_t) { self->was_read(failure); });
  }

  void answer(Answer made, bool keeps) {
    if (made.taker) return receive(std::move(made.taker));
    if (made.later) return wait(std::move(made.later));
    const bool streams = !made.topic.empty() && !is_head_;
    response_.emplace();
    response_->result(static_cast<unsigned>(made.status));
    response_->keep_alive(keeps && !streams);
    add_headers(response_->base(), made);
    const Bounds& bounds = host_.bounds();
    const auto parts = static_cast<double>(made.body.size() / bounds.steady_bytes);
    stream_.expires_after(lasting(bounds.stall_seconds * (1 + parts)));
    if (streams) return open_stream(std::move(made));
    response_->content_length(made.body.size());
    const auto written = [self = shared_from_this(), keeps](ErrorCode failure, std::size_t) {
      self->was_written(failure, keeps);
    };
    if (is_head_) return write_header(written);
    response_->body() = std::move(made.body);
    http::async_write(stream_, *response_, written);
  }

  /// Sends text to one who listens, in place of what still waits to be sent.
  void tell(std::string text) {
    waiting_ = std::move(text);
    last_told_ = Clock::now();
    send_waiting();
  }

 private:
  using Asked = http::request<http::string_body>;

  static constexpr std::size_t kDrainBytes = 4096;
  static constexpr std::size_t kPartBytes = 128 << 10;

  static Clock::duration lasting(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  static Request request_of(const Asked& asked) {
    Request request;
    request.is_post = asked.method() == http::verb::post;
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

  /// What every answer says to a browser, whatever the handler forgets: nothing may be loaded,
  /// framed or guessed.
  static void add_headers(http::fields& fields, const Answer& answer) {
    fields.set(http::field::content_type, answer.type);
    fields.set(http::field::cache_control, "no-store");
    fields.set("X-Content-Type-Options", "nosniff");
    fields.set("Referrer-Policy", "no-referrer");
    fields.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    for (const auto& [name, value] : answer.headers)
      fields.set(name, value);
  }

  void was_read(ErrorCode failure) {
    if (failure == http::error::end_of_stream) return close();
    if (failure == http::error::header_limit)
      return answer(refusal(431, "the header of the request is too long"), false);
    if (failure && failure.category() == http::make_error_code(http::error::bad_version).category())
      return answer(refusal(400, "no HTTP request: " + failure.message()), false);
    if (failure) return;  // it is gone, or took too long
    const Asked& asked = parser_->get();
    is_head_ = asked.method() == http::verb::head;
    // How long its body is cannot be told, nor where the next request begins.
    if (asked.find(http::field::transfer_encoding) != asked.end() && !parser_->chunked())
      return answer(refusal(400, "expected chunked, or no transfer encoding"), false);
    const bool has_body = !parser_->is_done();
    const bool keeps = asked.keep_alive() && !has_body;
    const bool is_post = asked.method() == http::verb::post;
    if (is_post ? !host_.takes_posts() : !is_head_ && asked.method() != http::verb::get)
      return answer(wrong_method(), keeps);
    if (has_body && !is_post)
      return answer(refusal(413, "expected a request without a body"), false);
    host_.handle(shared_from_this(), request_of(asked), keeps);
  }

  /// Lets the body in, a part at a time.
  void receive(Taker taker) {
    const std::uint64_t most = host_.bounds().body_bytes;
    if (const auto length = parser_->content_length(); length && *length > most)
      return answer(too_long(most), false);
    auto file = unnamed_file();
    if (!file) return answer(no_room(), false);
    const bool waits = boost::beast::iequals(parser_->get()[http::field::expect], "100-continue") &&
                       parser_->get().version() >= 11;
    incoming_ = std::make_unique<Incoming>(std::move(*parser_), std::move(taker), *std::move(file));
    stream_.expires_after(lasting(host_.bounds().stall_seconds));
    if (!waits) return receive_part();
    asio::async_write(stream_, asio::buffer(kContinue),
                      [self = shared_from_this()](ErrorCode failure, std::size_t) {
                        if (!failure) self->receive_part();
                      });
  }

  void receive_part() {
    if (incoming_->parser.is_done()) return hand_over();
    http::buffer_body::value_type& body = incoming_->parser.get().body();
    body.data = incoming_->part.data();
    body.size = incoming_->part.size();
    http::async_read(stream_, buffer_, incoming_->parser,
                     [self = shared_from_this()](ErrorCode failure, std::size_t) {
                       self->was_received(failure);
                     });
  }

  void was_received(ErrorCode failure) {
    if (failure && failure != http::error::need_buffer) {
      incoming_.reset();  // it is gone, too slow, or speaks no HTTP any more
      return;
    }
    const Bounds& bounds = host_.bounds();
    const std::size_t got = incoming_->part.size() - incoming_->parser.get().body().size;
    incoming_->bytes += got;
    if (incoming_->bytes > bounds.body_bytes) return stop_receiving(too_long(bounds.body_bytes));
    if (incoming_->bytes - incoming_->steady >= bounds.steady_bytes) {
      incoming_->steady = incoming_->bytes;
      stream_.expires_after(lasting(bounds.stall_seconds));
    }
    host_.beside([self = shared_from_this(), got]() mutable {
      const int error =
          base::write_all(self->incoming_->file.get(), {self->incoming_->part.data(), got});
      const auto executor = self->executor();
      try {
        asio::post(executor, [self = std::move(self), error] {
          if (error != 0) return self->stop_receiving(no_room());
          self->receive_part();
        });
      } catch (const std::exception&) {
        // Out of memory: the connection ends without an answer.
      }
    });
  }

  void stop_receiving(Answer refused) {
    incoming_.reset();
    answer(std::move(refused), false);
  }

  void wait(Later later) {
    stream_.expires_never();
    drain();  // one who leaves meanwhile is gone
    host_.make_later(shared_from_this(), std::move(later));
  }

  void hand_over() {
    const std::unique_ptr<Incoming> whole = std::move(incoming_);
    ::lseek(whole->file.get(), 0, SEEK_SET);
    stream_.expires_never();
    drain();
    host_.take(shared_from_this(), std::move(whole->taker), std::move(whole->file));
  }

  static Answer wrong_method() {
    Answer refused = refusal(405, "expected GET or HEAD");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  static Answer too_long(std::uint64_t most) {
    return refusal(413, "expected at most " + base::bytes_text(most));
  }
  static Answer no_room() { return refusal(507, "no room for what is uploaded"); }

  template <class Then>
  void write_header(Then then) {
    serializer_.emplace(*response_);
    http::async_write_header(stream_, *serializer_, std::move(then));
  }

  void was_written(ErrorCode failure, bool keeps) {
    serializer_.reset();
    if (failure) return;
    if (is_draining_) return stream_.close();
    if (!keeps) return close();
    is_head_ = false;
    read(host_.bounds().idle_seconds);
  }

  /// Goes on until one side closes, so that it has no length.
  void open_stream(Answer made) {
    topic_ = std::move(made.topic);
    waiting_ = std::move(made.body);
    write_header([self = shared_from_this()](ErrorCode failure, std::size_t) {
      self->serializer_.reset();
      if (failure) return;
      self->stream_.expires_never();
      self->drain();
      self->last_told_ = Clock::now();
      self->send_waiting();
      self->host_.listens(self);
    });
  }

  void send_waiting() {
    if (is_sending_ || waiting_.empty()) return;
    is_sending_ = true;
    sent_ = std::exchange(waiting_, {});
    stream_.expires_after(lasting(host_.bounds().stall_seconds));
    asio::async_write(stream_, asio::buffer(sent_),
                      [self = shared_from_this()](ErrorCode failure, std::size_t) {
                        self->is_sending_ = false;
                        if (failure) return self->stream_.close();  // which ends drain(), too
                        self->send_waiting();
                      });
  }

  /// What still comes is read and dropped: closing a socket with something unread takes the answer
  /// from the client.
  void close() {
    ErrorCode ignored;
    stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    stream_.expires_after(lasting(host_.bounds().stall_seconds));
    drain();
  }

  void drain() {
    is_draining_ = true;
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kDrainBytes),
                            [self = shared_from_this()](ErrorCode failure, std::size_t) {
                              if (!failure) self->drain();
                            });
  }

  SessionHost& host_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::unique_ptr<Incoming> incoming_;
  bool is_head_ = false;
  bool is_draining_ = false;
  // Of one who listens.
  std::string topic_;
  std::string waiting_;
  std::string sent_;
  bool is_sending_ = false;
  Clock::time_point last_told_;
};

}  // namespace ebb::serve
