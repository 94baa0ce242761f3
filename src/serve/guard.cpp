// SPDX-License-Identifier: Apache-2.0
#include "serve/guard.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/text.h"

namespace ebb::serve {
namespace {

constexpr std::string_view kCookie = "ebb_token=";
constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kQuery = "token=";

/// "example.com" of "example.com:80"; brackets stay.
std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return has_port ? host.substr(0, colon) : host;
}

/// Takes the same time wherever they differ.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differences |= static_cast<unsigned>(a[i] ^ b[i]);
  return differences == 0;
}

}  // namespace

std::optional<Answer> Guard::check(const Request& request, const std::string& base) const {
  if (!is_known_host(request.host)) {
    return refusal(
        403, "this name is not known here; expected localhost, or a name given with --allow-host");
  }
  if (!request.origin.empty() && request.origin != "http://" + request.host &&
      request.origin != "https://" + request.host)
    return refusal(403, "a page from elsewhere may not ask");
  if (token_.empty() || has_token(request)) return std::nullopt;
  for (const std::string_view part : base::split(request.query, '&')) {
    if (!part.starts_with(kQuery) || !is_same(part.substr(kQuery.size()), token_)) continue;
    Answer moved = refusal(303, "the token is kept as a cookie");
    moved.headers = {{"Location", base},
                     {"Set-Cookie", std::string(kCookie) + token_ + "; Path=" + base +
                                        "; HttpOnly; SameSite=Strict"}};
    return moved;
  }
  Answer refused = refusal(401, "expected the token that ebb serve has shown");
  refused.headers = {{"WWW-Authenticate", "Bearer"}};
  return refused;
}

bool Guard::is_known_host(const std::string& host) const {
  const std::string_view name = without_port(host);
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]") return true;
  return std::find(hosts_.begin(), hosts_.end(), name) != hosts_.end();
}

bool Guard::has_token(const Request& request) const {
  const std::string_view authorization = request.authorization;
  if (authorization.starts_with(kBearer) && is_same(authorization.substr(kBearer.size()), token_))
    return true;
  for (const std::string_view cookie : base::split(request.cookie, ';')) {
    const std::string_view one = base::trimmed(cookie);
    if (one.starts_with(kCookie) && is_same(one.substr(kCookie.size()), token_)) return true;
  }
  return false;
}

base::Result<std::string> make_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return base::system_error(errno, "no random bytes for a token");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

}  // namespace ebb::serve
