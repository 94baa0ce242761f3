// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace ebb::fl {

/// The processes that share one simulation. Every rank calls the same functions in the same order.
/// Not thread-safe. A rank that dies ends the others with it.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;
  bool is_first() const { return rank() == 0; }

  /// Adds up over all ranks, modulo 2^64: exact in whatever order.
  virtual base::Status sum(std::span<std::int64_t> values) = 0;
  /// What rank 0 has, to all.
  virtual base::Status broadcast(std::span<std::byte> bytes) = 0;

  /// All is done on this rank. Destroyed without it, the other ranks are ended as well: they would
  /// wait for ever.
  virtual void complete() {}
};

/// What rank 0 has, of any length, to all.
base::Status broadcast_text(Ranks& ranks, std::string& text);

/// The least of what the ranks have: the same on each.
base::Result<std::uint64_t> least_of(Ranks& ranks, std::uint64_t mine);

/// This process alone.
std::unique_ptr<Ranks> alone();

/// Ranks that somebody else owns: whoever is given these does not end the others with it.
std::unique_ptr<Ranks> lent(Ranks& ranks);

/// Whether this process was started by mpirun beside others.
bool started_by_mpi();

/// The rank of this process as mpirun tells it, also before MPI is joined; 0 where it is alone.
std::uint32_t rank_by_environment();

/// The function of the library for MPI: `extern "C" Ranks* ()`, null where MPI does not start.
inline constexpr char kMpiEntryPoint[] = "ebb_fl_join_mpi";

/// The ranks that mpirun started, through `library`: MPI costs nothing where it is not used.
/// Code::unavailable where it cannot be loaded.
base::Result<std::unique_ptr<Ranks>> join_mpi(const std::string& library);

/// The ranks that mpirun started, through the library ebb-mpi beside the program, or this process
/// alone.
base::Result<std::unique_ptr<Ranks>> join_ranks();

}  // namespace ebb::fl
