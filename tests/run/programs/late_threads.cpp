// SPDX-License-Identifier: Apache-2.0
// Preloaded: threads begin LATE_MILLISECONDS after they were made, as on a busy machine.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

namespace {

using Routine = void* (*)(void*);

struct Start {
  Routine routine;
  void* argument;
};

void* begin_late(void* given) {
  const Start start = *static_cast<Start*>(given);
  delete static_cast<Start*>(given);
  if (const char* late = std::getenv("LATE_MILLISECONDS"))
    usleep(1000 * static_cast<useconds_t>(std::atoi(late)));
  return start.routine(start.argument);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, Routine routine, void* argument) {
  const auto next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, begin_late, new Start{routine, argument});
}
