// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::keep {

/// Who writes a marker, in NVFlare's letters; the server's is Ebb's addition.
enum class MarkerSource : std::uint8_t {
  client_api,  ///< CA: the trainer, tags recv and send
  client_job,  ///< CJ: the client's job process, tag relay
  server,      ///< SV: the server's job process, tags start and end
};

/// "[RSS] CA s=site-1 r=3 recv: 143.2 MB": NVFlare's line to the letter, its "MB" being MiB.
/// `task` appears for client_job only.
std::string rss_marker(MarkerSource source, std::string_view site, std::uint64_t round,
                       std::string_view tag, std::uint64_t rss_bytes, std::string_view task = {});

}  // namespace ebb::keep
