// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "serve/address.h"
#include "serve/http.h"

namespace ebb::serve {

/// What clients may cost.
struct Bounds {
  std::size_t connections = 512;     ///< at a time; more wait until one is free
  std::size_t header_bytes = 16384;  ///< of one request
  double idle_seconds = 60;          ///< between two requests of a connection
  double stall_seconds = 10;         ///< for a request to come whole, or an answer to be taken
  std::uint64_t body_bytes = std::uint64_t{1} << 30;    ///< of a body that is taken
  std::uint64_t steady_bytes = std::uint64_t{1} << 20;  ///< of it, for each stall_seconds
  double tick_seconds = 0.1;                            ///< between two calls of the ticker
  double quiet_seconds = 15;  ///< until one who listens is told that the server is there
};

/// What a server answers with, all on one thread of its own.
struct Handlers {
  Handler get;         ///< for GET and HEAD
  Handler post = {};   ///< none: a POST is refused
  Ticker ticker = {};  ///< none: nobody is told anything
};

/// An HTTP server: one thread for all connections, one for the handlers and one that writes what is
/// uploaded. Only this class's source
/// includes Boost.
class Server {
 public:
  /// Listens at once, so that a port that is taken is known before anything else begins; answers
  /// nobody yet. No child process inherits what it listens on.
  static base::Result<Server> listen(const Address& address, const Bounds& bounds = {});

  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  /// Ends all connections.
  ~Server();

  /// With the port that was chosen where any would do.
  const Address& address() const;

  /// Begins to answer, with all signals blocked on its threads. Code::unavailable where there can
  /// be no more threads.
  base::Status start(Handlers handlers);

 private:
  class Running;

  explicit Server(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace ebb::serve
