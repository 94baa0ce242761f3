// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/network.h"

/// Networks that somebody describes in a JSON file: docs/simulate.md has the format, with an
/// example. No file is trusted: whatever it says, it is a network that can be built, or one clear
/// line.
namespace ebb::plan {

/// Whether what was given for a model is a file, and not a name: it ends in .json or has a slash.
bool is_network_file(std::string_view model);

/// The text of the file at `path`. Code::bad_input where there is none, or no such file.
base::Result<std::string> read_network_file(const std::string& path);

/// The network that `text` describes; messages begin with `file`, which also names the network if
/// the text does not. Without a `picture` nothing is said of sizes, and of the result only the name
/// is of use. Code::bad_input names the layer, as layers[3].body[0], and what was expected.
base::Result<Network> network_from(std::string_view text, const std::string& file,
                                   const std::optional<Picture>& picture, std::uint64_t classes);

/// As network_named, or of the file of that name.
base::Result<Network> network_of(const std::string& model, const Picture& picture,
                                 std::uint64_t classes);

}  // namespace ebb::plan
