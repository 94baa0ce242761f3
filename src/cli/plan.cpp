// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_options.h"

namespace ebb::cli {

void add_plan(CLI::App& program, Action& action) {
  CLI::App* verb =
      program.add_subcommand("plan", "The memory of a training step before it runs, and what fits");
  verb->require_subcommand(1);
  verb->footer(
      "Examples:\n"
      "  ebb plan transformer gpt2-medium --batch 4\n"
      "  ebb plan transformer llama-3-8b --lora 16 --precision bf16 --cap 24GiB --fit\n"
      "  ebb plan model ResNet18 --channels 3 --size 32 --batch 64");
  add_plan_transformer(*verb, action);
  add_plan_model(*verb, action);
}

}  // namespace ebb::cli
