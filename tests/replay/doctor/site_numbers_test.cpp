// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/site_numbers.h"

#include <gtest/gtest.h>

#include "replay/doctor/doctor_patient.h"
#include "replay/doctor/site_lines.h"

namespace ebb::replay {
namespace {

/// A snapshot whose only block has a stack of these frames.
struct OneBlock {
  explicit OneBlock(const std::vector<fact::SiteFrame>& calls) {
    Patient job;
    job.take(kMiB);
    snapshot = job.snapshot();
    snapshot.stacks.emplace_back();
    for (const fact::SiteFrame& call : calls) {
      const auto text = static_cast<trace::Index>(snapshot.texts.size());
      snapshot.texts.push_back(call.function);
      snapshot.texts.push_back(call.file);
      snapshot.stacks.back().push_back(static_cast<trace::Index>(snapshot.frames.size()));
      snapshot.frames.push_back({text, text + 1, call.line});
    }
    for (trace::Event& event : snapshot.traces[0])
      event.stack = static_cast<trace::Index>(snapshot.stacks.size() - 1);
  }

  fact::SiteStack told() const {
    const auto workload = workload_of(snapshot, {});
    SiteNumbers numbers(snapshot, 0, *workload);
    const std::uint32_t number = numbers.number_of(lifetimes_of(*workload).front());
    return number < SiteNumbers::kPlaces ? fact::SiteStack() : numbers.calls_of(number);
  }

  trace::Snapshot snapshot;
};

std::string text_of(const fact::SiteStack& calls) {
  std::string text;
  for (const fact::SiteFrame& call : calls)
    text += (text.empty() ? "" : " < ") + fact::text_of(call);
  return text;
}

TEST(SiteNumbers, LeaveOutWhatPyTorchAndTheInterpreterCallAroundPython) {
  const OneBlock job({{"torch::unwind::unwind()", "??", 0, ""},
                      {"c10::cuda::CUDACachingAllocator::malloc(unsigned long)", "a.cpp", 0, ""},
                      {"at::detail::empty_cuda(c10::ArrayRef<long>)", "??", 0, ""},
                      {"fused_attention(int)", "??", 0, ""},
                      {"THPVariable_ones", "", 0, ""},
                      {"_PyObject_MakeTpCall", "??", 0, ""},
                      {"w", "t.py", 8, ""},
                      {"_PyEval_EvalFrameDefault", "??", 0, ""},
                      {"<module>", "t.py", 9, ""},
                      {"__libc_start_main", "??", 0, ""}});
  EXPECT_EQ(text_of(job.told()), "fused_attention < t.py:8 w < t.py:9 <module>");
  EXPECT_TRUE(job.told()[1].is_python());
  EXPECT_FALSE(job.told()[0].is_python());
}

TEST(SiteNumbers, KeepTheCallsOfAStackWithoutPython) {
  const OneBlock job({{"at::_ops::mm::call(at::Tensor const&)", "??", 0, ""},
                      {"torch::autograd::generated::MmBackward0::apply()", "b.cpp", 12, ""}});
  EXPECT_EQ(text_of(job.told()),
            "at::_ops::mm::call < b.cpp:12 torch::autograd::generated::MmBackward0::apply");
  EXPECT_EQ(fact::place_of(job.told()), "b.cpp:12 torch::autograd::generated::MmBackward0::apply");
}

TEST(SiteNumbers, AreOfNoPlaceWhereTheStackIsEmpty) {
  EXPECT_TRUE(OneBlock({}).told().empty());
}

TEST(SiteNumbers, BoundStacksAndNamesThatHaveNoEnd) {
  std::vector<fact::SiteFrame> calls(
      5000, {std::string(100'000, 'f'), "/" + std::string(99'999, 'd') + "/e.py", 1, ""});
  // Two bytes each: a cut in the middle of one would be no text.
  calls[0].function = "x" + std::string(60'000, '\xC3');
  for (std::size_t i = 2; i < calls[0].function.size(); i += 2)
    calls[0].function[i] = '\xA4';
  OneBlock job(calls);
  job.snapshot.frames[1].line = -5;
  job.snapshot.frames[2].line = std::int64_t{1} << 40;
  const fact::SiteStack told = job.told();
  ASSERT_EQ(told.size(), 100U);
  EXPECT_EQ(told[0].function.size(), 249U) << "not half a letter";
  EXPECT_EQ(told[1].function.size(), 250U);
  EXPECT_EQ(told[1].file.size(), 250U);
  EXPECT_TRUE(told[1].file.ends_with("/e.py")) << "the end of a path tells more";
  EXPECT_EQ(told[1].line, 0U);
  EXPECT_EQ(told[2].line, 0xFFFFFFFFU);
}

}  // namespace
}  // namespace ebb::replay
