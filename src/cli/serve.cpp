// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
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
  std::vector<std::string> snapshots;
  std::optional<int> port;
  std::string listen;
  std::string metrics;
  std::vector<std::string> allow_host;
  std::string base = "/";
  bool open = false;
};

base::Options options_of(ServeOptions& o) {
  return {
      {"snapshots", &o.snapshots,
       "Files of torch.cuda.memory._dump_snapshot() to look at, 16 at the most", "snapshots"},
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
      {"open", &o.open, "Open it in the browser of the desktop"},
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

/// As desktops do it; where there is none, a person can.
void open_in_browser(const std::string& url) {
  ::signal(SIGCHLD, SIG_IGN);  // nobody waits for it
  sigset_t none;
  sigset_t ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGCHLD);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string program = "xdg-open";
  std::string address = url;
  char* words[] = {program.data(), address.data(), nullptr};
  pid_t opener = 0;
  const int failure =
      ::posix_spawnp(&opener, program.c_str(), nullptr, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) say("no browser is opened: xdg-open: " + std::string(std::strerror(failure)));
}

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
  serve::Site site(*path, serve::Guard(token, hosts), *base);  // outlives what asks it
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
  if (const auto begun = site.show_snapshots(options.snapshots); !begun)
    return complain(begun.error());
  const auto started = server->start(
      {.get = [&site](const serve::Request& request) { return site.answer(request); },
       .post = [&site](const serve::Request& request) { return site.post(request); },
       .ticker = [&site](const std::vector<std::string>& topics) { return site.news(topics); }});
  if (!started) return complain(started.error());
  const std::string url =
      "http://" + server->address().text() + *base + (token.empty() ? "" : "?token=" + token);
  say("serves " + *path + " at " + url);
  if (options.open) open_in_browser(url);
  signals.wait();
  std::fflush(nullptr);
  ::_exit(kDone);  // nothing is worth waiting for an analysis that is in full swing
}

}  // namespace

void add_serve(Verb program) {
  program.add({"serve", "Shows recorded runs in a browser, and running ones to Prometheus",
               "Examples:\n"
               "  ebb serve --open\n"
               "  ebb serve rank0.pickle rank1.pickle\n"
               "  ebb serve --db runs.db --port 8080\n"
               "  ebb serve --metrics 0.0.0.0:9322\n"
               "  ebb serve --listen 0.0.0.0:7322 --allow-host node7"},
              run_serve);
}

}  // namespace ebb::cli
