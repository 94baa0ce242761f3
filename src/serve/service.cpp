// SPDX-License-Identifier: Apache-2.0
#include "serve/service.h"

#include <signal.h>

#include "record/place.h"
#include "serve/browser.h"

namespace ebb::serve {
namespace {

// No common exporter's.
constexpr int kDefaultPort = 7322;

/// "/" or with a '/' on both sides. Code::bad_input for what is no path.
base::Result<std::string> base_from(const std::string& text) {
  constexpr const char* kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./~%@";
  if (text.empty() || text[0] != '/' || text.find_first_not_of(kAllowed) != std::string::npos) {
    return base::error(base::Code::bad_input, "--base '%s': expected a path such as /ebb/",
                       text.c_str());
  }
  return text.back() == '/' ? text : text + "/";
}

base::Result<Address> address_of(const ServiceWords& words) {
  if (words.listen.empty())
    return address_from(std::to_string(words.port.value_or(kDefaultPort)), "--port");
  if (words.port)
    return base::error(base::Code::bad_input, "--port and --listen: expected one of them");
  return address_from(words.listen, "--listen");
}

sigset_t end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, number);
  return signals;
}

}  // namespace

base::Options options_of(ServiceWords& words) {
  return {
      {"snapshots", &words.snapshots,
       "Files of torch.cuda.memory._dump_snapshot() to look at, 16 at the most", "snapshots"},
      {"db", &words.db, "The record to show"},
      {.key = "port",
       .place = &words.port,
       .help = "Of this machine; 0 takes any that is free",
       .shown = "7322"},
      {"listen", &words.listen,
       "ADDRESS:PORT instead; beyond this machine the pages ask for a token, which is shown once"},
      {"metrics", &words.metrics, "Serve /metrics alone at another ADDRESS:PORT, without a token"},
      {"allow_host", &words.allow_host,
       "Another name under which it may be asked, such as a proxy's"},
      {"base", &words.base, "The path under which a proxy shows it"},
      {"open", &words.open, "Open it in the browser of the desktop"},
  };
}

base::Result<std::unique_ptr<Service>> Service::start(
    const ServiceWords& words, const std::function<void(const std::string& line)>& say) {
  const auto path = record::path_of(words.db);
  if (!path) return path.error();
  const auto address = address_of(words);
  if (!address) return address.error();
  const auto base = base_from(words.base);
  if (!base) return base.error();
  std::vector<std::string> hosts = words.allow_host;
  std::string token;
  if (!address->is_loopback()) {
    auto made = make_token();
    if (!made) return made.error();
    token = *std::move(made);
    hosts.push_back(address->host_text());
  }
  // Before there are threads, all of which leave them to wait().
  const sigset_t signals = end_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  auto server = Server::listen(*address);
  if (!server) return server.error();
  std::unique_ptr<Service> service(
      new Service(*path, Guard(token, hosts), *base, *std::move(server)));
  if (!words.metrics.empty()) {
    if (const auto begun = service->start_metrics(words.metrics, *path); !begun)
      return begun.error();
    say("metrics at " + service->metrics_->url());
  }
  if (const auto begun = service->start_pages(words.snapshots); !begun) return begun.error();
  const std::string url = "http://" + service->server_.address().text() + *base +
                          (token.empty() ? "" : "?token=" + token);
  say("serves " + *path + " at " + url);
  if (!words.open) return service;
  if (const auto opened = open_in_browser(url); !opened) say(opened.error().message);
  return service;
}

base::Status Service::start_metrics(const std::string& address, const std::string& record) {
  auto alone = MetricsServer::listen(address);
  if (!alone) return alone.error();
  metrics_.emplace(*std::move(alone));
  return metrics_->start(record);
}

base::Status Service::start_pages(const std::vector<std::string>& snapshots) {
  if (const auto begun = site_.show_snapshots(snapshots); !begun) return begun;
  return server_.start(
      {.get = [this](const Request& request) { return site_.answer(request); },
       .post = [this](const Request& request) { return site_.post(request); },
       .ticker = [this](const std::vector<std::string>& topics) { return site_.news(topics); }});
}

void Service::wait() const {
  const sigset_t signals = end_signals();
  int taken = 0;
  sigwait(&signals, &taken);
}

}  // namespace ebb::serve
