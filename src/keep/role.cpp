// SPDX-License-Identifier: Apache-2.0
#include "keep/role.h"

#include <array>
#include <string>

#include "base/text.h"

namespace ebb::keep {
namespace {

struct Row {
  Role role;
  const char* name;
  RoleDefaults defaults;
};

// Rounds, cache and arenas as NVFlare's guide recommends them for server (5, 4 arenas) and client
// (1, device cache, 2 arenas). An aggregator and a simulator hold many models at once: every round.
constexpr std::array<Row, 5> kRoles{{
    {Role::server, "server", {5, false, 4}},
    {Role::client, "client", {1, true, 2}},
    {Role::trainer, "trainer", {1, true, 2}},
    {Role::aggregator, "aggregator", {1, false, 4}},
    {Role::simulator, "simulator", {1, true, 4}},
}};

const Row& row_of(Role role) {
  return kRoles.at(static_cast<std::size_t>(role));
}

}  // namespace

const char* name_of(Role role) {
  return row_of(role).name;
}

std::vector<std::string_view> role_names() {
  std::vector<std::string_view> names;
  for (const Row& row : kRoles)
    names.emplace_back(row.name);
  return names;
}

base::Result<Role> role_from(std::string_view name) {
  for (const Row& row : kRoles)
    if (name == row.name) return row.role;
  std::string known;
  for (const std::string_view role : role_names())
    known += (known.empty() ? "" : ", ") + std::string(role);
  std::string message = "unknown role '" + std::string(name) + "': expected one of " + known;
  if (const auto guess = base::nearest(name, role_names()))
    message += " (did you mean " + std::string(*guess) + "?)";
  return base::Error{base::Code::bad_input, message, 0};
}

RoleDefaults defaults_of(Role role) {
  return row_of(role).defaults;
}

}  // namespace ebb::keep
