// SPDX-License-Identifier: Apache-2.0
#include "agent/first_thread.h"

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include "base/own_thread.h"
#include "base/signals_blocked.h"
#include "sense/living_thread.h"

namespace ebb::agent {
namespace {

/// So much longer than without us such a process may take to end.
constexpr timespec kTick{0, 10'000'000};

/// The C library's own count of threads, by which it decides who is the last; for debuggers, from
/// glibc 2.34 on. Null elsewhere.
const unsigned* count_of_threads() {
#ifdef __GLIBC__
  return static_cast<const unsigned*>(::dlvsym(RTLD_DEFAULT, "__nptl_nthreads", "GLIBC_PRIVATE"));
#else
  return nullptr;
#endif
}

}  // namespace

FirstThread::~FirstThread() {
  if (has_key_) pthread_key_delete(key_);
}

void FirstThread::begin() {
  base::forget_own_threads();
  is_seen_to_ = false;
  process_ = ::getpid();
  // Here, before other threads fork: the dynamic linker has a lock.
  if (threads_ == nullptr) threads_ = count_of_threads();
  if (!has_key_) has_key_ = pthread_key_create(&key_, &FirstThread::ended) == 0;
  // The C library calls it when the thread ends, and not when the process does.
  if (has_key_ && ::syscall(SYS_gettid) == process_) pthread_setspecific(key_, this);
}

void FirstThread::ended(void* self) {
  auto* first = static_cast<FirstThread*>(self);
  // A child that came about without fork's handlers has the thread's values, and no agent.
  if (first->process_ != ::getpid() || first->threads_ == nullptr) return;
  pthread_sigmask(SIG_SETMASK, nullptr, &first->signals_);
  const base::SignalsBlocked blocked;
  const base::Lock lock(first->mutex_);  // not while a fork is under way
  first->is_seen_to_ = true;
  // With the stack that other threads have: exit() runs what the job has left for the end.
  pthread_t waiting{};
  if (pthread_create(&waiting, nullptr, &FirstThread::wait_for_others, first) == 0) {
    pthread_detach(waiting);
  } else {
    first->is_seen_to_ = false;
  }
}

void* FirstThread::wait_for_others(void* self) {
  const auto* first = static_cast<const FirstThread*>(self);
  prctl(PR_SET_NAME, "ebb-agent");
  const base::OwnThread own;
  while (__atomic_load_n(first->threads_, __ATOMIC_SEQ_CST) > base::own_threads())
    nanosleep(&kTick, nullptr);
  // What has not reached the job until now was blocked in all its threads.
  sigset_t blocked = first->signals_;
  sigset_t pending;
  sigpending(&pending);
  sigorset(&blocked, &blocked, &pending);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  std::exit(0);
}

bool FirstThread::has_ended_unseen() const {
  return !is_seen_to_ && sense::living_thread(::getpid()).has_value();
}

}  // namespace ebb::agent
