// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/text.h"
#include "plan/presets.h"

namespace ebb::plan {
namespace {

using base::Code;
using base::error;

/// Reads the numbers of one config; the first that is wrong is remembered.
class ConfigReader {
 public:
  ConfigReader(const base::Json& config, std::string where)
      : config_(config), where_(std::move(where)) {}

  std::uint64_t required(const char* key) {
    const base::Json* found = config_.find(key);
    if (found == nullptr || found->is_null()) {
      fail(key, "is missing");
      return 0;
    }
    return number(key, *found);
  }

  std::uint64_t optional(const char* key, std::uint64_t otherwise) {
    const base::Json* found = config_.find(key);
    return found == nullptr || found->is_null() ? otherwise : number(key, *found);
  }

  bool flag(const char* key, bool otherwise) {
    const base::Json* found = config_.find(key);
    if (found == nullptr || found->is_null()) return otherwise;
    if (!found->as_bool()) fail(key, "expected true or false");
    return found->as_bool().value_or(otherwise);
  }

  const base::Status& status() const { return status_; }

 private:
  std::uint64_t number(const char* key, const base::Json& value) {
    const auto read = value.as_unsigned();
    if (!read || *read == 0 || *read > (std::uint64_t{1} << 32)) {
      fail(key, "expected a number of 1 to 2^32");
      return 0;
    }
    return *read;
  }

  void fail(const char* key, const char* what) {
    if (status_) status_ = error(Code::bad_input, "%s: %s: %s", where_.c_str(), key, what);
  }

  const base::Json& config_;
  const std::string where_;
  base::Status status_;
};

/// A word of the file for a message of one line.
std::string shown(const std::string& word) {
  std::string text = word.substr(0, 40);
  for (char& letter : text)
    if (letter < ' ' || letter > '~') letter = '?';
  return text;
}

TransformerModel gpt2_from(ConfigReader& reader) {
  TransformerModel model;
  model.architecture = Architecture::gpt2;
  model.layers = reader.required("n_layer");
  model.d_model = reader.required("n_embd");
  model.heads = reader.required("n_head");
  model.vocab = reader.required("vocab_size");
  model.d_ff = reader.optional("n_inner", 0);
  model.max_positions = reader.optional("n_positions", 1024);
  model.tied = reader.flag("tie_word_embeddings", true);
  return model;
}

TransformerModel llama_from(ConfigReader& reader, bool qkv_bias) {
  TransformerModel model;
  model.architecture = Architecture::llama;
  model.layers = reader.required("num_hidden_layers");
  model.d_model = reader.required("hidden_size");
  model.heads = reader.required("num_attention_heads");
  model.kv_heads = reader.optional("num_key_value_heads", 0);
  model.head_size = reader.optional("head_dim", 0);
  model.d_ff = reader.required("intermediate_size");
  model.vocab = reader.required("vocab_size");
  model.tied = reader.flag("tie_word_embeddings", false);
  model.qkv_bias = qkv_bias;
  return model;
}

}  // namespace

base::Result<TransformerModel> model_from_config(std::string_view json, std::string_view where) {
  const std::string name(where);
  const auto config = base::parse_json(json);
  if (!config)
    return error(Code::bad_input, "%s: %s", name.c_str(), config.error().message.c_str());
  const base::Json* type = config->find("model_type");
  if (type == nullptr || type->as_string() == nullptr)
    return error(Code::bad_input, "%s: model_type is missing: expected a Hugging Face config.json",
                 name.c_str());
  const std::string& kind = *type->as_string();
  ConfigReader reader(*config, name);
  TransformerModel model;
  if (kind == "gpt2") {
    model = gpt2_from(reader);
  } else if (kind == "llama" || kind == "mistral" || kind == "qwen2") {
    if (reader.flag("attention_bias", false) || reader.flag("mlp_bias", false))
      return error(Code::bad_input, "%s: attention_bias and mlp_bias are not planned for",
                   name.c_str());
    model = llama_from(reader, kind == "qwen2");
  } else {
    return error(Code::bad_input, "%s: model_type '%s': expected gpt2, llama, mistral or qwen2",
                 name.c_str(), shown(kind).c_str());
  }
  if (!reader.status()) return reader.status().error();
  auto completed = model.completed();
  if (!completed)
    return error(Code::bad_input, "%s: %s", name.c_str(), completed.error().message.c_str());
  return completed;
}

}  // namespace ebb::plan
