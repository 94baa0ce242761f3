// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_options.h"

#include "cli/page_file.h"
#include "cli/snapshot_file.h"

namespace ebb::cli {

base::Result<plan::RecordedStep> recorded_step_of(const std::string& path) {
  const auto snapshot = read_snapshot_file(path);
  if (!snapshot) return snapshot.error();
  return plan::recorded_step(*snapshot, path);
}

int write_plan_page(const plan::Plan& plan, const show::PlanPage& beside,
                    const OutputOptions& options) {
  return options.html ? write_pages({show::page_of_plan(plan, beside)}, *options.html) : kDone;
}

void add_common(CLI::App& verb, plan::CommonOptions& options, OutputOptions& output) {
  add_number(verb, "--batch", options.batch, "Samples of one step on one device");
  verb.add_option("--precision", options.precision,
                  "fp32, amp (bf16 autocast), bf16 or fp16-mixed");
  verb.add_option("--optimizer", options.optimizer,
                  "adamw, adam, sgd, sgdm, adam8bit or adafactor");
  verb.add_option("--cap", options.cap, "Memory of the device, e.g. 24GiB");
  verb.add_flag("--fit", options.fit, "What fits into --cap");
  verb.add_option("--context", options.context, "What CUDA itself takes on the device (512MiB)");
  verb.add_option("--measured", options.measured,
                  "A snapshot of PyTorch's allocator from such steps, to correct the plan with");
  verb.add_option("--html", output.html, "Also writes one self-contained page");
  verb.add_flag("--json", output.json, "One JSON object (docs/plan.md)");
}

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
