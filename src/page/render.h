// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "page/document.h"

namespace ebb::page {

/// The document as one HTML file that works from disk: script, style and data are inside, and its
/// content security policy lets nothing else run and nothing be loaded from anywhere. One that
/// has anything to ask may ask the server that it came from.
std::string render(const Document& document);

/// The same of a document that is JSON already.
std::string render(const std::string& title, const std::string& document_json, bool asks);

/// That policy, for who sends the page over HTTP.
std::string content_security_policy(bool asks);

/// Renders into `path`, in one step: on failure the file is what it was before.
base::Status write(const Document& document, const std::string& path);

/// Writes one document as `path`, several with their number in the name; gives the names.
/// Code::bad_input where there are several and `path` is not the name of a file.
base::Result<std::vector<std::string>> write_all(const std::vector<Document>& documents,
                                                 const std::string& path);

}  // namespace ebb::page
