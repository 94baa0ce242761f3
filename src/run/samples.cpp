// SPDX-License-Identifier: Apache-2.0
#include "run/samples.h"

namespace ebb::run {

record::Sample sample_of(const sense::ProcessReading& reading, const record::ProcessKey& process,
                         double seconds) {
  record::Sample sample;
  sample.process = process;
  sample.seconds = seconds;
  sample.memory.rss = reading.rss;
  sample.memory.anon = reading.anon;
  sample.memory.file = reading.file;
  sample.memory.shmem = reading.shmem;
  sample.memory.swap = reading.swap;
  sample.memory.pss = reading.pss;
  sample.peak_rss = reading.hwm;
  sample.minor_faults = reading.minor_faults;
  sample.cpu_seconds = reading.cpu_seconds;
  return sample;
}

}  // namespace ebb::run
