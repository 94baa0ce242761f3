// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "page/document.h"

namespace ebb::page {

/// The document as one HTML file that works from disk: script, style and data are inside, and its
/// content security policy lets nothing else run and nothing be loaded from anywhere.
std::string render(const Document& document);

/// Renders into `path`, in one step: on failure the file is what it was before.
base::Status write(const Document& document, const std::string& path);

}  // namespace ebb::page
