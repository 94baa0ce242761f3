// SPDX-License-Identifier: Apache-2.0
#include "sense/gpu.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "sense/nvml.h"

namespace ebb::sense {

using base::Code;
using base::Result;

namespace {

/// Reads one GPU call by call, noting the first that failed for a reason other than that the
/// hardware lacks the feature.
class DeviceReader {
 public:
  DeviceReader(const nvml::Library& library, unsigned int index)
      : library_(library), table_(library.table()) {
    reading_.index = index;
  }

  GpuReading read(unsigned int pid) {
    if (!worked("nvmlDeviceGetHandleByIndex", table_.handle(reading_.index, &device_))) {
      return reading_;
    }
    reading_.name = text("nvmlDeviceGetName", table_.name);
    reading_.uuid = text("nvmlDeviceGetUUID", table_.uuid);
    read_memory();
    nvml::Utilization utilization{};
    if (worked("nvmlDeviceGetUtilizationRates", table_.utilization(device_, &utilization))) {
      reading_.utilization = utilization.gpu;
    }
    read_process(pid);
    return reading_;
  }

 private:
  bool worked(const char* function, nvml::Return code) {
    if (code == nvml::kSuccess) return true;
    if (code != nvml::kNotSupported && reading_.trouble.empty()) {
      reading_.trouble = library_.failure(function, code);
    }
    return false;
  }

  std::string text(const char* function, nvml::Return (*call)(nvml::Device, char*, unsigned int)) {
    char buffer[nvml::kNameBytes] = {};
    if (!worked(function, call(device_, buffer, sizeof buffer))) return {};
    return {buffer, strnlen(buffer, sizeof buffer)};
  }

  void read_memory() {
    if (table_.memory_v2 != nullptr) {
      nvml::MemoryV2 memory{};
      memory.version = nvml::kMemoryV2;
      if (table_.memory_v2(device_, &memory) == nvml::kSuccess) {
        reading_.total = memory.total;
        reading_.used = memory.used;
        reading_.free = memory.free;
        reading_.reserved = memory.reserved;
        return;
      }
    }
    nvml::Memory memory{};
    if (worked("nvmlDeviceGetMemoryInfo", table_.memory(device_, &memory))) {
      reading_.total = memory.total;
      reading_.used = memory.used;
      reading_.free = memory.free;
    }
  }

  using ProcessList = nvml::Return (*)(nvml::Device, unsigned int*, void*);

  /// The processes on the GPU, or nothing when NVML does not tell.
  template <class Process>
  std::optional<std::vector<Process>> processes(const char* function, ProcessList list) {
    if (list == nullptr) return std::nullopt;
    // Processes come and go between the call that counts them and the one that lists them.
    std::vector<Process> found(32);
    for (int attempt = 0; attempt < 4; ++attempt) {
      auto count = static_cast<unsigned int>(found.size());
      const nvml::Return code = list(device_, &count, found.data());
      if (code == nvml::kInsufficientSize && count < (1U << 16)) {
        found.resize(std::size_t{count} + 32);
        continue;
      }
      if (!worked(function, code) || count > found.size()) return std::nullopt;
      found.resize(count);
      return found;
    }
    return std::nullopt;
  }

  /// Adds up what `pid` holds, over the partitions of a GPU that is divided.
  template <class Process>
  void read_process_from(unsigned int pid) {
    for (const auto& [function, list] :
         {std::pair("nvmlDeviceGetComputeRunningProcesses", table_.compute_processes),
          std::pair("nvmlDeviceGetGraphicsRunningProcesses", table_.graphics_processes)}) {
      const auto found = processes<Process>(function, list);
      if (!found) continue;
      std::optional<std::uint64_t> bytes;
      for (const Process& process : *found) {
        if (process.pid != pid) continue;
        if (process.used == nvml::kNotAvailable) return;
        bytes = bytes.value_or(0) + process.used;
      }
      // A process may be in both lists, with the same bytes.
      if (bytes) {
        reading_.process = bytes;
        return;
      }
    }
  }

  void read_process(unsigned int pid) {
    if (table_.processes_v2) {
      read_process_from<nvml::ProcessV2>(pid);
    } else {
      read_process_from<nvml::ProcessV1>(pid);
    }
  }

  const nvml::Library& library_;
  const nvml::Table& table_;
  nvml::Device device_ = nullptr;
  GpuReading reading_;
};

}  // namespace

GpuMeter::GpuMeter(std::unique_ptr<nvml::Library> library) : library_(std::move(library)) {}
GpuMeter::GpuMeter(GpuMeter&&) noexcept = default;
GpuMeter::~GpuMeter() = default;

Result<GpuMeter> GpuMeter::open(const std::string& library) {
  std::string name = library;
  if (name.empty()) {
    const char* chosen = std::getenv("EBB_NVML");
    name = chosen != nullptr && *chosen != '\0' ? chosen : "libnvidia-ml.so.1";
  }
  auto loaded = nvml::Library::load(name);
  if (!loaded) return loaded.error();
  return GpuMeter(std::make_unique<nvml::Library>(*std::move(loaded)));
}

Result<std::vector<GpuReading>> GpuMeter::read(pid_t pid) const {
  unsigned int count = 0;
  const nvml::Return counted = library_->table().count(&count);
  if (counted != nvml::kSuccess) {
    const Code code = counted == nvml::kNoPermission ? Code::not_permitted : Code::unavailable;
    return base::Error{
        code, "cannot count GPUs: " + library_->failure("nvmlDeviceGetCount", counted), counted};
  }
  const auto process = static_cast<unsigned int>(pid == kSelf ? ::getpid() : pid);
  std::vector<GpuReading> readings;
  for (unsigned int index = 0; index < count; ++index)
    readings.push_back(DeviceReader(*library_, index).read(process));
  return readings;
}

}  // namespace ebb::sense
