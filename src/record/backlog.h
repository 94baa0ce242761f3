// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "record/batch.h"

namespace ebb::record {

/// What waits to be written, in bounded memory: where it is full the oldest goes, and is counted.
/// Not thread-safe.
class Backlog {
 public:
  static constexpr std::size_t kMostSamples = 20'000;
  static constexpr std::size_t kMostOthers = 5'000;  ///< of each other kind

  void add(Process process) { push(waiting_.processes, std::move(process), kMostOthers); }
  void add(Sample sample) { push(waiting_.samples, sample, kMostSamples); }
  void add(PlaceSample place) { push(waiting_.places, place, kMostOthers); }
  void add(Round round) { push(waiting_.rounds, round, kMostOthers); }
  void add(Action action) { push(waiting_.actions, std::move(action), kMostOthers); }
  void add(Event event) { push(waiting_.events, std::move(event), kMostOthers); }
  void add(Beside beside) { push(waiting_.beside, std::move(beside), kMostOthers); }
  void add(DeviceSample device) { push(waiting_.devices, std::move(device), kMostOthers); }
  void add(Mapped mapped) { push(waiting_.mapped, mapped, kMostOthers); }
  void add(Sampling sampling) { push(waiting_.samplings, sampling, kMostOthers); }
  void add(Site site) { push(waiting_.sites, site, kMostSamples); }
  void add(SiteName name) { push(waiting_.site_names, std::move(name), kMostOthers); }
  void add(Simulation simulation) {
    push(waiting_.simulations, std::move(simulation), kMostOthers);
  }
  void add(SimulatedRound round) { push(waiting_.simulated, std::move(round), kMostOthers); }
  void add_end(ProcessKey process, double seconds) {
    push(waiting_.ended, std::pair(process, seconds), kMostOthers);
  }

  std::size_t size() const { return waiting_.size(); }

  /// All that waits; nothing does afterwards.
  Batch take();

  /// Puts a batch that could not be written back in front of what came meanwhile.
  void put_back(Batch batch);

 private:
  template <class T>
  void push(std::vector<T>& items, T item, std::size_t most) {
    items.push_back(std::move(item));
    // In larger steps: taking one from the front moves all the others.
    if (items.size() > most + most / 8) drop_oldest(items, most);
  }
  template <class T>
  void drop_oldest(std::vector<T>& items, std::size_t most) {
    if (items.size() <= most) return;
    const std::size_t excess = items.size() - most;
    items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(excess));
    waiting_.lost += excess;
  }
  template <class T>
  void put_back(std::vector<T>& items, std::vector<T>& older, std::size_t most) {
    older.insert(older.end(), std::make_move_iterator(items.begin()),
                 std::make_move_iterator(items.end()));
    items = std::move(older);
    drop_oldest(items, most);
  }

  Batch waiting_;
};

}  // namespace ebb::record
