// SPDX-License-Identifier: Apache-2.0
#include "serve/address.h"

#include <arpa/inet.h>

#include "base/text.h"

namespace ebb::serve {
namespace {

bool is_ipv4(const std::string& host) {
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

std::string Address::host_text() const {
  return is_ipv6(host) ? "[" + host + "]" : host;
}

std::string Address::text() const {
  return host_text() + ":" + std::to_string(port);
}

bool Address::is_loopback() const {
  return host.starts_with("127.") || host == "::1";
}

base::Result<Address> address_from(std::string_view text, const char* what) {
  Address address;
  std::string_view port = text;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    port = text.substr(colon + 1);
    const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (in_brackets) host = host.substr(1, host.size() - 2);
    address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
    if (in_brackets ? !is_ipv6(address.host) : !is_ipv4(address.host)) address.host.clear();
  }
  const auto number = base::parse_unsigned(port);
  if (address.host.empty() || !number || *number > 65535) {
    return base::error(
        base::Code::bad_input,
        "%s '%.*s': expected ADDRESS:PORT, such as 127.0.0.1:9322 or [::1]:9322, or a port", what,
        static_cast<int>(text.size()), text.data());
  }
  address.port = static_cast<std::uint16_t>(*number);
  return address;
}

}  // namespace ebb::serve
