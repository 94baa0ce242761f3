// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "replay/job_builder.h"

namespace ebb::replay {

/// A training job in miniature: weights, activations that grow with the length of a step's
/// sequences (one of them with its square), gradients that the next step frees, and the state of an
/// optimiser that the first step makes.
struct TrainingJob {
  int layers = 6;
  std::uint64_t weight = 3 * base::kMiB;
  std::uint64_t unit = 40 * 1024;  ///< bytes of an activation by unit of length
  bool keeps_gradients = true;     ///< until the next step begins
  std::uint64_t leak = 0;          ///< bytes that every step leaves behind

  Workload run(const std::vector<std::uint64_t>& lengths) const {
    RecordedJob job;
    run(job, lengths);
    return job.workload();
  }

  void run(RecordedJob& job, const std::vector<std::uint64_t>& lengths) const {
    for (int i = 0; i < layers; ++i) {
      job.take(weight);
    }
    std::vector<device::Address> gradients;
    for (std::size_t step = 0; step < lengths.size(); ++step) {
      give_all(job, gradients);
      const std::uint64_t n = lengths[step];
      std::vector<device::Address> activations;
      for (int i = 0; i < layers; ++i) {
        activations.push_back(job.take(n * unit));
        const device::Address scores = job.take(n * n * 64);
        job.give(scores);
        activations.push_back(job.take(2 * n * unit));
      }
      while (!activations.empty()) {
        job.give(activations.back());
        activations.pop_back();
        if (activations.size() % 2 == 0) gradients.push_back(job.take(weight));
      }
      if (step == 0) {
        for (int i = 0; i < 2 * layers; ++i) {
          job.take(weight);
        }
      }
      if (leak != 0) job.take(leak);
      if (!keeps_gradients) give_all(job, gradients);
    }
  }

 private:
  static void give_all(RecordedJob& job, std::vector<device::Address>& blocks) {
    for (const device::Address block : blocks) {
      job.give(block);
    }
    blocks.clear();
  }
};

inline std::vector<std::uint64_t> varied_lengths(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> lengths;
  for (std::size_t i = 0; i < count; ++i) {
    lengths.push_back(100 + random() % 300);
  }
  return lengths;
}

/// Recorded while its steps needed ever less: each fits into what the one before it left, until
/// their order changes.
inline Workload job_with_luck(const std::string& conf = "") {
  using base::kMiB;
  RecordedJob job(conf);
  job.take(40 * kMiB);
  for (std::uint64_t step = 0; step < 16; ++step) {
    const device::Address one = job.take((400 - 20 * step) * kMiB);
    const device::Address other = job.take((200 - 10 * step) * kMiB);
    job.give(one);
    job.give(other);
  }
  return job.workload();
}

}  // namespace ebb::replay
