// SPDX-License-Identifier: Apache-2.0
#include "keep/info.h"

#include <span>

#include "heap/private_allocators.h"
#include "keep/ledger.h"
#include "sense/cpu.h"
#include "sense/living_thread.h"
#include "sense/mapping_sums.h"

namespace ebb::keep {
namespace {

void add_gpus(Info& info, int pid) {
  const base::Result<sense::GpuMeter> meter = sense::GpuMeter::open();
  if (!meter) {
    info.gpu_trouble = meter.error().message;
    return;
  }
  base::Result<std::vector<sense::GpuReading>> gpus = meter->read(pid);
  if (gpus) {
    info.gpus = *std::move(gpus);
  } else {
    info.gpu_trouble = gpus.error().message;
  }
}

void add_cpu(Info& info, int pid) {
  if (const auto percent = sense::ProcessCpuMeter(pid).read()) info.cpu_percent = *percent;
  if (const auto percent = sense::MachineCpuMeter().read()) info.machine_cpu_percent = *percent;
}

void add_ledger(Info& info, int pid) {
  const sense::ProcessReading& process = info.memory.process;
  fact::ProcessSample memory;
  memory.rss = process.rss;
  memory.anon = process.anon;
  memory.file = process.file;
  memory.shmem = process.shmem;
  memory.swap = process.swap;
  memory.live = info.heap.live;
  memory.retained = info.heap.retained;
  std::optional<std::span<const fact::PrivateAllocator>> beside;
  if (info.private_trouble.empty()) beside = info.private_allocators;
  std::optional<fact::MappedParts> mappings;
  if (const auto read = sense::read_mapping_sums(pid)) mappings = parts_of(*read);
  info.ledger = ledger_of(memory, beside, mappings);
  if (!info.private_trouble.empty())
    info.ledger.notes.push_back("private: not known: " + info.private_trouble);
}

base::Json to_json(const sense::GpuReading& gpu) {
  return base::Json::object({{"index", std::uint64_t{gpu.index}},
                             {"name", gpu.name},
                             {"uuid", gpu.uuid},
                             {"total_bytes", gpu.total},
                             {"used_bytes", gpu.used},
                             {"free_bytes", gpu.free},
                             {"process_bytes", gpu.process},
                             {"utilization_percent", gpu.utilization}});
}

base::Json texts(const std::vector<std::string>& lines) {
  base::Json array = base::Json::array();
  for (const std::string& line : lines)
    array.push(line);
  return array;
}

base::Json memory_json(const sense::MemoryInfo& memory) {
  base::Json json;
  const sense::ProcessReading& process = memory.process;
  json.set("rss_bytes", process.rss)
      .set("hwm_bytes", process.hwm)
      .set("anon_bytes", process.anon)
      .set("file_bytes", process.file)
      .set("shmem_bytes", process.shmem)
      .set("swap_bytes", process.swap)
      .set("threads", process.threads)
      .set("virtual_bytes", process.virtual_size)
      .set("virtual_peak_bytes", process.virtual_peak)
      .set("data_bytes", process.data)
      .set("limit_bytes", memory.limit)
      .set("limit_source", sense::name_of(memory.source))
      .set("percent", memory.percent)
      .set("fullest_percent", memory.fullest_percent)
      .set("working_set_percent", memory.working_set_percent)
      .set("usage_percent", memory.usage_percent);
  if (memory.pressure) json.set("pressure_some_avg10", memory.pressure->some.avg10);
  return json;
}

}  // namespace

std::optional<double> Info::fragmentation_ratio() const {
  if (!heap.live || !heap.retained || *heap.live == 0) return {};
  return 1 + static_cast<double>(*heap.retained) / static_cast<double>(*heap.live);
}

base::Result<Info> info_here() {
  Info info;
  info.detection = heap::detect_here();
  heap::HostAllocator& allocator = heap::host_allocator();
  info.allocator_version = allocator.version();
  info.controllable = allocator.controllable();
  // One moment for both readings; looking for copies allocates, so it comes afterwards.
  base::Result<sense::MemoryInfo> memory = sense::memory_info();
  if (!memory) return memory.error();
  info.memory = *std::move(memory);
  info.heap = allocator.read();
  info.private_copies = heap::private_copies_here();
  heap::PrivateAllocators beside;
  for (const heap::PrivateCopy& copy : info.private_copies)
    beside.add(copy);
  info.private_allocators = beside.read();
  add_ledger(info, sense::kSelf);
  add_gpus(info, sense::kSelf);
  add_cpu(info, sense::kSelf);
  return info;
}

base::Result<Info> info_of(int pid) {
  Info info;
  const pid_t readable = sense::number_to_read(pid);
  base::Result<heap::Detection> detection = heap::detect_in(readable);
  if (!detection) return detection.error();
  info.detection = *std::move(detection);
  base::Result<sense::MemoryInfo> memory = sense::memory_info(pid);
  if (!memory) return memory.error();
  info.memory = *std::move(memory);
  info.heap.cannot_tell.emplace_back(
      "live, retained, mapped: only the process itself can ask its allocator");
  auto copies = heap::private_copies_in(readable);
  if (copies) {
    info.private_copies = *std::move(copies);
  } else {
    info.private_trouble = copies.error().message;
  }
  for (const heap::PrivateCopy& copy : info.private_copies) {
    info.private_allocators.emplace_back();
    info.private_allocators.back().kind = heap::name_of(copy.identity.kind);
    info.private_allocators.back().library = heap::library_of(copy);
  }
  add_ledger(info, pid);
  add_gpus(info, pid);
  add_cpu(info, pid);
  return info;
}

base::Json to_json(const Info& info) {
  base::Json json;
  json.set("pid", std::int64_t{info.memory.process.pid})
      .set("allocator", heap::name_of(info.detection.kind()))
      .set("allocator_version", info.allocator_version)
      .set("allocator_object", info.detection.object)
      .set("allocator_evidence", heap::name_of(info.detection.identity.evidence))
      .set("allocator_note", info.detection.identity.remark.empty()
                                 ? info.detection.note
                                 : info.detection.identity.remark)
      .set("controllable", info.controllable);
  const base::Json memory = memory_json(info.memory);
  for (const base::Json::Member& member : *memory.as_object())
    json.set(member.first, member.second);
  json.set("live_bytes", info.heap.live)
      .set("retained_bytes", info.heap.retained)
      .set("mapped_bytes", info.heap.mapped)
      .set("releasable_bytes", info.heap.releasable);
  base::Json details = base::Json::object();
  for (const heap::Detail& detail : info.heap.details)
    details.set(detail.name, detail.value);
  base::Json copies = base::Json::array();
  for (std::size_t i = 0; i < info.private_copies.size(); ++i) {
    const heap::PrivateCopy& copy = info.private_copies[i];
    const fact::PrivateAllocator& known = info.private_allocators[i];
    copies.push(base::Json::object({{"allocator", heap::name_of(copy.identity.kind)},
                                    {"object", copy.object},
                                    {"evidence", heap::name_of(copy.identity.evidence)},
                                    {"live_bytes", known.live},
                                    {"retained_bytes", known.retained}}));
  }
  base::Json gpus = base::Json::array();
  for (const sense::GpuReading& gpu : info.gpus)
    gpus.push(to_json(gpu));
  json.set("details", details)
      .set("cannot_tell", texts(info.heap.cannot_tell))
      .set("private_copies", copies)
      .set("ledger", fact::to_json(info.ledger))
      .set("gpus", gpus)
      .set("gpu_trouble", info.gpu_trouble)
      .set("fragmentation_ratio", info.fragmentation_ratio())
      .set("cpu_percent", info.cpu_percent)
      .set("machine_cpu_percent", info.machine_cpu_percent);
  return json;
}

}  // namespace ebb::keep
