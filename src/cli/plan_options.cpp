// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_options.h"

#include "base/bytes.h"
#include "cli/snapshot_file.h"
#include "cli/snapshot_page.h"

namespace ebb::cli {

using base::Code;

base::Status read_bytes(const char* option, const std::optional<std::string>& text,
                        std::uint64_t& to) {
  if (!text) return {};
  const auto bytes = base::parse_bytes(*text);
  if (!bytes) return base::error(Code::bad_input, "%s: %s", option, bytes.error().message.c_str());
  to = *bytes;
  return {};
}

base::Result<std::optional<std::uint64_t>> cap_of(const CommonOptions& options) {
  std::optional<std::uint64_t> cap;
  if (options.fit && !options.cap)
    return base::error(Code::bad_input, "--fit: into what? expected --cap BYTES");
  if (options.cap) {
    cap = 0;
    if (const auto status = read_bytes("--cap", options.cap, *cap); !status) return status.error();
    if (*cap == 0) return base::error(Code::bad_input, "--cap 0: expected bytes");
  }
  return cap;
}

base::Result<plan::RecordedStep> recorded_step_of(const std::string& path) {
  const auto snapshot = read_snapshot_file(path);
  if (!snapshot) return snapshot.error();
  return plan::recorded_step(*snapshot, path);
}

int write_plan_page(const plan::Plan& plan, const PlanPage& beside, const CommonOptions& options) {
  return options.html ? write_pages({page_of_plan(plan, beside)}, *options.html) : kDone;
}

void add_common(CLI::App& verb, CommonOptions& options) {
  add_number(verb, "--batch", options.batch, "Samples of one step on one device");
  verb.add_option("--precision", options.precision,
                  "fp32, amp (bf16 autocast), bf16 or fp16-mixed");
  verb.add_option("--optimizer", options.optimizer,
                  "adamw, adam, sgd, sgdm, adam8bit or adafactor");
  verb.add_option("--cap", options.cap, "Memory of the device, e.g. 24GiB");
  verb.add_flag("--fit", options.fit, "What fits into --cap");
  verb.add_option("--context", options.context, "What CUDA itself takes on the device (512MiB)");
  verb.add_option("--measured", options.measured,
                  "A snapshot of PyTorch's allocator around steps like this one, to correct by");
  verb.add_option("--html", options.html, "Also writes one self-contained page");
  verb.add_flag("--json", options.json, "One JSON object (docs/plan.md)");
}

}  // namespace ebb::cli
