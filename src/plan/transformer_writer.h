// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/tape_writer.h"
#include "plan/transformer.h"

namespace ebb::plan {

/// Writes the layers of a transformer; one object per tape.
class TransformerWriter {
 public:
  /// Requires: a completed model and a training that was checked against it.
  TransformerWriter(const TransformerModel& model, const TransformerTraining& training);

  Tape write();

 private:
  struct Linear {
    ValueId weight = 0;
    std::optional<ValueId> bias;
    std::uint64_t outputs = 0;
    std::optional<ValueId> down, up;  ///< the adapter's, with lora
  };
  struct Norm {
    ValueId weight = 0;
    std::optional<ValueId> bias;
  };
  struct Layer {
    Norm first, second;
    Linear qkv;                ///< gpt2, megatron
    Linear query, key, value;  ///< llama
    Linear project;
    Linear widen;           ///< llama: the gate
    Linear beside, narrow;  ///< beside: llama only
  };

  // Weights, in the order in which Hugging Face's modules hold them.
  void write_weights();
  Linear linear_weights(const std::string& name, std::uint64_t inputs, std::uint64_t outputs,
                        bool bias);
  Norm norm_weights(const std::string& name, bool bias);

  ValueId apply(const Linear& linear, ValueId x);
  ValueId apply(const Norm& norm, ValueId x);
  ValueId embed();
  ValueId gpt_layer(const Layer& layer, ValueId x);
  ValueId llama_layer(const Layer& layer, ValueId x);
  ValueId gelu(ValueId x);
  ValueId rotated(ValueId x);
  ValueId attend(ValueId q, ValueId k, ValueId v);
  ValueId eager_attention(ValueId q, ValueId k, ValueId v);
  ValueId fused_scores_attention(ValueId q, ValueId k, ValueId v);
  ValueId unfused_sdpa(ValueId q, ValueId k, ValueId v);
  ValueId expanded_heads(ValueId x);
  void write_loss(ValueId x);

  bool is_llama() const { return model_.architecture == Architecture::llama; }
  bool has_fused_operators() const { return model_.architecture == Architecture::megatron; }
  std::uint64_t scores() const {
    return shape_.batch * shape_.heads * shape_.sequence * shape_.sequence;
  }

  const TransformerModel& model_;
  const TransformerTraining& training_;
  const ElementType type_;
  const std::uint64_t rows_;
  TapeWriter::AttentionShape shape_;  ///< of this device
  std::uint64_t d_ff_ = 0;            ///< of this device
  std::uint64_t vocab_ = 0;           ///< of this device
  TapeWriter tape_;

  ValueId tokens_ = 0;
  ValueId table_ = 0;
  std::optional<ValueId> positions_;
  std::vector<Layer> layers_;
  Norm last_norm_;
  ValueId output_table_ = 0;
  std::optional<ValueId> mask_;
  ValueId cosine_ = 0, sine_ = 0;
  std::uint64_t largest_unit_ = 0;
};

}  // namespace ebb::plan
