// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ebb::keep {

/// Who writes a marker, in NVFlare's letters; the server's is Ebb's addition.
enum class MarkerSource : std::uint8_t {
  client_api,  ///< CA: the trainer, tags recv and send
  client_job,  ///< CJ: the client's job process, tag relay
  server,      ///< SV: the server's job process, tags aggregate and end
};

/// "CA", "CJ" or "SV".
const char* name_of(MarkerSource source);
/// Code::bad_input names what there is.
base::Result<MarkerSource> marker_source_from(std::string_view letters);

/// "[RSS] CA s=site-1 r=3 recv: 143.2 MB": NVFlare's line to the letter, its "MB" being MiB.
/// `task` appears for client_job only; a round that is not known is "r=None".
std::string rss_marker(MarkerSource source, std::string_view site,
                       std::optional<std::uint64_t> round, std::string_view tag,
                       std::uint64_t rss_bytes, std::string_view task = {});

}  // namespace ebb::keep
