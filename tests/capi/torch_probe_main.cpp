// SPDX-License-Identifier: Apache-2.0
// torch_probe LIBRARY WORD...: loads libebb.so out of sight of the rest of the process, as Python
// does, and calls it as PyTorch does; one line per call. Words: alloc BYTES DEVICE, free DEVICE
// (what alloc gave), drop ADDRESS DEVICE, init COUNT, fraction SHARE, pool, fork WORD... (in a
// child).
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "ebb/ebb.h"

namespace {

void* library = nullptr;
void* memory = nullptr;

template <class Function>
Function* function(const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}
#define EBB_CALL(name) function<decltype(name)>(#name)

struct Destroyed {
  bool& done;
  ~Destroyed() { done = true; }
};

void alloc(std::size_t bytes, int device) {
  bool destroyed = false;
  try {
    const Destroyed witness{destroyed};
    memory = EBB_CALL(ebb_torch_alloc)(bytes, device, nullptr);
    std::printf("%s\n", memory != nullptr ? "memory" : "null");
  } catch (const std::runtime_error& error) {
    std::printf("runtime_error%s%s, %d uncaught: %s\n", destroyed ? "" : ", nothing destroyed",
                typeid(error) == typeid(std::runtime_error) ? "" : ", another type",
                std::uncaught_exceptions(), error.what());
  }
}

void begin_pool() {
  try {
    EBB_CALL(ebb_torch_begin_pool)();
    std::printf("a pool\n");
  } catch (const std::runtime_error& error) {
    std::printf("runtime_error: %s\n", error.what());
  }
}

int run(char** word, char** end) {
  while (word < end) {
    const std::string verb = *word++;
    if (verb == "alloc") {
      alloc(std::strtoull(word[0], nullptr, 0), std::atoi(word[1]));
      word += 2;
    } else if (verb == "free") {
      EBB_CALL(ebb_torch_free)(memory, 0, std::atoi(*word++), nullptr);
      std::printf("freed\n");
    } else if (verb == "pool") {
      begin_pool();
    } else if (verb == "drop") {
      const auto address = std::strtoull(word[0], nullptr, 0);
      EBB_CALL(ebb_torch_free)(reinterpret_cast<void*>(address), 0, std::atoi(word[1]), nullptr);
      word += 2;
    } else if (verb == "init") {
      EBB_CALL(ebb_torch_init)(std::atoi(*word++));
    } else if (verb == "fraction") {
      EBB_CALL(ebb_torch_memory_fraction)(std::atof(*word++), 0);
    } else if (verb == "fork") {
      std::fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        const int status = run(word, end);
        std::fflush(stdout);
        _exit(status);
      }
      int status = 0;
      waitpid(child, &status, 0);
      return status == 0 ? 0 : 4;
    } else {
      std::fprintf(stderr, "torch_probe: unknown word '%s'\n", verb.c_str());
      return 2;
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "torch_probe: %s\n", dlerror());
    return 3;
  }
  return run(arguments + 2, arguments + count);
}
