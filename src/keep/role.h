// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ebb::keep {

/// What a process does in a federated job; decides the recommended settings.
enum class Role : std::uint8_t { server, client, trainer, aggregator, simulator };

/// What is recommended for a role.
struct RoleDefaults {
  int every = 1;                  ///< clean up after every so many rounds
  bool cuda_empty_cache = false;  ///< release the framework's device cache as well
  int arenas = 4;                 ///< glibc arenas
};

const char* name_of(Role role);
std::vector<std::string_view> role_names();

/// Code::bad_input names the roles there are, and the nearest one.
base::Result<Role> role_from(std::string_view name);

RoleDefaults defaults_of(Role role);

}  // namespace ebb::keep
