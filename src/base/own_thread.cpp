// SPDX-License-Identifier: Apache-2.0
#include "base/own_thread.h"

#include <atomic>

namespace ebb::base {
namespace {

constinit std::atomic<int> running{0};
constinit std::atomic<void (*)(int)> told{nullptr};

}  // namespace

void count_own_thread(int by) {
  running += by;
  if (void (*tell)(int) = told) tell(by);
}

OwnThread::OwnThread() {
  count_own_thread(1);
}

OwnThread::~OwnThread() {
  count_own_thread(-1);
}

unsigned own_threads() {
  const int now = running;
  return now > 0 ? static_cast<unsigned>(now) : 0;
}

void forget_own_threads() {
  running = 0;
}

void tell_of_own_threads(void (*count_there)(int by)) {
  told = count_there;
}

}  // namespace ebb::base
