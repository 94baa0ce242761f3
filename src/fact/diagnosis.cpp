// SPDX-License-Identifier: Apache-2.0
#include "fact/diagnosis.h"

#include <algorithm>

namespace ebb::fact {
namespace {

base::Json fix_json(const Fix& fix) {
  base::Json json = base::Json::object({{"kind", name_of(fix.kind)}, {"text", fix.text}});
  if (fix.conf) json.set("conf", *fix.conf);
  if (fix.bytes != 0) json.set("bytes", fix.bytes);
  return json;
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::capacity:
      return "capacity";
    case Verdict::leak:
      return "leak";
    case Verdict::retention:
      return "retention";
    case Verdict::fragmentation:
      return "fragmentation";
    case Verdict::private_allocator:
      return "private_allocator";
    case Verdict::foreign:
      return "foreign";
    case Verdict::copy_on_write:
      return "copy_on_write";
    case Verdict::file_cache:
      return "file_cache";
    case Verdict::rounding:
      return "rounding";
    case Verdict::oversize:
      return "oversize";
    case Verdict::deferred_frees:
      return "deferred_frees";
    case Verdict::private_pools:
      return "private_pools";
    case Verdict::self_limit:
      return "self_limit";
    case Verdict::other_process:
      return "other_process";
    case Verdict::empty_cache:
      return "empty_cache";
    case Verdict::cache:
      return "cache";
    case Verdict::healthy:
      return "healthy";
    case Verdict::not_enough_data:
      break;
  }
  return "not_enough_data";
}

const char* name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::high:
      return "high";
    case Confidence::medium:
      return "medium";
    case Confidence::low:
      break;
  }
  return "low";
}

const char* name_of(FixKind kind) {
  switch (kind) {
    case FixKind::probe:
      return "probe";
    case FixKind::cleanup:
      return "cleanup";
    case FixKind::settings:
      return "settings";
    case FixKind::limit:
      return "limit";
    case FixKind::memory:
      return "memory";
    case FixKind::code:
      return "code";
    case FixKind::time:
      return "time";
    case FixKind::none:
      break;
  }
  return "none";
}

std::optional<Verdict> verdict_of(std::string_view name, std::span<const Verdict> among) {
  const auto found =
      std::find_if(among.begin(), among.end(), [&](Verdict one) { return name == name_of(one); });
  return found != among.end() ? std::optional(*found) : std::nullopt;
}

base::Json to_json(const Diagnosis& diagnosis) {
  base::Json also = base::Json::array();
  for (const Verdict verdict : diagnosis.also)
    also.push(name_of(verdict));
  base::Json findings = base::Json::array();
  for (const std::string& finding : diagnosis.findings)
    findings.push(finding);
  return base::Json::object({{"verdict", name_of(diagnosis.verdict)},
                             {"also", std::move(also)},
                             {"confidence", name_of(diagnosis.confidence)},
                             {"headline", diagnosis.headline},
                             {"findings", std::move(findings)},
                             {"evidence", diagnosis.evidence},
                             {"fix", fix_json(diagnosis.fix)}});
}

}  // namespace ebb::fact
