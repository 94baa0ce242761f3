// SPDX-License-Identifier: Apache-2.0
#include "run/answer_watch.h"

#include <utility>

namespace ebb::run {

AnswerWatch::Change AnswerWatch::answered(bool owes) {
  owes_ = owes;
  owed_seconds_ = 0;
  return std::exchange(is_silent_, false) ? Change::back : Change::none;
}

AnswerWatch::Change AnswerWatch::passed(double elapsed, bool can_run) {
  if (!owes_ || !can_run) return Change::none;
  owed_seconds_ += elapsed;
  if (owed_seconds_ >= kLostSeconds) return Change::lost;
  if (owed_seconds_ < kSilentSeconds || is_silent_) return Change::none;
  is_silent_ = true;
  return Change::silent;
}

}  // namespace ebb::run
