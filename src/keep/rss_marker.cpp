// SPDX-License-Identifier: Apache-2.0
#include "keep/rss_marker.h"

#include "base/text.h"

namespace ebb::keep {

std::string rss_marker(MarkerSource source, std::string_view site, std::uint64_t round,
                       std::string_view tag, std::uint64_t rss_bytes, std::string_view task) {
  const char* letters = source == MarkerSource::client_api   ? "CA"
                        : source == MarkerSource::client_job ? "CJ"
                                                             : "SV";
  std::string line = "[RSS] " + std::string(letters) + " s=" + std::string(site);
  if (source == MarkerSource::client_job) line += " t=" + std::string(task);
  line += base::format_text(" r=%llu ", static_cast<unsigned long long>(round));
  line += std::string(tag);
  line += base::format_text(": %.1f MB", static_cast<double>(rss_bytes) / 1024.0 / 1024.0);
  return line;
}

}  // namespace ebb::keep
