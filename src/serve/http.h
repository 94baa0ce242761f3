// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

// serve: what Ebb tells over HTTP. Nothing that comes in is trusted, and nothing can be changed
// from outside.

namespace ebb::serve {

/// What a client asks. Only GET and HEAD come this far.
struct Request {
  std::string path;   ///< as it was sent, without what follows '?'
  std::string query;  ///< what follows it
  std::string host;
  std::string origin;
  std::string accept;
  std::string cookie;
  std::string authorization;
};

struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// Called on one thread of the server's, for one request at a time.
using Handler = std::function<Answer(const Request& request)>;

/// A line of text, with the status that it goes with.
inline Answer refusal(int status, const std::string& line) {
  return {status, "text/plain; charset=utf-8", line + "\n"};
}

}  // namespace ebb::serve
