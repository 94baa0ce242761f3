// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/text.h"
#include "plan/transformer.h"

namespace ebb::plan {
namespace {

template <class Kind, std::size_t n>
base::Result<Kind> kind_from(std::string_view text, const char* what,
                             const std::array<Kind, n>& kinds) {
  std::string expected;
  for (std::size_t i = 0; i < n; ++i) {
    if (text == name_of(kinds[i])) return kinds[i];
    if (i > 0) expected += i + 1 == n ? " or " : ", ";
    expected += name_of(kinds[i]);
  }
  return base::error(base::Code::bad_input, "%s '%.*s': expected %s", what,
                     static_cast<int>(text.size()), text.data(), expected.c_str());
}

}  // namespace

const char* name_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::gpt2:
      return "gpt2";
    case Architecture::llama:
      return "llama";
    case Architecture::megatron:
      return "megatron";
  }
  return "unknown";
}

const char* name_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::amp:
      return "amp";
    case Precision::bf16:
      return "bf16";
    case Precision::fp16_mixed:
      return "fp16-mixed";
  }
  return "unknown";
}

const char* name_of(Attention attention) {
  switch (attention) {
    case Attention::eager:
      return "eager";
    case Attention::sdpa:
      return "sdpa";
    case Attention::flash:
      return "flash";
  }
  return "unknown";
}

const char* name_of(Checkpoint checkpoint) {
  switch (checkpoint) {
    case Checkpoint::none:
      return "none";
    case Checkpoint::full:
      return "full";
    case Checkpoint::selective:
      return "selective";
  }
  return "unknown";
}

base::Result<Architecture> architecture_from(std::string_view text) {
  return kind_from(text, "architecture", kArchitectures);
}

base::Result<Precision> precision_from(std::string_view text) {
  return kind_from(text, "precision", kPrecisions);
}

base::Result<Attention> attention_from(std::string_view text) {
  return kind_from(text, "attention", kAttentions);
}

base::Result<Checkpoint> checkpoint_from(std::string_view text) {
  return kind_from(text, "checkpoint", kCheckpoints);
}

ElementType weight_type(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::amp:
      return ElementType::f32;
    case Precision::bf16:
      return ElementType::bf16;
    case Precision::fp16_mixed:
      return ElementType::f16;
  }
  return ElementType::f32;
}

}  // namespace ebb::plan
