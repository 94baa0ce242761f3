// SPDX-License-Identifier: Apache-2.0
#include "fl/ranks.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/dynamic_library.h"
#include "base/program.h"
#include "base/text.h"

namespace ebb::fl {
namespace {

class Alone final : public Ranks {
 public:
  std::uint32_t rank() const override { return 0; }
  std::uint32_t size() const override { return 1; }
  base::Status sum(std::span<std::int64_t>) override { return {}; }
  base::Status broadcast(std::span<std::byte>) override { return {}; }
};

class Lent final : public Ranks {
 public:
  explicit Lent(Ranks& ranks) : ranks_(ranks) {}

  std::uint32_t rank() const override { return ranks_.rank(); }
  std::uint32_t size() const override { return ranks_.size(); }
  base::Status sum(std::span<std::int64_t> values) override { return ranks_.sum(values); }
  base::Status broadcast(std::span<std::byte> bytes) override { return ranks_.broadcast(bytes); }

 private:
  Ranks& ranks_;
};

}  // namespace

base::Status broadcast_text(Ranks& ranks, std::string& text) {
  std::uint64_t size = text.size();
  if (auto told = ranks.broadcast(std::as_writable_bytes(std::span(&size, 1))); !told) return told;
  text.resize(size);
  return ranks.broadcast(std::as_writable_bytes(std::span(text)));
}

base::Result<std::uint64_t> least_of(Ranks& ranks, std::uint64_t mine) {
  // Each number is known to one rank; the others add zeros.
  std::vector<std::int64_t> all(ranks.size());
  all[ranks.rank()] = static_cast<std::int64_t>(mine);
  if (auto summed = ranks.sum(all); !summed) return summed.error();
  return static_cast<std::uint64_t>(*std::min_element(all.begin(), all.end()));
}

std::unique_ptr<Ranks> alone() {
  return std::make_unique<Alone>();
}

std::unique_ptr<Ranks> lent(Ranks& ranks) {
  return std::make_unique<Lent>(ranks);
}

bool started_by_mpi() {
  // Open MPI; MPICH, Intel MPI and Slurm's PMI.
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && base::parse_unsigned(value).value_or(1) > 1) return true;
  }
  return false;
}

std::uint32_t rank_by_environment() {
  if (!started_by_mpi()) return 0;
  // Open MPI; MPICH.
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* value = std::getenv(variable))
      return static_cast<std::uint32_t>(base::parse_unsigned(value).value_or(0));
  return 0;
}

base::Result<std::unique_ptr<Ranks>> join_mpi(const std::string& library) {
  // Stays loaded until the process ends: MPI does not start twice.
  static std::optional<base::DynamicLibrary> loaded;
  auto opened = base::DynamicLibrary::open(library);
  if (!opened)
    return base::error(base::Code::unavailable, "started by mpirun, but MPI cannot be loaded: %s",
                       opened.error().message.c_str());
  loaded = std::move(*opened);
  const auto join = loaded->function<Ranks* (*)()>(kMpiEntryPoint);
  if (join == nullptr)
    return base::error(base::Code::unavailable, "%s: has no %s, expected Ebb's library for MPI",
                       library.c_str(), kMpiEntryPoint);
  std::unique_ptr<Ranks> ranks(join());
  if (!ranks) return base::error(base::Code::unavailable, "MPI did not start");
  return ranks;
}

base::Result<std::unique_ptr<Ranks>> join_ranks() {
  if (!started_by_mpi()) return alone();
  const auto library = base::file_of_program("libebb-mpi.so", {"../lib"});
  if (!library)
    return base::error(library.error().code, "started by mpirun, but %s",
                       library.error().message.c_str());
  return join_mpi(*library);
}

}  // namespace ebb::fl
