// SPDX-License-Identifier: Apache-2.0
#include "plan/transformer.h"

#include "plan/transformer_writer.h"

namespace ebb::plan {
namespace {

using base::Code;
using base::error;

constexpr std::uint64_t kMostLayers = 2'000;
constexpr std::uint64_t kMostWidth = 1 << 20;
constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostScores = 1ULL << 56;

base::Status within(const char* what, std::uint64_t value, std::uint64_t most) {
  if (value >= 1 && value <= most) return {};
  return error(Code::bad_input, "%s %llu: expected 1 to %llu", what,
               static_cast<unsigned long long>(value), static_cast<unsigned long long>(most));
}

using ull = unsigned long long;

base::Status check(const TransformerModel& model, const TransformerTraining& training) {
  for (const auto& status :
       {within("sequence", training.sequence, 1 << 24), within("batch", training.batch, 1 << 24),
        within("tensor parallel", training.tensor_parallel, 1 << 16)})
    if (!status) return status;
  if (training.batch * training.sequence > kMostTokens)
    return error(Code::bad_input, "batch %llu of sequences of %llu: expected at most 2^32 tokens",
                 ull{training.batch}, ull{training.sequence});
  if (!(training.dropout >= 0 && training.dropout < 1))
    return error(Code::bad_input, "dropout %g: expected 0 or more and less than 1",
                 training.dropout);
  if (training.lora_rank > model.d_model)
    return error(Code::bad_input, "lora rank %llu: expected at most the width, %llu",
                 ull{training.lora_rank}, ull{model.d_model});
  const std::uint64_t split = training.tensor_parallel;
  if (model.heads % split != 0 || model.kv_heads % split != 0 || model.d_ff % split != 0)
    return error(Code::bad_input,
                 "tensor parallel %llu: expected a divisor of %llu heads, %llu key heads and a "
                 "feed-forward width of %llu",
                 ull{split}, ull{model.heads}, ull{model.kv_heads}, ull{model.d_ff});
  if (model.max_positions > 0 && training.sequence > model.max_positions)
    return error(Code::bad_input, "sequence %llu: the model has %llu positions",
                 ull{training.sequence}, ull{model.max_positions});
  if (model.heads / split > kMostScores / training.batch / training.sequence / training.sequence)
    return error(Code::bad_input,
                 "batch %llu, sequence %llu, heads %llu: expected at most 2^56 attention scores",
                 ull{training.batch}, ull{training.sequence}, ull{model.heads});
  if (training.attention == Attention::flash) {
    if (training.precision == Precision::fp32)
      return error(Code::bad_input, "attention flash: it has no kernels for fp32; use sdpa");
    if (model.head_size > 256)
      return error(Code::bad_input, "attention flash: head size %llu, expected at most 256",
                   ull{model.head_size});
  }
  return {};
}

}  // namespace

base::Result<TransformerModel> TransformerModel::completed() const {
  TransformerModel model = *this;
  for (const auto& status :
       {within("layers", layers, kMostLayers), within("d-model", d_model, kMostWidth),
        within("heads", heads, 1 << 16), within("vocab", vocab, 1 << 26)})
    if (!status) return status.error();
  if (model.head_size == 0) {
    if (d_model % heads != 0)
      return error(Code::bad_input, "heads %llu: expected a divisor of the width, %llu", ull{heads},
                   ull{d_model});
    model.head_size = d_model / heads;
  }
  if (model.kv_heads == 0) model.kv_heads = heads;
  if (heads % model.kv_heads != 0)
    return error(Code::bad_input, "kv-heads %llu: expected a divisor of %llu heads",
                 ull{model.kv_heads}, ull{heads});
  if (architecture != Architecture::llama && model.kv_heads != heads)
    return error(Code::bad_input, "kv-heads %llu: %s has one key head per head, %llu",
                 ull{model.kv_heads}, name_of(architecture), ull{heads});
  if (architecture == Architecture::llama && model.head_size % 2 != 0)
    return error(Code::bad_input, "head size %llu: rotary positions need an even one",
                 ull{model.head_size});
  if (model.d_ff == 0) model.d_ff = 4 * d_model;
  if (model.max_positions == 0 && architecture != Architecture::llama) model.max_positions = 1024;
  if (model.max_positions > 0 && architecture == Architecture::llama) model.max_positions = 0;
  for (const auto& status :
       {within("d-ff", model.d_ff, 16 * kMostWidth), within("head size", model.head_size, 1 << 16)})
    if (!status) return status.error();
  if (model.max_positions > (1 << 26))
    return error(Code::bad_input, "max-positions %llu: expected at most 2^26",
                 ull{model.max_positions});
  return model;
}

std::uint64_t TransformerModel::parameters() const {
  const std::uint64_t q = heads * head_size;
  const std::uint64_t kv = kv_heads * head_size;
  const bool llama = architecture == Architecture::llama;
  const std::uint64_t biases =
      llama ? (qkv_bias ? q + 2 * kv : 0) : q + 2 * kv + d_model + d_ff + d_model;
  const std::uint64_t matrices =
      d_model * (q + 2 * kv) + q * d_model + (llama ? 3 : 2) * d_model * d_ff;
  const std::uint64_t norm = llama ? d_model : 2 * d_model;
  const std::uint64_t tables = (tied ? 1 : 2) * vocab * d_model + max_positions * d_model;
  return tables + layers * (matrices + biases + 2 * norm) + norm;
}

std::uint64_t TransformerModel::kv_cache_bytes_per_token(ElementType type) const {
  return 2 * layers * kv_heads * head_size * bytes_of(type);
}

base::Result<Tape> write_transformer(const TransformerModel& model,
                                     const TransformerTraining& training) {
  if (const base::Status status = check(model, training); !status) return status.error();
  return TransformerWriter(model, training).write();
}

}  // namespace ebb::plan
