// SPDX-License-Identifier: Apache-2.0
// The library ebb-mpi: loaded by the simulator where mpirun started it, and only there.
#include <mpi.h>

#include <algorithm>

#include "fl/ranks.h"

namespace ebb::fl {
namespace {

/// MPI counts with int.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 24;

base::Status checked(int code, const char* what) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return base::error(base::Code::io, "MPI: %s: %s", what, text);
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int number = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    rank_ = static_cast<std::uint32_t>(number);
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    size_ = static_cast<std::uint32_t>(number);
  }
  ~MpiRanks() override {
    if (complete_)
      MPI_Finalize();
    else
      MPI_Abort(MPI_COMM_WORLD, 1);
  }

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }

  base::Status sum(std::span<std::int64_t> values) override {
    for (std::size_t at = 0; at < values.size(); at += kMostAtOnce) {
      const int count = static_cast<int>(std::min(kMostAtOnce, values.size() - at));
      if (auto done = checked(MPI_Allreduce(MPI_IN_PLACE, values.data() + at, count, MPI_INT64_T,
                                            MPI_SUM, MPI_COMM_WORLD),
                              "sum over the ranks");
          !done)
        return done;
    }
    return {};
  }

  base::Status broadcast(std::span<std::byte> bytes) override {
    for (std::size_t at = 0; at < bytes.size(); at += kMostAtOnce) {
      const int count = static_cast<int>(std::min(kMostAtOnce, bytes.size() - at));
      if (auto done = checked(MPI_Bcast(bytes.data() + at, count, MPI_BYTE, 0, MPI_COMM_WORLD),
                              "broadcast");
          !done)
        return done;
    }
    return {};
  }

  void complete() override { complete_ = true; }

 private:
  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 1;
  bool complete_ = false;
};

}  // namespace
}  // namespace ebb::fl

extern "C" [[gnu::visibility("default")]] ebb::fl::Ranks* ebb_fl_join_mpi() {
  // Threads train; the one that called this speaks to MPI.
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED)
    return nullptr;
  return new ebb::fl::MpiRanks;
}
