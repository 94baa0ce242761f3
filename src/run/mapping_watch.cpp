// SPDX-License-Identifier: Apache-2.0
#include "run/mapping_watch.h"

#include <algorithm>

namespace ebb::run {
namespace {

constexpr double kFirstMappingAge = 1;
constexpr double kLongestMappingPause = 60;
constexpr double kMappingShare = 1.0 / 500;
// What readings may take in all before they have to rest.
constexpr double kMappingAllowance = 0.05;

}  // namespace

double MappingWatch::next(double seconds, double age) {
  return seconds + std::clamp(age, kFirstMappingAge, kLongestMappingPause);
}

double MappingWatch::first(double seconds) {
  return seconds + kFirstMappingAge;
}

bool MappingWatch::may_read(double seconds) const {
  return spent_ < kMappingAllowance || seconds >= rests_until_;
}

void MappingWatch::took(double seconds, double cost) {
  spent_ += cost;
  rests_until_ = std::max(rests_until_, seconds) + cost / kMappingShare;
}

}  // namespace ebb::run
