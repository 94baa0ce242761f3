// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay/generator/draws.h"
#include "replay/generator/net.h"
#include "replay/generator/tape.h"

namespace ebb::replay::generator {

/// How a model is trained, as far as memory shows it.
struct TrainerOptions {
  int states = 2;           ///< blocks of optimizer state per parameter: SGD 0, momentum 1, Adam 2
  bool temporaries = true;  ///< the optimizer works on lists of tensors, not in one kernel
  bool set_to_none = true;  ///< zero_grad gives gradients back
  bool checkpointing = false;    ///< activations are computed again in backward
  bool mixed_precision = false;  ///< parameters are cast for each forward pass
  bool library = true;           ///< it is the first to need the matrix library's workspace

  static TrainerOptions draw(Draws& draws);
};

/// A model on the device, and the requests that training and using it makes, in PyTorch's order.
class Trainer {
 public:
  Trainer(Tape& tape, Draws& draws, Net net, TrainerOptions options);

  void load();
  /// Gives back all that the model holds.
  void unload();

  /// With an input of these two sizes, which stays until backward is done. `own_input` is false
  /// where the caller has brought it to the device.
  void forward(std::uint64_t first, std::uint64_t second, bool own_input = true);
  void backward();
  void update();
  void zero_grad();
  void step(std::uint64_t first, std::uint64_t second);

  /// A forward pass that keeps nothing; returns its last large output, which the caller gives back.
  Tape::Block infer(std::uint64_t first, std::uint64_t second);

  const Net& net() const { return net_; }

 private:
  using Block = Tape::Block;
  struct Saved {
    Block output = 0;
    std::optional<Block> beside;
  };
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  void divide();
  Saved run(const Kernel& kernel);
  void run_kept(Part part);
  void run_forgetting(Part part);
  Block run_backward(Part part, Block gradient);
  void make_gradient(int weight);
  void give_gradients();
  void cast(int weight);

  Tape& tape_;
  Draws& draws_;
  Net net_;
  TrainerOptions options_;
  std::vector<Block> weights_;
  std::vector<std::optional<Block>> gradients_;
  std::vector<Block> states_;

  std::vector<Kernel> kernels_;  ///< of the present step
  std::vector<Part> parts_;      ///< what checkpointing computes again at a time
  std::optional<Block> input_;
  std::vector<Saved> saved_;  ///< by kernel
  std::vector<Block> checkpoints_;
  std::vector<Block> casts_;
  std::vector<bool> is_cast_;
};

}  // namespace ebb::replay::generator
