// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/http.h"

namespace ebb::serve {

/// Who may ask. On loopback, whoever is on this machine, under a name that is known: a page from
/// elsewhere that a browser was led to believe lives here (DNS rebinding) is refused. Beyond
/// loopback, whoever has the token.
class Guard {
 public:
  /// `token` empty: none is needed. `hosts`: names besides localhost, 127.0.0.1 and [::1].
  Guard(std::string token, std::vector<std::string> hosts)
      : token_(std::move(token)), hosts_(std::move(hosts)) {}

  /// What to answer instead, where it may not ask; or, for a token in the address, where to go on
  /// with a cookie in its place. `base` is the path of the first page, "/" at the least.
  std::optional<Answer> check(const Request& request, const std::string& base) const;

 private:
  bool is_known_host(const std::string& host) const;
  bool has_token(const Request& request) const;

  std::string token_;
  std::vector<std::string> hosts_;
};

/// 128 random bits, as hexadecimal digits.
base::Result<std::string> make_token();

}  // namespace ebb::serve
