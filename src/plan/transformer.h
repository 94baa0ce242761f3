// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/tape.h"

namespace ebb::plan {

/// Whose operators run. `gpt2`: Hugging Face's GPT2LMHeadModel. `llama`: LlamaForCausalLM, which
/// Mistral and Qwen2 share. `megatron`: the same layers as gpt2 with fused operators, as published
/// formulas count them.
enum class Architecture : std::uint8_t { gpt2, llama, megatron };

/// In which types a step computes. `fp32`: all f32. `amp`: f32 weights, bf16 autocast. `bf16`: all
/// bf16. `fp16_mixed`: f16 weights and gradients, the optimizer on a copy in f32.
enum class Precision : std::uint8_t { fp32, amp, bf16, fp16_mixed };

/// `eager`: scores as tensors. `sdpa`: PyTorch chooses. `flash`: the fused kernel.
enum class Attention : std::uint8_t { eager, sdpa, flash };

/// Which results are thrown away and computed again. `selective`: the attention scores.
enum class Checkpoint : std::uint8_t { none, full, selective };

inline constexpr std::array kArchitectures = {Architecture::gpt2, Architecture::llama,
                                              Architecture::megatron};
inline constexpr std::array kPrecisions = {Precision::fp32, Precision::amp, Precision::bf16,
                                           Precision::fp16_mixed};
inline constexpr std::array kAttentions = {Attention::eager, Attention::sdpa, Attention::flash};
inline constexpr std::array kCheckpoints = {Checkpoint::none, Checkpoint::full,
                                            Checkpoint::selective};

const char* name_of(Architecture architecture);
const char* name_of(Precision precision);
const char* name_of(Attention attention);
const char* name_of(Checkpoint checkpoint);
base::Result<Architecture> architecture_from(std::string_view text);
base::Result<Precision> precision_from(std::string_view text);
base::Result<Attention> attention_from(std::string_view text);
base::Result<Checkpoint> checkpoint_from(std::string_view text);

/// The type of weights and, outside autocast, of activations.
ElementType weight_type(Precision precision);

/// What a transformer is made of.
struct TransformerModel {
  Architecture architecture = Architecture::gpt2;
  std::uint64_t layers = 0;
  std::uint64_t d_model = 0;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;   ///< 0: as many as heads
  std::uint64_t head_size = 0;  ///< 0: d_model / heads
  std::uint64_t d_ff = 0;       ///< 0: four times d_model
  std::uint64_t vocab = 0;
  std::uint64_t max_positions = 0;  ///< of learned positions; 0: none are learned, or 1024 for gpt2
  bool tied = true;                 ///< the output layer is the embedding table
  bool qkv_bias = false;            ///< llama only: Qwen2 has it

  /// The same with every 0 replaced; Code::bad_input where sizes contradict each other.
  base::Result<TransformerModel> completed() const;
  std::uint64_t parameters() const;
  /// Keys and values of one token in all layers. Requires: completed.
  std::uint64_t kv_cache_bytes_per_token(ElementType type) const;
};

/// How it is trained.
struct TransformerTraining {
  std::uint64_t sequence = 1024;
  std::uint64_t batch = 1;
  Precision precision = Precision::amp;
  Attention attention = Attention::sdpa;
  Checkpoint checkpoint = Checkpoint::none;
  double dropout = 0;
  std::uint64_t lora_rank = 0;        ///< not 0: only adapters of this rank are trained
  std::uint64_t tensor_parallel = 1;  ///< each layer's matrices are split over so many devices
};

/// The tape of one device. Requires: a completed model. Code::bad_input where the training does not
/// fit the model.
base::Result<Tape> write_transformer(const TransformerModel& model,
                                     const TransformerTraining& training);

}  // namespace ebb::plan
