// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/counterfactual.h"

#include <algorithm>

namespace ebb::replay {
namespace {

using fact::Verdict;
using Kind = Operation::Kind;

/// Settings of a string at their outermost commas, which a list in brackets does not end.
std::vector<std::string> settings_in(const std::string& conf) {
  std::vector<std::string> all(1);
  int depth = 0;
  for (const char c : conf) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}

Workload with_immediate_frees(Workload work) {
  for (Operation& op : work.operations) {
    if (op.kind == Kind::free_later) op.kind = Kind::free;
  }
  return work;
}

Workload with_shared_pools(Workload work) {
  for (Operation& op : work.operations) {
    op.pool = 0;
  }
  work.pools.resize(1);
  work.initial.clear();
  return work;
}

}  // namespace

std::string without_key(const std::string& conf, std::string_view key) {
  std::string rest;
  for (const std::string& setting : settings_in(conf)) {
    const std::size_t start = setting.find_first_not_of(' ');
    if (start == std::string::npos || setting.compare(start, key.size(), key) == 0) continue;
    rest += (rest.empty() ? "" : ",") + setting;
  }
  return rest;
}

std::optional<Row> replay_without(const Workload& workload, const Row& recorded,
                                  const Circumstances& circumstances, fact::Verdict cause) {
  Circumstances same = circumstances;
  same.limit = recorded.limit;
  same.profile = recorded.profile;
  const auto found = [](base::Result<Row> row) -> std::optional<Row> {
    if (!row) return std::nullopt;
    return std::move(*row);
  };
  const auto with = [&](const std::string& conf) {
    return conf == recorded.conf ? std::nullopt : found(forecast(workload, conf, same, false));
  };
  // Nothing was recorded that such a row could be checked against.
  const auto altered = [&](const Workload& work) {
    auto row = found(forecast(work, recorded.conf, same, false));
    if (row) {
      row->is_recorded = false;
      row->check = Check::altered;
      row->difference = std::string("without ") + fact::name_of(cause);
    }
    return row;
  };
  const auto any_operation = [&](auto&& is_one) {
    return std::any_of(workload.operations.begin(), workload.operations.end(), is_one);
  };
  switch (cause) {
    case Verdict::rounding:
      return with(without_key(recorded.conf, "roundup_power2_divisions"));
    case Verdict::oversize:
      return with(without_key(without_key(recorded.conf, "max_split_size_mb"),
                              "max_non_split_rounding_mb"));
    case Verdict::deferred_frees:
      if (!any_operation([](const Operation& op) { return op.kind == Kind::free_later; })) break;
      return altered(with_immediate_frees(workload));
    case Verdict::private_pools:
      if (!any_operation([](const Operation& op) { return op.pool != 0; })) break;
      return altered(with_shared_pools(workload));
    case Verdict::self_limit:
      same.limit = recorded.limit + workload.recording.largest_oom_free;
      return found(forecast(workload, recorded.conf, same, false));
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace ebb::replay
