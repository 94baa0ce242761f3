// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "cli/verb.h"
#include "serve/service.h"

namespace ebb::cli {
namespace {

int run_serve(const serve::ServiceWords& words) {
  const auto service = serve::Service::start(words, say);
  if (!service) return complain(service.error());
  (*service)->wait();
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
