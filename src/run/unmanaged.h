// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace ebb::run {

/// Why a running process of the job has no agent, told from outside: "it is static: …", "it runs as
/// another user", … Empty where nothing speaks against one: it may still come.
std::string why_no_agent(pid_t pid, const std::string& agent);

}  // namespace ebb::run
