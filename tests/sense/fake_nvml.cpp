// SPDX-License-Identifier: Apache-2.0
// Stands in for NVIDIA's management library: two GPUs of 80 GiB. $FAKE_NVML is "function=code,...":
// those functions fail; $FAKE_NVML_FREE_GIB is what is free of each instead of 50, or the path of a
// file that says so. With FAKE_NVML_OLD it has the names of old drivers only; with
// FAKE_NVML_WITHOUT_UUID it lacks a function.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "sense/nvml.h"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace nvml = ebb::sense::nvml;
using nvml::Device;
using nvml::Return;

constexpr unsigned long long kGiB = 1ULL << 30;
constexpr unsigned int kOtherPid = 999'999;

char gpus[2];
int users = 0;

Device handle_of(unsigned int index) {
  return reinterpret_cast<Device>(&gpus[index]);
}
unsigned int index_of(Device device) {
  return reinterpret_cast<char*>(device) == &gpus[1] ? 1 : 0;
}

Return outcome(const char* function) {
  const char* script = std::getenv("FAKE_NVML");
  if (script == nullptr) return users > 0 ? nvml::kSuccess : 1;
  const std::string all = std::string(",") + script;
  const std::size_t found = all.find("," + std::string(function) + "=");
  if (found == std::string::npos) return users > 0 ? nvml::kSuccess : 1;
  return std::atoi(all.c_str() + found + std::strlen(function) + 2);
}

unsigned long long free_bytes() {
  const char* said = std::getenv("FAKE_NVML_FREE_GIB");
  unsigned long long gibibytes = 50;
  if (said != nullptr && *said == '/') {
    std::ifstream(said) >> gibibytes;
  } else if (said != nullptr) {
    gibibytes = static_cast<unsigned long long>(std::atoi(said));
  }
  return gibibytes * kGiB;
}

Return start(const char* function) {
  ++users;
  const Return code = outcome(function);
  if (code != nvml::kSuccess) --users;
  return code;
}

Return count_into(const char* function, unsigned int* count) {
  *count = 2;
  return outcome(function);
}

Return handle_into(const char* function, unsigned int index, Device* device) {
  *device = handle_of(index);
  return index == 1 ? outcome(function) : nvml::kSuccess;
}

/// GPU 0: another process, and this one on two partitions. GPU 1: this one, bytes not told.
template <class Process>
Return list(const char* function, Device device, unsigned int* count, Process* processes) {
  const Return code = outcome(function);
  if (code != nvml::kSuccess) return code;
  const bool first = index_of(device) == 0;
  const char* many = std::getenv("FAKE_NVML_OTHERS");
  const unsigned int others =
      first ? (many != nullptr ? static_cast<unsigned int>(std::atoi(many)) : 1) : 0;
  const unsigned int needed = others + (first ? 2 : 1);
  const unsigned int room = *count;
  *count = needed;
  if (room < needed) return nvml::kInsufficientSize;
  for (unsigned int i = 0; i < needed; ++i) {
    processes[i] = {};
    processes[i].pid = i < others ? kOtherPid : static_cast<unsigned int>(getpid());
    processes[i].used = first ? (i < others ? 20 : 3) * kGiB : nvml::kNotAvailable;
  }
  return nvml::kSuccess;
}

}  // namespace

FAKE_EXPORT Return nvmlShutdown() {
  --users;
  return nvml::kSuccess;
}

FAKE_EXPORT int fake_nvml_users() {
  return users;
}

FAKE_EXPORT const char* nvmlErrorString(Return code) {
  switch (code) {
    case nvml::kNoPermission:
      return "Insufficient Permissions";
    case nvml::kDriverNotLoaded:
      return "Driver Not Loaded";
    case 15:
      return "GPU is lost";
    default:
      return code == 777 ? nullptr : "Unknown Error";
  }
}

FAKE_EXPORT Return nvmlDeviceGetName(Device device, char* name, unsigned int length) {
  std::snprintf(name, length, "Fake GPU %u", index_of(device));
  return outcome("nvmlDeviceGetName");
}

#ifndef FAKE_NVML_WITHOUT_UUID
FAKE_EXPORT Return nvmlDeviceGetUUID(Device device, char* uuid, unsigned int length) {
  std::snprintf(uuid, length, "GPU-fake-%u", index_of(device));
  return outcome("nvmlDeviceGetUUID");
}
#endif

FAKE_EXPORT Return nvmlDeviceGetMemoryInfo(Device, nvml::Memory* memory) {
  *memory = {80 * kGiB, free_bytes(), 80 * kGiB - free_bytes()};
  return outcome("nvmlDeviceGetMemoryInfo");
}

FAKE_EXPORT Return nvmlDeviceGetUtilizationRates(Device device, nvml::Utilization* rates) {
  *rates = {37, 12};
  if (index_of(device) == 1) return nvml::kNotSupported;
  return outcome("nvmlDeviceGetUtilizationRates");
}

#ifdef FAKE_NVML_OLD

FAKE_EXPORT Return nvmlInit() {
  return start("nvmlInit");
}

FAKE_EXPORT Return nvmlDeviceGetCount(unsigned int* count) {
  return count_into("nvmlDeviceGetCount", count);
}

FAKE_EXPORT Return nvmlDeviceGetHandleByIndex(unsigned int index, Device* device) {
  return handle_into("nvmlDeviceGetHandleByIndex", index, device);
}

FAKE_EXPORT Return nvmlDeviceGetComputeRunningProcesses(Device device, unsigned int* count,
                                                        nvml::ProcessV1* processes) {
  return list("nvmlDeviceGetComputeRunningProcesses", device, count, processes);
}

#else

FAKE_EXPORT Return nvmlInit_v2() {
  return start("nvmlInit_v2");
}

FAKE_EXPORT Return nvmlDeviceGetCount_v2(unsigned int* count) {
  return count_into("nvmlDeviceGetCount_v2", count);
}

FAKE_EXPORT Return nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device* device) {
  return handle_into("nvmlDeviceGetHandleByIndex_v2", index, device);
}

FAKE_EXPORT Return nvmlDeviceGetMemoryInfo_v2(Device, nvml::MemoryV2* memory) {
  if (memory->version != nvml::kMemoryV2) return 2;
  *memory = {nvml::kMemoryV2, 80 * kGiB, 1 * kGiB, free_bytes(), 79 * kGiB - free_bytes()};
  return outcome("nvmlDeviceGetMemoryInfo_v2");
}

FAKE_EXPORT Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned int* count,
                                                           nvml::ProcessV2* processes) {
  return list("nvmlDeviceGetComputeRunningProcesses_v3", device, count, processes);
}

FAKE_EXPORT Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned int* count,
                                                            nvml::ProcessV2* processes) {
  return list("nvmlDeviceGetGraphicsRunningProcesses_v3", device, count, processes);
}

#endif
