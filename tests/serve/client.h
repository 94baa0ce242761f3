// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "base/file.h"
#include "serve/address.h"

namespace ebb::serve {

/// A connection that sends and reads bytes as they are.
class Client {
 public:
  explicit Client(const Address& address)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(address.port);
    ::inet_pton(AF_INET, address.host.c_str(), &where.sin_addr);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
  }

  void send(const std::string& text) const {
    EXPECT_EQ(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  /// The same, also where the other end may be gone.
  void try_send(const std::string& text) const {
    static_cast<void>(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL));
  }

  /// Whether the other end took all of it, or its kernel did.
  bool sends(const std::string& text) const {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }

  /// All that comes until the other end closes; nothing where it resets the connection.
  std::string rest() const {
    std::string text;
    char part[4096];
    ssize_t got = 0;
    while ((got = ::recv(socket_.get(), part, sizeof part, 0)) > 0)
      text.append(part, static_cast<std::size_t>(got));
    return text;
  }

  /// What comes until `end`, with it.
  std::string until(const std::string& end) const {
    std::string text;
    char part = 0;
    while (!text.ends_with(end) && ::recv(socket_.get(), &part, 1, 0) == 1)
      text += part;
    return text;
  }

  /// One answer, as long as its Content-Length says.
  std::string answer() const {
    std::string text;
    char part = 0;
    std::size_t whole = std::string::npos;
    while (text.size() < whole && ::recv(socket_.get(), &part, 1, 0) == 1) {
      text += part;
      if (whole == std::string::npos && text.ends_with("\r\n\r\n")) {
        const std::size_t length = text.find("Content-Length: ");
        whole =
            text.size() + (length == std::string::npos ? 0 : std::stoul(text.substr(length + 16)));
      }
    }
    return text;
  }

 private:
  base::FileDescriptor socket_;
};

/// One request, and all of the answer.
inline std::string asked(const Address& address, const std::string& request) {
  const Client client(address);
  client.send(request);
  return client.rest();
}

inline std::string got(const Address& address, const std::string& path) {
  return asked(address,
               "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

}  // namespace ebb::serve
