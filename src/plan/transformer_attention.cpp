// SPDX-License-Identifier: Apache-2.0
// The ways in which queries, keys and values become attention: which tensors each of them makes.
#include "plan/transformer_writer.h"

namespace ebb::plan {

ValueId TransformerWriter::rotated(ValueId x) {
  const bool copies_gradient = training_.attention == Attention::eager;
  const ValueId heads = copies_gradient ? tape_.relayout(x) : x;
  const ValueId plain = tape_.multiply(heads, cosine_);
  const ValueId turned = tape_.multiply(tape_.rotate_half(heads), sine_);
  return tape_.add(plain, turned);
}

ValueId TransformerWriter::expanded_heads(ValueId x) {
  const std::uint64_t times = shape_.heads / shape_.kv_heads;
  return times > 1 ? tape_.repeat(x, times) : tape_.clone(x);
}

ValueId TransformerWriter::attend(ValueId q, ValueId k, ValueId v) {
  if (has_fused_operators() && training_.attention == Attention::eager)
    return fused_scores_attention(q, k, v);
  if (training_.attention == Attention::eager) return eager_attention(q, k, v);
  const bool half = is_half(tape_.compute_type(q));
  if (half && shape_.head_size <= 256) return tape_.flash_attention(q, k, v, shape_);
  // No fused kernel of PyTorch shares key heads in f32.
  if (shape_.heads != shape_.kv_heads) return unfused_sdpa(q, k, v);
  return tape_.efficient_attention(q, k, v, shape_);
}

ValueId TransformerWriter::eager_attention(ValueId q, ValueId k, ValueId v) {
  ValueId keys = 0, values = 0, queries = 0;
  if (is_llama()) {
    keys = tape_.lowered(expanded_heads(k));
    values = tape_.lowered(expanded_heads(tape_.relayout(v)));
    queries = tape_.clone(tape_.lowered(q));
  } else {
    queries = tape_.clone(tape_.relayout(q));
    keys = tape_.clone(k);
    values = tape_.clone(tape_.relayout(v));
  }
  const std::uint32_t begin = tape_.position();
  ValueId x = tape_.scale(tape_.batched_product(queries, keys, scores()));
  x = tape_.add(x, *mask_);
  if (is_llama()) x = tape_.cast(x, ElementType::f32);
  x = tape_.cast(tape_.softmax(x), tape_.type(values));
  x = tape_.dropout(x, training_.dropout);
  const ValueId attended = tape_.batched_product(x, values, tape_.elements(queries));
  if (training_.checkpoint == Checkpoint::selective) tape_.recompute(begin, tape_.position());
  return tape_.clone(tape_.relayout(attended));
}

ValueId TransformerWriter::fused_scores_attention(ValueId q, ValueId k, ValueId v) {
  const ValueId queries = tape_.lowered(q), keys = tape_.lowered(k), values = tape_.lowered(v);
  const std::uint32_t begin = tape_.position();
  ValueId x = tape_.softmax(tape_.batched_product(queries, keys, scores()));
  x = tape_.dropout(tape_.cast(x, tape_.type(values)), training_.dropout);
  const ValueId attended = tape_.batched_product(x, values, tape_.elements(queries));
  if (training_.checkpoint == Checkpoint::selective) tape_.recompute(begin, tape_.position());
  return tape_.clone(attended);
}

ValueId TransformerWriter::unfused_sdpa(ValueId q, ValueId k, ValueId v) {
  const std::uint64_t pairs = shape_.sequence * shape_.sequence;
  const ValueId scaled = tape_.scale(tape_.relayout(q));
  const ValueId mask = tape_.made("attention mask", pairs, tape_.type(q), {pairs, pairs});
  const ValueId expanded = tape_.repeat(tape_.relayout(k), shape_.heads / shape_.kv_heads);
  const ValueId values = tape_.repeat(tape_.relayout(v), shape_.heads / shape_.kv_heads);
  const ValueId keys = tape_.scale(expanded);
  const ValueId queries = tape_.clone(scaled);
  const std::uint32_t begin = tape_.position();
  const ValueId masked = tape_.add(tape_.batched_product(queries, keys, scores()), mask);
  ValueId x = tape_.safe_softmax(masked, scores() / shape_.sequence);
  x = tape_.dropout(x, training_.dropout);
  tape_.keep(expanded);
  tape_.keep(scaled);
  tape_.keep(mask);
  const ValueId attended = tape_.batched_product(x, values, tape_.elements(queries));
  if (training_.checkpoint == Checkpoint::selective) tape_.recompute(begin, tape_.position());
  return tape_.clone(tape_.relayout(attended));
}

}  // namespace ebb::plan
