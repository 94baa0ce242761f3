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

int write_plan_page(const plan::Plan& plan, const show::PlanPage& page,
                    const OutputOptions& options) {
  return options.html ? write_pages({show::page_of_plan(plan, page)}, *options.html) : kDone;
}

base::Options with_output_options(base::Options first, OutputOptions& output) {
  first.push_back({"html", &output.html, "Also writes one self-contained page"});
  first.push_back({"json", &output.json, "One JSON object (docs/plan.md)"});
  return first;
}

void add_plan(Verb program) {
  const Verb plan = program.add(
      {"plan", "The memory of a training step before it runs, and what fits",
       "Examples:\n"
       "  ebb plan transformer gpt2-medium --batch 4\n"
       "  ebb plan transformer llama-3-8b --lora 16 --precision bf16 --cap 24GiB --fit\n"
       "  ebb plan model ResNet18 --channels 3 --size 32 --batch 64\n"
       "  ebb plan budget --params 7e9"});
  add_plan_transformer(plan);
  add_plan_model(plan);
  add_plan_budget(plan);
  add_plan_clients(plan);
}

}  // namespace ebb::cli
