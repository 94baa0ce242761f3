// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/doctor.h"

namespace ebb::replay {

base::Json to_json(const SnapshotDiagnosis& diagnosis) {
  base::Json json = fact::to_json(diagnosis);
  if (diagnosis.fixed) {
    base::Json fix = *json.find("fix");
    json.set("fix", std::move(fix.set("row", to_json(*diagnosis.fixed))));
  }
  const bool limited = diagnosis.limit != cache::kUnlimited;
  json.set("limit_bytes", limited ? base::Json(diagnosis.limit) : base::Json());
  json.set("empty_cache", to_json(diagnosis.empty_cache));
  json.set("ledger", to_json(diagnosis.ledger));
  json.set("growth", diagnosis.growth ? to_json(*diagnosis.growth) : base::Json());
  json.set("origins", to_json(diagnosis.origins));
  add_json(json, diagnosis.sites);
  return json;
}

}  // namespace ebb::replay
