// SPDX-License-Identifier: Apache-2.0
#include "record/backlog.h"

#include <utility>

namespace ebb::record {

Batch Backlog::take() {
  return std::exchange(waiting_, Batch{});
}

void Backlog::put_back(Batch batch) {
  waiting_.lost += batch.lost;
  put_back(waiting_.processes, batch.processes, kMostOthers);
  put_back(waiting_.ended, batch.ended, kMostOthers);
  put_back(waiting_.samples, batch.samples, kMostSamples);
  put_back(waiting_.places, batch.places, kMostOthers);
  put_back(waiting_.rounds, batch.rounds, kMostOthers);
  put_back(waiting_.actions, batch.actions, kMostOthers);
  put_back(waiting_.events, batch.events, kMostOthers);
  put_back(waiting_.beside, batch.beside, kMostOthers);
  put_back(waiting_.devices, batch.devices, kMostOthers);
  put_back(waiting_.mapped, batch.mapped, kMostOthers);
  put_back(waiting_.samplings, batch.samplings, kMostOthers);
  put_back(waiting_.sites, batch.sites, kMostSamples);
  put_back(waiting_.site_names, batch.site_names, kMostOthers);
  put_back(waiting_.simulations, batch.simulations, kMostOthers);
  put_back(waiting_.simulated, batch.simulated, kMostOthers);
}

}  // namespace ebb::record
