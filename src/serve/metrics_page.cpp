// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics_page.h"

#include "metrics/exposition.h"

namespace ebb::serve {

Answer metrics_page(metrics::Collector& collector, const Request& request) {
  const auto families = collector.collect(base::unix_seconds());
  if (!families) return refusal(503, "the record cannot be read");
  const metrics::Format format = metrics::format_for(request.accept);
  return {200, metrics::content_type_of(format), metrics::text_of(*families, format)};
}

}  // namespace ebb::serve
