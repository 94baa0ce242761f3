// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fl/aggregate/client_rows.h"
#include "fl/aggregate/update_sum.h"
#include "fl/ranks.h"

namespace ebb::fl {

/// The control variates of SCAFFOLD (Karimireddy et al. 2020): one of the server, one of each
/// client; all begin as zeros. Option I: a client's becomes the gradient of its loss at the model
/// that it was sent. Every rank has all of them.
class ControlVariates {
 public:
  struct Shape {
    std::size_t parameters = 0;
    std::uint32_t clients = 0;
    std::uint32_t per_round = 0;
  };
  /// The clients' lie in `folder`, "" for a file without a name. Fails as ClientRows::create.
  static base::Result<std::unique_ptr<ControlVariates>> create(const Shape& shape,
                                                               const std::string& folder);
  /// Bytes of memory that all of it takes, besides the file.
  static std::uint64_t memory_of(const Shape& shape);

  /// What each step of the client adds to its gradient: the server's less its own. Thread-safe.
  void correction(std::uint32_t client, std::span<float> into) const;
  /// A client's becomes `gradient`; `old` is room for as many numbers. Different clients at the
  /// same time. Code::bad_input, with nothing learned, where a number is none or beyond all
  /// measure.
  base::Status learn(std::uint32_t client, std::span<const float> gradient, std::span<float> old);

  /// Who learned in a round, and whether on this rank.
  struct Learner {
    std::uint32_t client = 0;
    bool is_mine = false;
  };
  /// Moves the server's by what clients have learned on all ranks, and tells each rank the rows of
  /// the others.
  base::Status finish_round(std::span<const Learner> learners, Ranks& ranks);

  /// As ClientRows::keep.
  base::Status keep() { return rows_.keep(); }
  /// What a checkpoint has of it, beside the file; to be written back.
  std::vector<std::span<std::byte>> state();
  /// After state() was written back on every rank: the first one has the rows. Fails as
  /// ClientRows::check.
  base::Status restored(Ranks& ranks);

 private:
  ControlVariates(const Shape& shape, ClientRows rows)
      : clients_(shape.clients),
        server_(shape.parameters),
        sum_(shape.parameters, shape.per_round),
        rows_(std::move(rows)) {}

  const std::uint32_t clients_;
  std::vector<float> server_;
  UpdateSum sum_;  ///< of what clients have moved by in this round
  ClientRows rows_;
};

}  // namespace ebb::fl
