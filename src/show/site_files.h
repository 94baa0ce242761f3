// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "story/site_story.h"

namespace ebb::show {

/// What is live by stack, for flame graphs: "outermost;…;innermost bytes", a line each.
std::string collapsed_stacks(const story::SitesStory& sites);

/// The same as a profile for `go tool pprof`: live bytes and their growth per hour, by stack with
/// files and lines; gzip.
std::string pprof_file(const story::SitesStory& sites);

/// Writes them to these files; "" is none. Code::bad_input where the run has no sites.
base::Status write_site_files(const story::SitesStory& sites, const std::string& run,
                              const std::string& pprof, const std::string& collapsed);

}  // namespace ebb::show
