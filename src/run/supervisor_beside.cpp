// SPDX-License-Identifier: Apache-2.0
// Allocators that libraries of the job bring for their own use.
#include <algorithm>

#include "run/supervisor.h"

namespace ebb::run {
namespace {

// No honest process has so many.
constexpr std::size_t kMostBeside = 64;

}  // namespace

bool can_give_back_beside(const Member& member) {
  // One that offers no function may still have a package that does.
  return !member.beside.empty();
}

void Supervisor::take(Member& member, const fact::PrivateAllocator& beside, double seconds) {
  const auto same = [&](const fact::PrivateAllocator& one) { return one.is_same(beside); };
  auto known = std::find_if(member.beside.begin(), member.beside.end(), same);
  if (known == member.beside.end()) {
    if (member.beside.size() >= kMostBeside) return;
    member.beside.push_back({});
    known = member.beside.end() - 1;
  }
  const std::uint64_t before = std::min(known->returned, beside.returned);
  *known = beside;
  journal_.add(record::Beside{member.key(), seconds, beside});
  if (beside.asked == 0) return;
  auto sum = std::find_if(summary_.beside.begin(), summary_.beside.end(), same);
  if (sum == summary_.beside.end()) {
    if (summary_.beside.size() >= kMostBeside) return;
    summary_.beside.push_back(beside);
  } else {
    sum->returned += beside.returned - before;
  }
}

}  // namespace ebb::run
