// SPDX-License-Identifier: Apache-2.0
// What is different under differential privacy: who is drawn, and the norm that follows updates.
#include "fl/engine.h"

namespace ebb::fl {

std::vector<std::uint32_t> Engine::draw_cohort() const {
  Random random(config_.seed, Purpose::selection, round_);
  std::vector<std::uint32_t> cohort;
  for (std::uint32_t client = 0; client < config_.clients; ++client)
    if (random.uniform() * config_.clients < config_.per_round) cohort.push_back(client);
  return cohort;
}

void Engine::adapt_clip(const std::vector<Member>& members, RoundReport& report) {
  const PrivacyOptions& privacy = config_.privacy;
  if (!privacy.on()) return;
  report.privacy = RoundPrivacy{clip_};
  if (!privacy.adapts()) return;
  std::uint64_t arrived = 0;
  std::uint64_t within = 0;
  for (const Member& member : members) {
    if (!member.fate.arrives) continue;
    ++arrived;
    if (member.norm <= clip_) ++within;
  }
  Random random(config_.seed, Purpose::privacy_count, round_);
  const double noise = count_noise_of(privacy, config_.per_round) * random.normal();
  report.privacy->share = published_share(within, arrived, config_.per_round, noise);
  clip_ = next_clip(privacy, clip_, *report.privacy->share);
}

}  // namespace ebb::fl
