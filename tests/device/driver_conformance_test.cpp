// SPDX-License-Identifier: Apache-2.0
#include "conformance/driver_conformance.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "base/bytes.h"
#include "conformance/cuda_workbench.h"
#include "device/cuda_driver.h"
#include "device/mmap_driver.h"
#include "device/sim_driver.h"
#include "support/fake_cuda.h"

namespace ebb::device {
namespace {

using conformance::CudaWorkbench;
using conformance::DriverCheck;
using conformance::DriverTraits;

/// A driver under test with all that it rests on.
struct Subject {
  virtual ~Subject() = default;
  virtual Driver& driver() = 0;
  DriverTraits traits;
};

struct SimSubject final : Subject {
  explicit SimSubject(AddressModel model)
      : sim({.devices = 2,
             .total_memory = base::kGiB,
             .addresses = model,
             .events = Completion::by_hand}) {
    traits.streams = {0, 7};
    traits.hold = [](int, StreamId) {};
    traits.let_go = [this](int device, StreamId stream) { sim.complete_stream(device, stream); };
  }
  Driver& driver() override { return sim; }
  SimDriver sim;
};

struct MmapSubject final : Subject {
  MmapSubject()
      : mmap({.capacity = 256 * base::kMiB, .devices = 2, .events = Completion::by_hand}) {
    traits.streams = {0, 7};
    traits.write = [](int, Address to, const std::vector<unsigned char>& data) {
      std::memcpy(reinterpret_cast<void*>(to), data.data(), data.size());
      return true;
    };
    traits.read = [](int, Address from, std::vector<unsigned char>& data) {
      std::memcpy(data.data(), reinterpret_cast<const void*>(from), data.size());
      return true;
    };
    traits.hold = [](int, StreamId) {};
    traits.let_go = [this](int device, StreamId stream) { mmap.complete_stream(device, stream); };
  }
  Driver& driver() override { return mmap; }
  MmapDriver mmap;
};

struct FakeCudaSubject final : Subject {
  FakeCudaSubject() {
    auto opened = CudaDriver::open(EBB_FAKE_CUDA);
    auto workbench = CudaWorkbench::open(EBB_FAKE_CUDA);
    EBB_CHECK(opened && workbench);
    cuda = std::move(*opened);
    bench = std::move(*workbench);
    traits = bench->traits(true);
  }
  Driver& driver() override { return *cuda; }
  support::FakeCuda library;
  std::unique_ptr<CudaWorkbench> bench;
  std::unique_ptr<CudaDriver> cuda;
};

struct Kind {
  const char* name;
  std::unique_ptr<Subject> (*make)();
};

template <class S, class... Arguments>
std::unique_ptr<Subject> make(Arguments... arguments) {
  return std::make_unique<S>(arguments...);
}

const Kind kKinds[] = {
    {"Sim", [] { return make<SimSubject>(AddressModel::ascending()); }},
    {"SimFirstFit", [] { return make<SimSubject>(AddressModel::first_fit()); }},
    {"SimLastFreed", [] { return make<SimSubject>(AddressModel::last_freed()); }},
    {"SimDescending", [] { return make<SimSubject>(AddressModel::descending()); }},
    {"SimLikeCuda", [] { return make<SimSubject>(AddressModel::like_cuda()); }},
    {"Mmap", [] { return make<MmapSubject>(); }},
    {"FakeCuda", [] { return make<FakeCudaSubject>(); }},
};

struct Case {
  const Kind* kind;
  const DriverCheck* check;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Kind& kind : kKinds) {
    const auto subject = kind.make();
    for (const DriverCheck& check : conformance::driver_checks()) {
      if (check.applies_to(subject->driver(), subject->traits)) all.push_back({&kind, &check});
    }
  }
  return all;
}

class DriverConformance : public testing::TestWithParam<Case> {};

TEST_P(DriverConformance, Holds) {
  const auto subject = GetParam().kind->make();
  for (const std::string& finding :
       conformance::run_check(*GetParam().check, subject->driver(), subject->traits)) {
    ADD_FAILURE() << finding;
  }
}

INSTANTIATE_TEST_SUITE_P(, DriverConformance, testing::ValuesIn(cases()), [](const auto& test) {
  return std::string(test.param.kind->name) + "_" + test.param.check->name;
});

}  // namespace
}  // namespace ebb::device
