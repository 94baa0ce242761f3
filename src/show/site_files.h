// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "show/site_rows.h"
#include "story/site_story.h"

namespace ebb::show {

/// What is live by stack, for flame graphs: "outermost;…;innermost bytes", a line each.
std::string collapsed_stacks(const SiteRows& sites);

/// The same as a profile for `go tool pprof`: live bytes and their growth (per hour, per step), by
/// stack with files and lines; gzip.
std::string pprof_file(const SiteRows& sites);

/// Writes them to these files; "" is none.
base::Status write_site_files(const SiteRows& sites, const std::string& pprof,
                              const std::string& collapsed);

/// The same of a run: Code::bad_input where files are asked for and it has no sites.
base::Status write_site_files(const story::SitesStory& sites, const std::string& run,
                              const std::string& pprof, const std::string& collapsed);

}  // namespace ebb::show
