// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "keep/diagnosis.h"

namespace ebb::keep {
namespace {

constexpr std::array<const char*, kVerdicts> kNames{
    "leak", "retention", "fragmentation", "foreign", "file_cache", "healthy", "not_enough_data"};

}  // namespace

const char* name_of(Verdict verdict) {
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::optional<Verdict> verdict_of(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<Verdict>(i);
  return std::nullopt;
}

base::Json to_json(const Diagnosis& diagnosis) {
  base::Json also = base::Json::array();
  for (const Verdict verdict : diagnosis.also)
    also.push(name_of(verdict));
  base::Json findings = base::Json::array();
  for (const std::string& finding : diagnosis.findings)
    findings.push(finding);
  return base::Json::object(
      {{"verdict", name_of(diagnosis.verdict)},
       {"also", std::move(also)},
       {"confidence", diagnosis.confidence},
       {"headline", diagnosis.headline},
       {"findings", std::move(findings)},
       {"evidence", diagnosis.evidence},
       {"fix", base::Json::object({{"kind", diagnosis.fix_kind}, {"text", diagnosis.fix}})}});
}

}  // namespace ebb::keep
