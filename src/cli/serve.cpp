// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <optional>

#include "cli/verb.h"
#include "record/place.h"
#include "serve/metrics_server.h"
#include "serve/server.h"
#include "serve/site.h"

namespace ebb::cli {
namespace {

// No common exporter's.
constexpr int kDefaultPort = 7322;

struct ServeOptions {
  std::string db;
  std::optional<int> port;
  std::string listen;
  std::string metrics;
  std::vector<std::string> allow_host;
  std::string base = "/";
};

base::Options options_of(ServeOptions& o) {
  return {
      {"db", &o.db, "The record to show"},
      {.key = "port",
       .place = &o.port,
       .help = "Of this machine; 0 takes any that is free",
       .shown = "7322"},
      {"listen", &o.listen,
       "ADDRESS:PORT instead; beyond this machine the pages ask for a token, which is shown once"},
      {"metrics", &o.metrics, "Serve /metrics alone at another ADDRESS:PORT, without a token"},
      {"allow_host", &o.allow_host, "Another name under which it may be asked, such as a proxy's"},
      {"base", &o.base, "The path under which a proxy shows it"},
  };
}

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

base::Result<serve::Address> address_of(const ServeOptions& options) {
  if (options.listen.empty()) {
    const std::string port = std::to_string(options.port.value_or(kDefaultPort));
    return serve::address_from(port, "--port");
  }
  if (options.port)
    return base::error(base::Code::bad_input, "--port and --listen: expected one of them");
  return serve::address_from(options.listen, "--listen");
}

/// The signals by which people and services end a program: from here on they only wake wait().
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&signals_, number);
    sigprocmask(SIG_BLOCK, &signals_, nullptr);
  }

  void wait() const {
    int taken = 0;
    sigwait(&signals_, &taken);
  }

 private:
  sigset_t signals_{};
};

int run_serve(const ServeOptions& options) {
  const auto path = record::path_of(options.db);
  if (!path) return complain(path.error());
  const auto address = address_of(options);
  if (!address) return complain(address.error());
  const auto base = base_from(options.base);
  if (!base) return complain(base.error());
  std::vector<std::string> hosts = options.allow_host;
  std::string token;
  if (!address->is_loopback()) {
    auto made = serve::make_token();
    if (!made) return complain(made.error());
    token = *std::move(made);
    hosts.push_back(address->host_text());
  }
  const EndSignals signals;
  auto server = serve::Server::listen(*address);
  if (!server) return complain(server.error());
  std::optional<serve::MetricsServer> metrics;
  if (!options.metrics.empty()) {
    auto alone = serve::MetricsServer::listen(options.metrics);
    if (!alone) return complain(alone.error());
    metrics.emplace(*std::move(alone));
    if (const auto begun = metrics->start(*path); !begun) return complain(begun.error());
    say("metrics at " + metrics->url());
  }
  serve::Site site(*path, serve::Guard(token, hosts), *base);
  const auto started =
      server->start([&site](const serve::Request& request) { return site.answer(request); });
  if (!started) return complain(started.error());
  say("serves " + *path + " at http://" + server->address().text() + *base +
      (token.empty() ? "" : "?token=" + token));
  signals.wait();
  return kDone;
}

}  // namespace

void add_serve(Verb program) {
  program.add({"serve", "Shows recorded runs in a browser, and running ones to Prometheus",
               "Examples:\n"
               "  ebb serve\n"
               "  ebb serve --db runs.db --port 8080\n"
               "  ebb serve --metrics 0.0.0.0:9322\n"
               "  ebb serve --listen 0.0.0.0:7322 --allow-host node7"},
              run_serve);
}

}  // namespace ebb::cli
