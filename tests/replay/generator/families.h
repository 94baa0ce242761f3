// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "replay/generator/draws.h"
#include "replay/generator/tape.h"

/// Jobs as people run them with PyTorch. Each function draws a job, writes what happens before its
/// first step and returns what one step does; steps go on for as long as they are called.
namespace ebb::replay::generator {

using Step = std::function<void()>;

// Training.
Step constant_shapes(Tape& tape, Draws& draws);
Step varying_lengths(Tape& tape, Draws& draws);
Step accumulated_gradients(Tape& tape, Draws& draws);
Step multi_scale_images(Tape& tape, Draws& draws);
Step evaluation_between(Tape& tape, Draws& draws);
Step slow_leak(Tape& tape, Draws& draws);

// More than one model, stream or client.
Step actor_and_critic(Tape& tape, Draws& draws);
Step prefetched_batches(Tape& tape, Draws& draws);
Step federated_rounds(Tape& tape, Draws& draws);

// Irregular ones.
Step growing_cache(Tape& tape, Draws& draws);
Step random_graphs(Tape& tape, Draws& draws);
Step server(Tape& tape, Draws& draws);

}  // namespace ebb::replay::generator
