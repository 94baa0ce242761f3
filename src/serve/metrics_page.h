// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metrics/collector.h"
#include "serve/http.h"

namespace ebb::serve {

/// The metrics as whoever asks would rather have them.
Answer metrics_page(metrics::Collector& collector, const Request& request);

}  // namespace ebb::serve
