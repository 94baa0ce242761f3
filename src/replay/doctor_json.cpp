// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor.h"

namespace ebb::replay {

base::Json to_json(const Diagnosis& diagnosis) {
  base::Json also = base::Json::array();
  for (const Verdict verdict : diagnosis.also) {
    also.push(name_of(verdict));
  }
  base::Json findings = base::Json::array();
  for (const std::string& finding : diagnosis.findings) {
    findings.push(finding);
  }
  base::Json fix = base::Json::object({{"kind", diagnosis.fix.kind}, {"text", diagnosis.fix.text}});
  if (diagnosis.fix.kind == "settings" || diagnosis.fix.kind == "memory")
    fix.set("conf", diagnosis.fix.conf);
  if (diagnosis.fix.bytes != 0) fix.set("bytes", diagnosis.fix.bytes);
  if (diagnosis.fix.row) fix.set("row", to_json(*diagnosis.fix.row));
  return base::Json::object({
      {"verdict", name_of(diagnosis.verdict)},
      {"also", std::move(also)},
      {"confidence", diagnosis.confidence},
      {"headline", diagnosis.headline},
      {"findings", std::move(findings)},
      {"evidence", diagnosis.evidence},
      {"fix", std::move(fix)},
      {"limit_bytes",
       diagnosis.limit == cache::kUnlimited ? base::Json() : base::Json(diagnosis.limit)},
      {"ledger", to_json(diagnosis.ledger)},
      {"origins", to_json(diagnosis.origins)},
  });
}

}  // namespace ebb::replay
