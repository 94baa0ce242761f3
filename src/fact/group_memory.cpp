// SPDX-License-Identifier: Apache-2.0
#include "fact/group_memory.h"

#include <string>

namespace ebb::fact {

base::Json to_json(const GroupMemory& memory) {
  base::Json json = base::Json::object();
  for (const GroupPart& part : kGroupParts)
    json.set(std::string(part.name) + "_bytes", memory.*part.bytes);
  return json;
}

GroupMemory group_memory_from(const base::Json& json) {
  GroupMemory memory;
  for (const GroupPart& part : kGroupParts) {
    const base::Json* found = json.find(std::string(part.name) + "_bytes");
    if (found != nullptr) memory.*part.bytes = found->as_unsigned();
  }
  return memory;
}

}  // namespace ebb::fact
