// SPDX-License-Identifier: Apache-2.0
// Notes with each case the processor time that it took, its child processes included, for the list
// of the dearest cases at the end of `make test`. Linked into every test program; nothing calls it.
#include <sys/resource.h>

#include <gtest/gtest.h>

namespace {

double seconds_used_by(int who) {
  rusage used{};
  getrusage(who, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double seconds_used() {
  return seconds_used_by(RUSAGE_SELF) + seconds_used_by(RUSAGE_CHILDREN);
}

class ProcessorTime : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { started_ = seconds_used(); }

  void OnTestEnd(const testing::TestInfo&) override {
    testing::Test::RecordProperty("processor_ms",
                                  static_cast<int>((seconds_used() - started_) * 1000));
  }

  double started_ = 0;
};

[[maybe_unused]] const bool listens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(
      new ProcessorTime);  // which GoogleTest deletes
  return true;
}();

}  // namespace
