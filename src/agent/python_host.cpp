// SPDX-License-Identifier: Apache-2.0
#include "agent/python_host.h"

#include <dlfcn.h>

#include <cstdlib>
#include <new>
#include <string>

namespace ebb::agent {
namespace {

template <class Function>
Function exported(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

/// Beside the shared object that this code is in; "" where that cannot be told.
std::string hook_folder() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<void*>(&hook_folder), &here) == 0 || here.dli_fname == nullptr)
    return "";
  const std::string file = here.dli_fname;
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? "" : file.substr(0, slash) + "/python";
}

bool is_part_of(const std::string& list, const std::string& part) {
  return (":" + list + ":").find(":" + part + ":") != std::string::npos;
}

/// The program is an interpreter or is linked with one, whether or not it runs yet.
bool has_python() {
  return exported<void*>("Py_BytesMain") != nullptr;
}

/// As a literal of Python's.
std::string quoted(const std::string& text) {
  std::string literal = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') literal += '\\';
    literal += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return literal + "'";
}

/// Nothing of it stays behind in the job's own scope.
std::string program_of_hook(const std::string& folder) {
  return "def _ebb_start_hook(path):\n"
         "    try:\n"
         "        with open(path, encoding='utf-8') as file:\n"
         "            code = compile(file.read(), path, 'exec')\n"
         "        exec(code, {'__name__': '_ebb_hook', '__file__': path})\n"
         "    except Exception:\n"
         "        pass\n"
         "_ebb_start_hook(" +
         quoted(folder + "/sitecustomize.py") +
         ")\n"
         "del _ebb_start_hook\n";
}

/// On the main thread, with the interpreter's lock.
int start_hook(void*) {
  const auto run = exported<int (*)(const char*)>("PyRun_SimpleString");
  if (run == nullptr) return 0;
  try {
    const std::string folder = hook_folder();
    if (!folder.empty()) run(program_of_hook(folder).c_str());
  } catch (const std::bad_alloc&) {
    // The job goes on without the hook.
  }
  return 0;
}

}  // namespace

void show_hook_to_python() {
  const std::string folder = hook_folder();
  if (folder.empty() || !has_python()) return;
  const char* before = std::getenv("PYTHONPATH");
  if (before != nullptr && is_part_of(before, folder)) return;
  const bool is_alone = before == nullptr || before[0] == '\0';
  ::setenv("PYTHONPATH", (is_alone ? folder : folder + ":" + before).c_str(), 1);
}

bool python_runs() {
  const auto is_initialized = exported<int (*)()>("Py_IsInitialized");
  return is_initialized != nullptr && is_initialized() != 0;
}

bool ask_python_to_start_hook() {
  const auto add_call = exported<int (*)(int (*)(void*), void*)>("Py_AddPendingCall");
  return add_call != nullptr && python_runs() && add_call(start_hook, nullptr) == 0;
}

}  // namespace ebb::agent
