// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "serve/http.h"

// A part of server.cpp, as session.h is.

namespace ebb::serve {

namespace http = boost::beast::http;

/// What a client that has asked whether it may send waits for.
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// The body of a request on its way into a file.
struct Incoming {
  Incoming(http::request_parser<http::string_body>&& header, Taker to, base::FileDescriptor into)
      : parser(std::move(header)), taker(std::move(to)), file(std::move(into)) {}

  http::request_parser<http::buffer_body> parser;
  Taker taker;
  base::FileDescriptor file;
  std::uint64_t bytes = 0;
  std::uint64_t steady = 0;  ///< of them, when it last had its time
  std::array<char, 65536> part{};
};

}  // namespace ebb::serve
