// SPDX-License-Identifier: Apache-2.0
// ebb-driver-check [LIBRARY]: the conformance suite of Driver over the CUDA driver of this machine.
// One line per check; exit 0 when all hold, 1 when one does not, 3 when there is no driver.
#include <cstdio>

#include "base/bytes.h"
#include "conformance/cuda_semantics.h"
#include "device/cuda_driver.h"

namespace {

using namespace ebb;

int failures = 0;

void report(const std::string& name, const std::vector<std::string>& findings) {
  std::printf("%s  %s\n", findings.empty() ? "ok  " : "FAIL", name.c_str());
  for (const std::string& finding : findings) {
    std::printf("        %s\n", finding.c_str());
  }
  std::fflush(stdout);
  if (!findings.empty()) ++failures;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string library = count > 1 ? arguments[1] : "libcuda.so.1";
  auto driver = device::CudaDriver::open(library);
  if (!driver) {
    std::fprintf(stderr, "ebb-driver-check: %s\n", driver.error().message.c_str());
    return driver.error().code == base::Code::unavailable ? 3 : 1;
  }
  for (int index = 0; index < (*driver)->device_count(); ++index) {
    if (const auto info = (*driver)->info(index); info) {
      std::printf("device %d: %s, %s, granularity %s\n", index, info->name.c_str(),
                  base::bytes_text(info->total_memory).c_str(),
                  base::bytes_text(info->granularity).c_str());
    }
  }
  auto bench = conformance::CudaWorkbench::open(library);
  if (!bench) {
    std::fprintf(stderr, "ebb-driver-check: %s\n", bench.error().message.c_str());
    return 1;
  }

  // A card serves other processes and its own runtime too, so that its free memory is not exact.
  const conformance::DriverTraits traits = (*bench)->traits(false);
  for (const conformance::DriverCheck& check : conformance::driver_checks()) {
    if (!check.applies_to(**driver, traits)) {
      std::printf("n/a   %s\n", check.name);
      continue;
    }
    report(check.name, conformance::run_check(check, **driver, traits));
  }
  for (const conformance::CudaCase& test : conformance::cuda_cases()) {
    const std::string finding = conformance::run_case(test, **bench);
    report(std::string("library: ") + test.name,
           finding.empty() ? std::vector<std::string>() : std::vector<std::string>{finding});
  }
  std::printf("%d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
