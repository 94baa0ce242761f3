// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"

namespace ebb::base {

/// The folder that the running program lies in.
Result<std::string> program_folder();

/// The path of `name`, a file that is built and installed with the program: in ../lib/ebb, in the
/// folder for libraries that the build was told, or in one of `also`, all relative to the program.
/// Code::unavailable where it is in none of them.
Result<std::string> file_of_program(const std::string& name,
                                    std::initializer_list<const char*> also = {});

/// The words that this process was started with, its own name first.
std::vector<std::string> command_line();

}  // namespace ebb::base
