// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <barrier>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "fl/ranks.h"

namespace ebb::fl {

/// Where the ranks of one process meet, each on a thread of its own.
struct MeetingPlace {
  explicit MeetingPlace(std::uint32_t ranks) : values(ranks), bytes(ranks), all_are_here(ranks) {}

  std::vector<std::span<std::int64_t>> values;
  std::vector<std::span<std::byte>> bytes;
  std::vector<std::int64_t> sums;
  std::barrier<> all_are_here;
};

/// One of several ranks in this process.
class MeetingRank final : public Ranks {
 public:
  MeetingRank(MeetingPlace& place, std::uint32_t rank) : place_(place), rank_(rank) {}

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(place_.values.size()); }
  base::Status sum(std::span<std::int64_t> values) override {
    place_.values[rank_] = values;
    place_.all_are_here.arrive_and_wait();
    if (is_first()) {
      place_.sums.assign(values.size(), 0);
      for (const auto& of_one : place_.values)
        for (std::size_t i = 0; i < of_one.size(); ++i)
          place_.sums[i] += of_one[i];
    }
    place_.all_are_here.arrive_and_wait();
    std::copy(place_.sums.begin(), place_.sums.end(), values.begin());
    place_.all_are_here.arrive_and_wait();
    return {};
  }
  base::Status broadcast(std::span<std::byte> bytes) override {
    place_.bytes[rank_] = bytes;
    place_.all_are_here.arrive_and_wait();
    if (!is_first() && !bytes.empty())
      std::memcpy(bytes.data(), place_.bytes.front().data(), bytes.size());
    place_.all_are_here.arrive_and_wait();
    return {};
  }

 private:
  MeetingPlace& place_;
  const std::uint32_t rank_;
};

/// Calls `work` on as many ranks, each on a thread.
inline void on_meeting_ranks(std::uint32_t count, const std::function<void(Ranks&)>& work) {
  MeetingPlace place(count);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&place, &work, rank] {
      MeetingRank mine(place, rank);
      work(mine);
    });
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace ebb::fl
