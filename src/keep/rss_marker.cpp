// SPDX-License-Identifier: Apache-2.0
#include "keep/rss_marker.h"

#include "base/text.h"

namespace ebb::keep {

const char* name_of(MarkerSource source) {
  switch (source) {
    case MarkerSource::client_api:
      return "CA";
    case MarkerSource::client_job:
      return "CJ";
    case MarkerSource::server:
      break;
  }
  return "SV";
}

base::Result<MarkerSource> marker_source_from(std::string_view letters) {
  for (const MarkerSource source :
       {MarkerSource::client_api, MarkerSource::client_job, MarkerSource::server}) {
    if (letters == name_of(source)) return source;
  }
  return base::error(base::Code::bad_input, "source '%s': expected CA, CJ or SV",
                     std::string(letters).c_str());
}

std::string rss_marker(MarkerSource source, std::string_view site,
                       std::optional<std::uint64_t> round, std::string_view tag,
                       std::uint64_t rss_bytes, std::string_view task) {
  std::string line = std::string("[RSS] ") + name_of(source) + " s=" + std::string(site);
  if (source == MarkerSource::client_job) line += " t=" + std::string(task);
  line += round ? base::format_text(" r=%llu ", static_cast<unsigned long long>(*round))
                : std::string(" r=None ");
  line += std::string(tag);
  line += base::format_text(": %.1f MB", static_cast<double>(rss_bytes) / 1024.0 / 1024.0);
  return line;
}

}  // namespace ebb::keep
