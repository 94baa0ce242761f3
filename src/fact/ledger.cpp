// SPDX-License-Identifier: Apache-2.0
#include "fact/ledger.h"

namespace ebb::fact {

std::vector<Ledger::Part> Ledger::parts() const {
  return {{"live", live},     {"retained", retained}, {"private", private_allocators},
          {"python", python}, {"pinned", pinned},     {"shared", shared},
          {"file", file},     {"stacks", stacks},     {"unexplained", unexplained}};
}

base::Json to_json(const Ledger& ledger) {
  base::Json json;
  json.set("total_bytes", ledger.total);
  for (const Ledger::Part& part : ledger.parts())
    json.set(std::string(part.name) + "_bytes", part.bytes);
  base::Json notes = base::Json::array();
  for (const std::string& note : ledger.notes)
    notes.push(note);
  return json.set("notes", std::move(notes));
}

}  // namespace ebb::fact
