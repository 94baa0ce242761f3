// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "story/site_story.h"

namespace ebb::show {

/// What is live by stack, for flame graphs: "outermost;…;innermost bytes", a line each.
std::string collapsed_stacks(const story::SitesStory& sites);

/// The same as a profile for `go tool pprof`: live bytes and their growth per hour, by stack with
/// files and lines; gzip.
std::string pprof_file(const story::SitesStory& sites);

}  // namespace ebb::show
