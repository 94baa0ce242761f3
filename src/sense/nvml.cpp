// SPDX-License-Identifier: Apache-2.0
#include "sense/nvml.h"

#include <initializer_list>
#include <utility>

namespace ebb::sense::nvml {

using base::Code;
using base::DynamicLibrary;
using base::Result;

namespace {

/// Fills a table entry with the first of `names` that the library has; the name, or null.
template <class F>
const char* bind(const DynamicLibrary& library, F& into, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    into = library.function<F>(name);
    if (into != nullptr) return name;
  }
  return nullptr;
}

/// The table, or the name of the first function that the library lacks.
Result<Table> bind_all(const DynamicLibrary& library, const std::string& name) {
  Table table;
  const char* lacking = nullptr;
  const auto need = [&](auto& into, std::initializer_list<const char*> names) {
    if (bind(library, into, names) == nullptr && lacking == nullptr) lacking = *names.begin();
  };
  need(table.init, {"nvmlInit_v2", "nvmlInit"});
  need(table.shutdown, {"nvmlShutdown"});
  need(table.error_string, {"nvmlErrorString"});
  need(table.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  need(table.handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  need(table.name, {"nvmlDeviceGetName"});
  need(table.uuid, {"nvmlDeviceGetUUID"});
  need(table.memory, {"nvmlDeviceGetMemoryInfo"});
  need(table.utilization, {"nvmlDeviceGetUtilizationRates"});
  if (lacking != nullptr) {
    return base::error(Code::unavailable, "no GPU readings: %s has no function %s", name.c_str(),
                       lacking);
  }
  bind(library, table.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  table.processes_v2 = bind(library, table.compute_processes,
                            {"nvmlDeviceGetComputeRunningProcesses_v3",
                             "nvmlDeviceGetComputeRunningProcesses_v2"}) != nullptr;
  if (table.processes_v2) {
    bind(library, table.graphics_processes,
         {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2"});
  } else {
    bind(library, table.compute_processes, {"nvmlDeviceGetComputeRunningProcesses"});
    bind(library, table.graphics_processes, {"nvmlDeviceGetGraphicsRunningProcesses"});
  }
  return table;
}

std::string text_of(const Table& table, Return code) {
  const char* text = table.error_string(code);
  return text != nullptr ? text : "error " + std::to_string(code);
}

}  // namespace

Library::Library(DynamicLibrary library, const Table& table)
    : library_(std::move(library)), table_(table) {}

Library::Library(Library&& other) noexcept
    : library_(std::move(other.library_)),
      table_(other.table_),
      started_(std::exchange(other.started_, false)) {}

Library::~Library() {
  if (started_) table_.shutdown();
}

Result<Library> Library::load(const std::string& name) {
  auto library = DynamicLibrary::open(name);
  if (!library) {
    return base::error(Code::unavailable, "no GPU readings: no NVIDIA driver (%s)",
                       library.error().message.c_str());
  }
  const auto table = bind_all(*library, name);
  if (!table) return table.error();
  const Return started = table->init();
  if (started != kSuccess) {
    const char* what =
        started == kDriverNotLoaded ? "the NVIDIA driver is not loaded" : "NVML cannot start";
    base::Error error = base::error(Code::unavailable, "no GPU readings: %s (%s: %s)", what,
                                    name.c_str(), text_of(*table, started).c_str());
    error.native = started;
    return error;
  }
  return Library(*std::move(library), *table);
}

std::string Library::failure(const char* function, Return code) const {
  return std::string(function) + ": " + text_of(table_, code);
}

}  // namespace ebb::sense::nvml
