// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "metrics/families.h"

namespace ebb::metrics {

/// How values are written.
enum class Format : std::uint8_t {
  text,          ///< Prometheus's own, version 0.0.4, which every scraper reads
  open_metrics,  ///< OpenMetrics 1.0
};

/// What a scraper would rather have, by its `Accept`; the text where it does not say.
Format format_for(std::string_view accept);

/// For `Content-Type`.
const char* content_type_of(Format format);

std::string text_of(const std::vector<Family>& families, Format format);

}  // namespace ebb::metrics
