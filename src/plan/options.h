// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/option.h"
#include "base/result.h"
#include "plan/plan.h"

/// The options of `ebb plan` as they are given, before they are interpreted, on the command line or
/// through the C interface. Messages name them as the command line does.
namespace ebb::plan {

struct CommonOptions {
  std::optional<std::string> precision, optimizer;
  std::optional<std::uint64_t> cap, context;  ///< bytes
  std::optional<std::string> measured;        ///< the name of a snapshot
  std::optional<std::uint64_t> batch;
  bool fit = false;
};

struct TransformerOptions : CommonOptions {
  std::optional<std::string> preset, config, architecture;
  std::optional<std::uint64_t> layers, d_model, heads, kv_heads, d_ff, vocab, max_positions;
  std::optional<std::uint64_t> sequence, tensor_parallel, pipeline, gpus, lora;
  std::optional<int> zero;
  std::optional<double> dropout;
  std::optional<std::string> attention, checkpoint;
  bool tied = false, untied = false, fsdp = false, accumulate = false;
};

struct NetworkOptions : CommonOptions {
  std::string name;
  std::uint64_t channels = 1;
  std::uint64_t size = 28;
  std::uint64_t classes = 10;
};

/// Groups of options. A form need not show at first what a preset says already, and what one device
/// has no use for.
inline constexpr std::string_view kTrainingGroup = "Training";
inline constexpr std::string_view kDeviceGroup = "Device";
inline constexpr std::string_view kShapeGroup = "Shape";
inline constexpr std::string_view kDevicesGroup = "Several devices";

/// Every option, those of CommonOptions too, for the command line, the C interface and forms, which
/// have none that names a file.
base::Options options_of(TransformerOptions& options);
base::Options options_of(NetworkOptions& options);

/// Without the correction of `measured`. Reads the file of `config`. Code::bad_input for what
/// contradicts itself or is unknown.
base::Result<TransformerRequest> request_of(const TransformerOptions& options);
base::Result<NetworkRequest> request_of(const NetworkOptions& options);

/// The bytes of `cap`, where it was given; `fit` without it is an error.
base::Result<std::optional<std::uint64_t>> cap_of(const CommonOptions& options);

}  // namespace ebb::plan
