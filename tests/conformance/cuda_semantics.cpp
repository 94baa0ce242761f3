// SPDX-License-Identifier: Apache-2.0
#include "conformance/cuda_semantics.h"

namespace ebb::conformance {
namespace {

using cuda::Result;

constexpr int kCaptureModeGlobal = 0;

std::size_t granule(CudaWorkbench& bench) {
  std::size_t bytes = 0;
  const cuda::AllocationProperties properties;
  bench.api.cuMemGetAllocationGranularity(&bytes, &properties, cuda::kGranularityMinimum);
  return bytes;
}

std::size_t free_bytes(CudaWorkbench& bench) {
  std::size_t free = 0;
  std::size_t total = 0;
  bench.api.cuMemGetInfo(&free, &total);
  return free;
}

/// Eight granules of address space; what cases map into it is unmapped granule by granule and as a
/// pair at the start.
class Range {
 public:
  explicit Range(CudaWorkbench& bench) : bench_(bench), granule_(granule(bench)) {
    bench.api.cuMemAddressReserve(&start_, 8 * granule_, granule_, 0, 0);
  }
  ~Range() {
    bench_.api.cuMemUnmap(start_, 2 * granule_);
    for (std::size_t i = 0; i < 8; ++i) {
      bench_.api.cuMemUnmap(at(i), granule_);
    }
    bench_.api.cuMemAddressFree(start_, 8 * granule_);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  cuda::Pointer at(std::size_t index) const { return start_ + index * granule_; }
  std::size_t granule_bytes() const { return granule_; }

  /// Maps fresh memory of `granules` at `index`; its handle is released.
  Result map(std::size_t index, std::size_t granules) {
    cuda::Handle handle = 0;
    const cuda::AllocationProperties properties;
    Result result = bench_.api.cuMemCreate(&handle, granules * granule_, &properties, 0);
    if (result != cuda::kSuccess) return result;
    result = bench_.api.cuMemMap(at(index), granules * granule_, 0, handle, 0);
    bench_.api.cuMemRelease(handle);
    return result;
  }
  Result access(std::size_t index, std::size_t granules) {
    const cuda::AccessDescription description;
    return bench_.api.cuMemSetAccess(at(index), granules * granule_, &description, 1);
  }

 private:
  CudaWorkbench& bench_;
  std::size_t granule_;
  cuda::Pointer start_ = 0;
};

Result map_twice(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 1);
  return range.map(0, 1);
}

Result map_over_a_part(CudaWorkbench& bench) {
  Range range(bench);
  range.map(1, 1);
  return range.map(0, 2);
}

Result map_outside_reservations(CudaWorkbench& bench) {
  cuda::Pointer gone = 0;
  {
    const Range range(bench);
    gone = range.at(0);
  }
  cuda::Handle handle = 0;
  const cuda::AllocationProperties properties;
  const std::size_t bytes = granule(bench);
  bench.api.cuMemCreate(&handle, bytes, &properties, 0);
  const Result result = bench.api.cuMemMap(gone, bytes, 0, handle, 0);
  bench.api.cuMemRelease(handle);
  return result;
}

Result map_misaligned(CudaWorkbench& bench) {
  const Range range(bench);
  cuda::Handle handle = 0;
  const cuda::AllocationProperties properties;
  bench.api.cuMemCreate(&handle, range.granule_bytes(), &properties, 0);
  const Result result = bench.api.cuMemMap(range.at(0) + 4096, range.granule_bytes(), 0, handle, 0);
  bench.api.cuMemRelease(handle);
  return result;
}

Result map_more_than_the_handle(CudaWorkbench& bench) {
  const Range range(bench);
  cuda::Handle handle = 0;
  const cuda::AllocationProperties properties;
  bench.api.cuMemCreate(&handle, range.granule_bytes(), &properties, 0);
  const Result result = bench.api.cuMemMap(range.at(0), 2 * range.granule_bytes(), 0, handle, 0);
  bench.api.cuMemRelease(handle);
  return result;
}

Result map_with_an_offset(CudaWorkbench& bench) {
  const Range range(bench);
  cuda::Handle handle = 0;
  const cuda::AllocationProperties properties;
  bench.api.cuMemCreate(&handle, 2 * range.granule_bytes(), &properties, 0);
  const Result result =
      bench.api.cuMemMap(range.at(0), range.granule_bytes(), range.granule_bytes(), handle, 0);
  bench.api.cuMemRelease(handle);
  return result;
}

Result map_less_than_the_handle(CudaWorkbench& bench) {
  const Range range(bench);
  cuda::Handle handle = 0;
  const cuda::AllocationProperties properties;
  bench.api.cuMemCreate(&handle, 2 * range.granule_bytes(), &properties, 0);
  const Result result = bench.api.cuMemMap(range.at(0), range.granule_bytes(), 0, handle, 0);
  bench.api.cuMemRelease(handle);
  return result;
}

Result unmap_outside_reservations(CudaWorkbench& bench) {
  cuda::Pointer gone = 0;
  {
    const Range range(bench);
    gone = range.at(0);
  }
  return bench.api.cuMemUnmap(gone, granule(bench));
}

Result unmap_nothing(CudaWorkbench& bench) {
  const Range range(bench);
  return bench.api.cuMemUnmap(range.at(0), range.granule_bytes());
}

Result unmap_half_a_mapping(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 2);
  return bench.api.cuMemUnmap(range.at(0), range.granule_bytes());
}

Result unmap_two_mappings_at_once(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 1);
  range.map(1, 1);
  return bench.api.cuMemUnmap(range.at(0), 2 * range.granule_bytes());
}

Result unmap_beyond_the_mapping(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 1);
  return bench.api.cuMemUnmap(range.at(0), 2 * range.granule_bytes());
}

Result free_addresses_in_use(CudaWorkbench& bench) {
  Range range(bench);
  range.map(1, 1);
  return bench.api.cuMemAddressFree(range.at(0), 8 * range.granule_bytes());
}

Result free_a_part_of_the_addresses(CudaWorkbench& bench) {
  const Range range(bench);
  return bench.api.cuMemAddressFree(range.at(0), 4 * range.granule_bytes());
}

Result free_addresses_from_the_middle(CudaWorkbench& bench) {
  const Range range(bench);
  return bench.api.cuMemAddressFree(range.at(4), 4 * range.granule_bytes());
}

Result reserve_an_odd_size(CudaWorkbench& bench) {
  cuda::Pointer start = 0;
  return bench.api.cuMemAddressReserve(&start, granule(bench) + 512, 0, 0, 0);
}

Result reserve_nothing(CudaWorkbench& bench) {
  cuda::Pointer start = 0;
  return bench.api.cuMemAddressReserve(&start, 0, 0, 0, 0);
}

Result create_an_odd_size(CudaWorkbench& bench) {
  cuda::Handle handle = 0;
  const cuda::AllocationProperties properties;
  return bench.api.cuMemCreate(&handle, granule(bench) + 512, &properties, 0);
}

Result create_on_an_unknown_device(CudaWorkbench& bench) {
  cuda::Handle handle = 0;
  cuda::AllocationProperties properties;
  properties.location.id = 99;
  return bench.api.cuMemCreate(&handle, granule(bench), &properties, 0);
}

Result create_more_than_there_is(CudaWorkbench& bench) {
  std::size_t total = 0;
  bench.api.cuDeviceTotalMem(&total, 0);
  cuda::Handle handle = 0;
  const cuda::AllocationProperties properties;
  return bench.api.cuMemCreate(&handle, total / granule(bench) * granule(bench) * 2, &properties,
                               0);
}

Result release_a_handle_twice(CudaWorkbench& bench) {
  cuda::Handle handle = 0;
  const cuda::AllocationProperties properties;
  bench.api.cuMemCreate(&handle, granule(bench), &properties, 0);
  bench.api.cuMemRelease(handle);
  return bench.api.cuMemRelease(handle);
}

Result access_to_nothing(CudaWorkbench& bench) {
  Range range(bench);
  return range.access(0, 1);
}

Result access_to_two_mappings(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 1);
  range.map(1, 1);
  return range.access(0, 2);
}

Result access_beyond_the_mapping(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 1);
  return range.access(0, 2);
}

Result access_to_half_a_mapping(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 2);
  return range.access(0, 1);
}

Result memory_stays_until_it_is_unmapped(CudaWorkbench& bench) {
  Range range(bench);
  const std::size_t before = free_bytes(bench);
  range.map(0, 1);
  range.access(0, 1);
  const std::size_t during = free_bytes(bench);
  bench.api.cuMemUnmap(range.at(0), range.granule_bytes());
  const std::size_t after = free_bytes(bench);
  // The answer of this case is ours: whether the handle's release left the memory in place.
  return during + range.granule_bytes() == before && after == before ? cuda::kSuccess
                                                                     : cuda::kInvalidValue;
}

Result copy_into_a_mapping(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 1);
  range.access(0, 1);
  const unsigned data = 1;
  return bench.cuMemcpyHtoD(range.at(0), &data, sizeof data);
}

Result copy_without_access(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 1);
  const unsigned data = 1;
  return bench.cuMemcpyHtoD(range.at(0), &data, sizeof data);
}

Result copy_into_a_reservation(CudaWorkbench& bench) {
  const Range range(bench);
  const unsigned data = 1;
  return bench.cuMemcpyHtoD(range.at(0), &data, sizeof data);
}

Result access_is_gone_after_a_new_map(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 1);
  range.access(0, 1);
  bench.api.cuMemUnmap(range.at(0), range.granule_bytes());
  range.map(0, 1);
  const unsigned data = 1;
  return bench.cuMemcpyHtoD(range.at(0), &data, sizeof data);
}

Result allocate_nothing(CudaWorkbench& bench) {
  cuda::Pointer pointer = 0;
  return bench.api.cuMemAlloc(&pointer, 0);
}

Result allocate_more_than_there_is(CudaWorkbench& bench) {
  std::size_t total = 0;
  bench.api.cuDeviceTotalMem(&total, 0);
  cuda::Pointer pointer = 0;
  return bench.api.cuMemAlloc(&pointer, 2 * total);
}

Result free_twice(CudaWorkbench& bench) {
  cuda::Pointer pointer = 0;
  bench.api.cuMemAlloc(&pointer, 4 << 20);
  bench.api.cuMemFree(pointer);
  return bench.api.cuMemFree(pointer);
}

Result free_the_middle(CudaWorkbench& bench) {
  cuda::Pointer pointer = 0;
  bench.api.cuMemAlloc(&pointer, 4 << 20);
  const Result result = bench.api.cuMemFree(pointer + (2 << 20));
  bench.api.cuMemFree(pointer);
  return result;
}

Result free_null(CudaWorkbench& bench) {
  return bench.api.cuMemFree(0);
}

Result free_a_mapping(CudaWorkbench& bench) {
  Range range(bench);
  range.map(0, 1);
  return bench.api.cuMemFree(range.at(0));
}

Result allocate_without_a_context(CudaWorkbench& bench) {
  cuda::Context ours = nullptr;
  bench.api.cuCtxPopCurrent(&ours);
  cuda::Pointer pointer = 0;
  const Result result = bench.api.cuMemAlloc(&pointer, 4 << 20);
  bench.api.cuCtxPushCurrent(ours);
  return result;
}

Result ask_for_memory_without_a_context(CudaWorkbench& bench) {
  cuda::Context ours = nullptr;
  bench.api.cuCtxPopCurrent(&ours);
  std::size_t free = 0;
  std::size_t total = 0;
  const Result result = bench.api.cuMemGetInfo(&free, &total);
  bench.api.cuCtxPushCurrent(ours);
  return result;
}

Result reserve_without_a_context(CudaWorkbench& bench) {
  cuda::Context ours = nullptr;
  bench.api.cuCtxPopCurrent(&ours);
  cuda::Pointer start = 0;
  const std::size_t bytes = granule(bench);
  const Result result = bench.api.cuMemAddressReserve(&start, bytes, 0, 0, 0);
  bench.api.cuMemAddressFree(start, bytes);
  bench.api.cuCtxPushCurrent(ours);
  return result;
}

Result make_an_event_without_a_context(CudaWorkbench& bench) {
  cuda::Context ours = nullptr;
  bench.api.cuCtxPopCurrent(&ours);
  cuda::Event event = nullptr;
  const Result result = bench.api.cuEventCreate(&event, cuda::kEventDisableTiming);
  bench.api.cuCtxPushCurrent(ours);
  return result;
}

Result pop_without_a_context(CudaWorkbench& bench) {
  cuda::Context ours = nullptr;
  bench.api.cuCtxPopCurrent(&ours);
  cuda::Context none = nullptr;
  const Result result = bench.api.cuCtxPopCurrent(&none);
  bench.api.cuCtxPushCurrent(ours);
  return result;
}

Result query_an_event_never_recorded(CudaWorkbench& bench) {
  cuda::Event event = nullptr;
  bench.api.cuEventCreate(&event, cuda::kEventDisableTiming);
  const Result result = bench.api.cuEventQuery(event);
  bench.api.cuEventDestroy(event);
  return result;
}

Result get_an_unknown_device(CudaWorkbench& bench) {
  cuda::Device device = 0;
  return bench.api.cuDeviceGet(&device, 99);
}

Result end_capture(CudaWorkbench& bench) {
  GraphTag* graph = nullptr;
  const Result result = bench.cuStreamEndCapture(bench.stream, &graph);
  if (graph != nullptr) bench.cuGraphDestroy(graph);
  return result;
}

Result allocate_during_a_capture(CudaWorkbench& bench) {
  bench.cuStreamBeginCapture(bench.stream, kCaptureModeGlobal);
  cuda::Pointer pointer = 0;
  const Result result = bench.api.cuMemAlloc(&pointer, 4 << 20);
  end_capture(bench);
  return result;
}

Result end_a_disturbed_capture(CudaWorkbench& bench) {
  bench.cuStreamBeginCapture(bench.stream, kCaptureModeGlobal);
  cuda::Pointer pointer = 0;
  bench.api.cuMemAlloc(&pointer, 4 << 20);
  return end_capture(bench);
}

Result allocate_relaxed_during_a_capture(CudaWorkbench& bench) {
  bench.cuStreamBeginCapture(bench.stream, kCaptureModeGlobal);
  int mode = cuda::kCaptureModeRelaxed;
  bench.api.cuThreadExchangeStreamCaptureMode(&mode);
  cuda::Pointer pointer = 0;
  const Result allocated = bench.api.cuMemAlloc(&pointer, 4 << 20);
  bench.api.cuThreadExchangeStreamCaptureMode(&mode);
  const Result ended = end_capture(bench);
  bench.api.cuMemFree(pointer);
  return allocated != cuda::kSuccess ? allocated : ended;
}

Result ask_a_capturing_stream(CudaWorkbench& bench) {
  bench.cuStreamBeginCapture(bench.stream, kCaptureModeGlobal);
  int status = cuda::kCaptureNone;
  const Result result = bench.api.cuStreamIsCapturing(bench.stream, &status);
  end_capture(bench);
  return status == cuda::kCaptureNone ? cuda::kInvalidValue : result;
}

Result ask_the_default_stream_beside_a_capture(CudaWorkbench& bench) {
  bench.cuStreamBeginCapture(bench.stream, kCaptureModeGlobal);
  int status = cuda::kCaptureNone;
  const Result result = bench.api.cuStreamIsCapturing(nullptr, &status);
  end_capture(bench);
  return result;
}

Result ask_the_default_stream_that_a_capture_excludes(CudaWorkbench& bench) {
  cuda::Stream blocking = nullptr;
  bench.cuStreamCreate(&blocking, 0);
  bench.cuStreamBeginCapture(blocking, kCaptureModeGlobal);
  int status = cuda::kCaptureNone;
  const Result result = bench.api.cuStreamIsCapturing(nullptr, &status);
  GraphTag* graph = nullptr;
  bench.cuStreamEndCapture(blocking, &graph);
  if (graph != nullptr) bench.cuGraphDestroy(graph);
  bench.cuStreamDestroy(blocking);
  return result;
}

}  // namespace

const std::vector<CudaCase>& cuda_cases() {
  using namespace cuda;
  static const std::vector<CudaCase> cases = {
      {"MapTwice", kInvalidValue, map_twice},
      {"MapOverAPart", kInvalidValue, map_over_a_part},
      {"MapOutsideReservations", kInvalidValue, map_outside_reservations},
      {"MapMisaligned", kInvalidValue, map_misaligned},
      {"MapMoreThanTheHandle", kNotSupported, map_more_than_the_handle},
      {"MapWithAnOffset", kNotSupported, map_with_an_offset},
      {"MapLessThanTheHandle", kNotSupported, map_less_than_the_handle},
      {"UnmapOutsideReservations", kInvalidValue, unmap_outside_reservations},
      {"UnmapNothing", kSuccess, unmap_nothing},
      {"UnmapHalfAMapping", kInvalidValue, unmap_half_a_mapping},
      {"UnmapTwoMappingsAtOnce", kSuccess, unmap_two_mappings_at_once},
      {"UnmapBeyondTheMapping", kSuccess, unmap_beyond_the_mapping},
      {"FreeAddressesInUse", kInvalidValue, free_addresses_in_use},
      {"FreeAPartOfTheAddresses", kInvalidValue, free_a_part_of_the_addresses},
      {"FreeAddressesFromTheMiddle", kInvalidValue, free_addresses_from_the_middle},
      {"ReserveAnOddSize", kInvalidValue, reserve_an_odd_size},
      {"ReserveNothing", kInvalidValue, reserve_nothing},
      {"CreateAnOddSize", kInvalidValue, create_an_odd_size},
      {"CreateOnAnUnknownDevice", kInvalidDevice, create_on_an_unknown_device},
      {"CreateMoreThanThereIs", kOutOfMemory, create_more_than_there_is},
      {"ReleaseAHandleTwice", kInvalidValue, release_a_handle_twice},
      {"AccessToNothing", kInvalidValue, access_to_nothing},
      {"AccessToTwoMappings", kSuccess, access_to_two_mappings},
      {"AccessBeyondTheMapping", kInvalidValue, access_beyond_the_mapping},
      {"AccessToHalfAMapping", kInvalidValue, access_to_half_a_mapping},
      {"MemoryStaysUntilItIsUnmapped", kSuccess, memory_stays_until_it_is_unmapped},
      {"CopyIntoAMapping", kSuccess, copy_into_a_mapping},
      {"AllocateNothing", kInvalidValue, allocate_nothing},
      {"AllocateMoreThanThereIs", kOutOfMemory, allocate_more_than_there_is},
      {"FreeTwice", kInvalidValue, free_twice},
      {"FreeTheMiddle", kInvalidValue, free_the_middle},
      {"FreeNull", kSuccess, free_null},
      {"FreeAMapping", kInvalidValue, free_a_mapping},
      {"AllocateWithoutAContext", kInvalidContext, allocate_without_a_context},
      {"AskForMemoryWithoutAContext", kInvalidContext, ask_for_memory_without_a_context},
      {"ReserveWithoutAContext", kSuccess, reserve_without_a_context},
      {"MakeAnEventWithoutAContext", kInvalidContext, make_an_event_without_a_context},
      {"PopWithoutAContext", kInvalidContext, pop_without_a_context},
      {"QueryAnEventNeverRecorded", kSuccess, query_an_event_never_recorded},
      {"GetAnUnknownDevice", kInvalidDevice, get_an_unknown_device},
      {"AllocateDuringACapture", kStreamCaptureUnsupported, allocate_during_a_capture},
      {"EndADisturbedCapture", kStreamCaptureInvalidated, end_a_disturbed_capture},
      {"AllocateRelaxedDuringACapture", kSuccess, allocate_relaxed_during_a_capture},
      {"AskACapturingStream", kSuccess, ask_a_capturing_stream},
      {"AskTheDefaultStreamBesideACapture", kSuccess, ask_the_default_stream_beside_a_capture},
      {"AskTheDefaultStreamThatACaptureExcludes", kStreamCaptureImplicit,
       ask_the_default_stream_that_a_capture_excludes},
      {"CopyIntoAReservation", kInvalidValue, copy_into_a_reservation},
      {"CopyWithoutAccess", kInvalidValue, copy_without_access},
      {"AccessIsGoneAfterANewMap", kInvalidValue, access_is_gone_after_a_new_map},
  };
  return cases;
}

std::string run_case(const CudaCase& test, CudaWorkbench& bench) {
  bench.api.cuCtxPushCurrent(bench.context);
  const Result result = test.run(bench);
  cuda::Context popped = nullptr;
  bench.api.cuCtxPopCurrent(&popped);
  if (result == test.expected) return "";
  return "answers " + std::to_string(result) + ", expected " + std::to_string(test.expected);
}

}  // namespace ebb::conformance
