// SPDX-License-Identifier: Apache-2.0
// What clients send, line by line: whoever is let in has the token and asks under a known name, no
// address leads to a snapshot that nobody has sent, and only one takes a body.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "metrics/exposition.h"
#include "serve/address.h"
#include "serve/guard.h"
#include "serve/plan_form.h"
#include "serve/query.h"
#include "serve/site.h"

namespace {

constexpr const char* kToken = "f00d";

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  ebb::serve::Request request;
  for (std::string* field : {&request.path, &request.query, &request.host, &request.origin,
                             &request.accept, &request.cookie, &request.authorization}) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    *field = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  static_cast<void>(ebb::metrics::format_for(request.accept));
  if (const auto address = ebb::serve::address_from(request.host, "--listen")) {
    const auto again = ebb::serve::address_from(address->text(), "--listen");
    expect(again && again->text() == address->text());
  }
  const ebb::serve::Query query = ebb::serve::read_query(request.query);
  std::size_t decoded = 0;
  for (const auto& [name, value] : query)
    decoded += name.size() + value.size();
  expect(decoded <= request.query.size());
  // What is asked of a plan is the same when it is asked again, names no file and is one command.
  if (const auto form = ebb::serve::PlanForm::read(request.query)) {
    const auto again = ebb::serve::PlanForm::read(form->query());
    expect(again && again->query() == form->query() && again->command() == form->command());
    expect(form->query().find("&config=") == std::string::npos &&
           form->query().find("&measured=") == std::string::npos);
    const std::string command = form->command();
    expect(command.starts_with("ebb plan ") && command.find('\n') == std::string::npos);
    static_cast<void>(form->request());
  }
  static ebb::serve::Site site("/nowhere/runs.db", ebb::serve::Guard("", {}), "/");
  request.is_post = true;
  const ebb::serve::Answer posted = site.post(request);
  if (posted.taker) expect(request.path.ends_with("snapshots"));
  request.is_post = false;
  if (request.path.starts_with("/snapshots")) expect(site.answer(request).status >= 400);
  const ebb::serve::Guard open("", {});
  const ebb::serve::Guard closed(kToken, {});
  const auto may_ask = [&](const ebb::serve::Guard& guard) { return !guard.check(request, "/"); };
  if (may_ask(closed)) {
    expect(may_ask(open));
    expect(request.cookie.find(kToken) != std::string::npos ||
           request.authorization.find(kToken) != std::string::npos);
  }
  expect(!posted.taker || may_ask(open));
  if (may_ask(open)) {
    const std::string& host = request.host;
    expect(host.starts_with("localhost") || host.starts_with("127.0.0.1") ||
           host.starts_with("[::1]"));
    expect(request.origin.empty() || request.origin.ends_with("://" + host));
  }
  return 0;
}
