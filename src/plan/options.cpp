// SPDX-License-Identifier: Apache-2.0
#include "plan/options.h"

#include <algorithm>
#include <tuple>

#include "base/file.h"
#include "plan/network_file.h"
#include "plan/presets.h"

namespace ebb::plan {
namespace {

using base::Code;

/// Reads a word into `to`, where there is one.
template <class Kind>
base::Status read(const std::optional<std::string>& text,
                  base::Result<Kind> (*from)(std::string_view), Kind& to) {
  if (!text) return {};
  const base::Result<Kind> kind = from(*text);
  if (!kind) return kind.error();
  to = *kind;
  return {};
}

template <class Number>
void set(const std::optional<Number>& from, Number& to) {
  if (from) to = *from;
}

base::Result<TransformerModel> base_model(const TransformerOptions& options) {
  if (options.preset && options.config)
    return base::error(Code::bad_input, "--preset and --config: expected one of them");
  if (options.preset) return preset(*options.preset);
  if (options.config) {
    const auto text = base::read_file(*options.config, 1 << 20);
    if (!text) return text.error();
    return model_from_config(*text, *options.config);
  }
  TransformerModel model;
  if (!options.architecture)
    return base::error(Code::bad_input,
                       "what to plan is missing: expected a preset, --config or --arch");
  const auto architecture = architecture_from(*options.architecture);
  if (!architecture) return architecture.error();
  model.tied = *architecture != Architecture::llama;
  for (const auto& [option, given] :
       {std::pair{"--layers", options.layers}, std::pair{"--d-model", options.d_model},
        std::pair{"--heads", options.heads}, std::pair{"--vocab", options.vocab}}) {
    if (!given) return base::error(Code::bad_input, "%s is missing", option);
  }
  return model;
}

base::Result<TransformerModel> model_of(const TransformerOptions& options) {
  auto model = base_model(options);
  if (!model) return model;
  if (options.tied && options.untied)
    return base::error(Code::bad_input, "--tied and --untied: expected one of them");
  if (const auto status = read(options.architecture, architecture_from, model->architecture);
      !status)
    return status.error();
  // What follows from other sizes follows from the new ones.
  if (options.d_model || options.heads) model->head_size = 0;
  if (options.heads && !options.kv_heads) model->kv_heads = 0;
  if (options.d_model && !options.d_ff) model->d_ff = 0;
  set(options.layers, model->layers);
  set(options.d_model, model->d_model);
  set(options.heads, model->heads);
  set(options.vocab, model->vocab);
  for (const auto& [option, given, to] :
       {std::tuple{"--kv-heads", options.kv_heads, &model->kv_heads},
        std::tuple{"--d-ff", options.d_ff, &model->d_ff},
        std::tuple{"--max-positions", options.max_positions, &model->max_positions}}) {
    if (given && *given == 0)
      return base::error(Code::bad_input, "%s 0: expected 1 or more", option);
    set(given, *to);
  }
  if (options.tied) model->tied = true;
  if (options.untied) model->tied = false;
  return model->completed();
}

}  // namespace

base::Result<TransformerRequest> request_of(const TransformerOptions& options) {
  auto model = model_of(options);
  if (!model) return model.error();
  TransformerRequest request;
  request.model = *model;
  TransformerTraining& training = request.training;
  training.sequence =
      std::min<std::uint64_t>(1024, model->max_positions > 0 ? model->max_positions : 1024);
  for (const base::Status& status : {read(options.precision, precision_from, training.precision),
                                     read(options.attention, attention_from, training.attention),
                                     read(options.checkpoint, checkpoint_from, training.checkpoint),
                                     read(options.optimizer, optimizer_from, request.optimizer)})
    if (!status) return status.error();
  set(options.context, request.surroundings.context);
  set(options.sequence, training.sequence);
  set(options.batch, training.batch);
  set(options.dropout, training.dropout);
  set(options.lora, training.lora_rank);
  set(options.tensor_parallel, training.tensor_parallel);
  set(options.pipeline, request.pipeline);
  set(options.zero, request.zero);
  if (options.fsdp && options.zero && *options.zero != 3)
    return base::error(Code::bad_input, "--fsdp is --zero 3, not --zero %d", *options.zero);
  if (options.fsdp) request.zero = 3;
  request.accumulates = options.accumulate;
  request.gpus = options.gpus.value_or(training.tensor_parallel * request.pipeline);
  if (request.zero > 0 && request.gpus == training.tensor_parallel * request.pipeline)
    return base::error(Code::bad_input, "--zero %d: nothing to split over; --gpus says how many",
                       request.zero);
  return request;
}

base::Result<NetworkRequest> request_of(const NetworkOptions& options) {
  const auto network =
      network_of(options.name, {options.channels, options.size, options.size}, options.classes);
  if (!network) return network.error();
  NetworkRequest request;
  request.network = *network;
  for (const base::Status& status : {read(options.precision, precision_from, request.precision),
                                     read(options.optimizer, optimizer_from, request.optimizer)})
    if (!status) return status.error();
  set(options.context, request.surroundings.context);
  set(options.batch, request.batch);
  return request;
}

base::Result<std::optional<std::uint64_t>> cap_of(const CommonOptions& options) {
  if (options.fit && !options.cap)
    return base::error(Code::bad_input, "--fit: into what? expected --cap BYTES");
  if (options.cap == 0) return base::error(Code::bad_input, "--cap 0: expected bytes");
  return options.cap;
}

}  // namespace ebb::plan
