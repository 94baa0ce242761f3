// SPDX-License-Identifier: Apache-2.0
#include "fl/card_patience.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace ebb::fl {
namespace {

constexpr double kLongestPause = 10;

bool is_out_of_memory(const base::Status& status) {
  return !status && status.error().code == base::Code::out_of_memory;
}

}  // namespace

base::Status CardPatience::insist(const std::string& what,
                                  const std::function<base::Status()>& attempt, double seconds) {
  base::Status done = attempt();
  if (card_ == nullptr || !is_out_of_memory(done)) return done;
  const std::string first = done.error().message;
  double waited = 0;
  double pause = 1;
  while (true) {
    card_->empty_cache();
    done = attempt();
    if (!is_out_of_memory(done) || waited >= seconds) break;
    pause = std::min({pause, kLongestPause, seconds - waited});
    card_->wait(pause);
    waited += pause;
    pause *= 2;
  }
  std::string line = what + ": " + card_->name() + " had no room (" + first + ")";
  if (done) line += base::format_text("; it had some %.0f s later", waited);
  lines_.push_back(std::move(line));
  return done;
}

std::vector<std::string> CardPatience::lines() {
  return std::exchange(lines_, {});
}

}  // namespace ebb::fl
