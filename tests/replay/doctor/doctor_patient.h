// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "cache/snapshot.h"
#include "device/sim_driver.h"
#include "replay/doctor/doctor.h"
#include "trace/snapshot.h"

namespace ebb::fact {

/// For messages of tests.
inline void PrintTo(Verdict verdict, std::ostream* out) {
  *out << name_of(verdict);
}

}  // namespace ebb::fact

namespace ebb::replay {

using base::kGiB;
using base::kKiB;
using base::kMiB;
using cache::Address;
using cache::StreamId;
using fact::Verdict;

struct PatientOptions {
  std::string conf = {};
  std::uint64_t limit = 0;  ///< that the job sets itself; 0: none
  int minor = 11;
  device::SimOptions device = {};
};

/// A job on the project's own allocator, with a trouble that is known, and the file that it leaves
/// behind: written as PyTorch writes it, and read again.
class Patient {
 public:
  explicit Patient(PatientOptions options = {});

  /// A request that is served.
  Address take(std::uint64_t bytes, StreamId stream = 0);
  std::vector<Address> take_all(std::size_t count, std::uint64_t bytes);
  /// A request that finds no memory.
  void refuse(std::uint64_t bytes, StreamId stream = 0);
  void give(Address address);
  void give_all(const std::vector<Address>& addresses);
  /// Another stream uses the block until somebody waits for it.
  void share(Address address, StreamId stream);

  /// Requests go to a private pool in between.
  cache::PoolId enter_pool(bool of_graph);
  void leave_pool(cache::PoolId pool);

  void annotate(const std::string& name, bool start);

  cache::Core& core(int device = 0) { return *cores_[static_cast<std::size_t>(device)]; }
  /// The file it leaves behind, and what is read from it.
  std::string pickle();
  trace::Snapshot snapshot();

 private:
  device::SimDriver driver_;
  std::vector<std::unique_ptr<cache::Core>> cores_;
  std::vector<cache::Annotation> annotations_;
};

/// Reads the snapshot as `ebb doctor` does and diagnoses it; the certificate must be accepted.
SnapshotDiagnosis examine(const trace::Snapshot& snapshot, std::optional<std::uint64_t> limit = {},
                          int device = 0, std::optional<std::uint64_t> card = {});

/// Whether the verdict is also given among others.
bool has_also(const SnapshotDiagnosis& diagnosis, Verdict verdict);

/// A training step without trouble: ten requests of different sizes, all given back.
void healthy_step(Patient& patient);

}  // namespace ebb::replay
