// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ebb::serve {

/// Where to listen.
struct Address {
  std::string host = "127.0.0.1";  ///< a number, as IPv4 or IPv6 writes it
  std::uint16_t port = 0;          ///< 0: any that is free

  /// "127.0.0.1", "[::1]": as browsers name it.
  std::string host_text() const;
  /// "127.0.0.1:7322", "[::1]:7322".
  std::string text() const;
  /// Only programs on this machine can reach it.
  bool is_loopback() const;
};

/// "ADDRESS:PORT", "[IPv6]:PORT", "localhost:PORT", or a port on 127.0.0.1. `what` is the option
/// that it comes from. Code::bad_input for anything else: names are not looked up.
base::Result<Address> address_from(std::string_view text, const char* what);

}  // namespace ebb::serve
