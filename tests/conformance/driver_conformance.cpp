// SPDX-License-Identifier: Apache-2.0
#include "conformance/driver_conformance.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <thread>

#include "base/bytes.h"

namespace ebb::conformance {

using base::Code;
using base::kMiB;
using device::Address;
using device::Driver;
using device::EventId;
using device::StreamId;

bool Findings::expect(bool holds, const char* format, ...) {
  if (holds) return true;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  all_.emplace_back(text);
  return false;
}

bool Findings::fails_with(const base::Error& error, Code code, const char* what) {
  const bool one_line = !error.message.empty() && error.message.find('\n') == std::string::npos;
  return expect(error.code == code && one_line, "%s gives %s \"%s\", expected %s and one line",
                what, base::name_of(error.code), error.message.c_str(), base::name_of(code));
}

namespace {

using Needs = DriverCheck::Needs;

std::uint64_t free_memory(Driver& driver, int device) {
  const auto memory = driver.memory(device);
  return memory ? memory->free : 0;
}

std::uint64_t granularity(Driver& driver, int device = 0) {
  const auto info = driver.info(device);
  return info ? info->granularity : 0;
}

std::vector<unsigned char> pattern(std::uint64_t bytes, unsigned seed) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<unsigned char>((i * 31 + i / 251 + seed) & 0xff);
  }
  return data;
}

void expect_holds(const DriverTraits& traits, Findings& findings, Address address,
                  const std::vector<unsigned char>& expected, const char* what) {
  std::vector<unsigned char> found(expected.size());
  if (!findings.expect(traits.read(0, address, found), "%s cannot be read", what)) return;
  findings.expect(found == expected, "%s does not hold what was written", what);
}

/// A reservation that gives itself back, with every page a check may have left mapped.
class Reserved {
 public:
  Reserved(Driver& driver, Findings& findings, std::uint64_t pages, int device = 0)
      : driver_(driver), device_(device), granule_(granularity(driver, device)) {
    bytes_ = pages * granule_;
    const auto address = driver.reserve(device, bytes_);
    if (findings.succeeds(address, "reserve")) address_ = *address;
  }
  ~Reserved() {
    if (address_ == 0) return;
    for (std::uint64_t offset = 0; offset < bytes_; offset += granule_) {
      (void)driver_.unmap(device_, address_ + offset, granule_, 1);
    }
    (void)driver_.unreserve(device_, address_, bytes_);
  }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;

  explicit operator bool() const { return address_ != 0; }
  Address page(std::uint64_t index) const { return address_ + index * granule_; }
  std::uint64_t granule() const { return granule_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Driver& driver_;
  int device_;
  std::uint64_t granule_;
  std::uint64_t bytes_ = 0;
  Address address_ = 0;
};

void devices_describe_themselves(Driver& driver, const DriverTraits&, Findings& findings) {
  findings.expect(driver.kind() != nullptr && *driver.kind() != '\0', "no kind");
  findings.expect(driver.device_count() >= 1, "%d devices", driver.device_count());
  for (int device = 0; device < driver.device_count(); ++device) {
    const auto info = driver.info(device);
    if (!findings.succeeds(info, "info")) continue;
    findings.expect(!info->name.empty(), "device %d has no name", device);
    findings.expect(info->total_memory > 0, "device %d has no memory", device);
    const std::uint64_t granule = info->granularity;
    findings.expect(info->virtual_memory == (granule != 0), "granularity %" PRIu64, granule);
    findings.expect((granule & (granule - 1)) == 0 || granule == 0, "granularity %" PRIu64,
                    granule);
    const auto memory = driver.memory(device);
    if (!findings.succeeds(memory, "memory")) continue;
    findings.expect(memory->free <= memory->total && memory->total > 0,
                    "%" PRIu64 " of %" PRIu64 " free", memory->free, memory->total);
  }
}

void unknown_devices_are_refused(Driver& driver, const DriverTraits&, Findings& findings) {
  for (const int device : {-1, driver.device_count()}) {
    findings.fails(driver.info(device), Code::bad_input, "info");
    findings.fails(driver.memory(device), Code::bad_input, "memory");
    findings.fails(driver.allocate(device, kMiB), Code::bad_input, "allocate");
    findings.fails(driver.release(device, 4096, kMiB), Code::bad_input, "release");
    findings.fails(driver.reserve(device, 2 * kMiB), Code::bad_input, "reserve");
    findings.fails(driver.unreserve(device, 4096, 2 * kMiB), Code::bad_input, "unreserve");
    findings.fails(driver.map(device, 4096, 2 * kMiB, 1), Code::bad_input, "map");
    findings.fails(driver.unmap(device, 4096, 2 * kMiB, 1), Code::bad_input, "unmap");
    findings.fails(driver.record_event(device, 0), Code::bad_input, "record_event");
    findings.fails(driver.event_done(device, 1), Code::bad_input, "event_done");
    findings.fails(driver.wait_event(device, 1), Code::bad_input, "wait_event");
    findings.fails(driver.destroy_event(device, 1), Code::bad_input, "destroy_event");
    findings.fails(driver.synchronize_stream(device, 0), Code::bad_input, "synchronize_stream");
    findings.fails(driver.synchronize(device), Code::bad_input, "synchronize");
    findings.fails(driver.is_capturing(device, 0), Code::bad_input, "is_capturing");
  }
}

void segments_are_aligned_and_apart(Driver& driver, const DriverTraits&, Findings& findings) {
  struct Segment {
    Address start;
    std::uint64_t bytes;
  };
  std::vector<Segment> segments;
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{512}, kMiB, 2 * kMiB,
                                    2 * kMiB + 512, 20 * kMiB, 2 * kMiB}) {
    const auto address = driver.allocate(0, bytes);
    if (!findings.succeeds(address, "allocate")) continue;
    findings.expect(*address != 0 && *address % 512 == 0, "a segment at 0x%" PRIx64, *address);
    for (const Segment& other : segments) {
      findings.expect(*address + bytes <= other.start || other.start + other.bytes <= *address,
                      "segments at 0x%" PRIx64 " and 0x%" PRIx64 " overlap", *address, other.start);
    }
    segments.push_back({*address, bytes});
  }
  for (const Segment& segment : segments) {
    findings.succeeds(driver.release(0, segment.start, segment.bytes), "release");
  }
}

void segments_and_pages_count_against_free_memory(Driver& driver, const DriverTraits&,
                                                  Findings& findings) {
  const std::uint64_t before = free_memory(driver, 0);
  const auto segment = driver.allocate(0, 4 * kMiB);
  if (!findings.succeeds(segment, "allocate")) return;
  findings.expect(free_memory(driver, 0) == before - 4 * kMiB, "a segment is not counted");
  {
    const Reserved range(driver, findings, 8);
    if (!range) return;
    findings.expect(free_memory(driver, 0) == before - 4 * kMiB, "a reservation is counted");
    findings.succeeds(driver.map(0, range.page(1), range.granule(), 3), "map");
    findings.expect(free_memory(driver, 0) == before - 4 * kMiB - 3 * range.granule(),
                    "pages are not counted");
    findings.succeeds(driver.unmap(0, range.page(2), range.granule(), 1), "unmap");
    findings.expect(free_memory(driver, 0) == before - 4 * kMiB - 2 * range.granule(),
                    "an unmapped page is counted");
  }
  findings.succeeds(driver.release(0, *segment, 4 * kMiB), "release");
  findings.expect(free_memory(driver, 0) == before, "something is left behind");
}

void release_takes_only_whole_segments(Driver& driver, const DriverTraits&, Findings& findings) {
  const auto segment = driver.allocate(0, 4 * kMiB);
  if (!findings.succeeds(segment, "allocate")) return;
  findings.fails(driver.release(0, *segment + 2 * kMiB, 2 * kMiB), Code::bad_input,
                 "release of a half");
  findings.fails(driver.release(0, *segment, 2 * kMiB), Code::bad_input,
                 "release with another size");
  findings.fails(driver.unreserve(0, *segment, 4 * kMiB), Code::bad_input,
                 "unreserve of a segment");
  findings.succeeds(driver.release(0, *segment, 4 * kMiB), "release");
  findings.fails(driver.release(0, *segment, 4 * kMiB), Code::bad_input, "a second release");
  findings.fails(driver.release(0, 0, 4 * kMiB), Code::bad_input, "release of address 0");
}

void empty_sizes_are_refused(Driver& driver, const DriverTraits&, Findings& findings) {
  findings.fails(driver.allocate(0, 0), Code::bad_input, "allocate of 0 bytes");
  findings.fails(driver.reserve(0, 0), Code::bad_input, "reserve of 0 bytes");
  const Reserved range(driver, findings, 4);
  if (!range) return;
  findings.fails(driver.map(0, range.page(0), range.granule(), 0), Code::bad_input,
                 "map of 0 pages");
  findings.fails(driver.map(0, range.page(0), 0, 1), Code::bad_input, "map of a page of 0 bytes");
  findings.fails(driver.unmap(0, range.page(0), range.granule(), 0), Code::bad_input,
                 "unmap of 0 pages");
}

void a_full_device_is_a_value(Driver& driver, const DriverTraits&, Findings& findings) {
  const auto info = driver.info(0);
  if (!findings.succeeds(info, "info")) return;
  for (const std::uint64_t bytes : {info->total_memory + 2 * kMiB, 2 * info->total_memory}) {
    findings.fails(driver.allocate(0, bytes), Code::out_of_memory, "allocate of too much");
  }
  const auto segment = driver.allocate(0, 2 * kMiB);
  if (!findings.succeeds(segment, "allocate after that")) return;
  findings.succeeds(driver.release(0, *segment, 2 * kMiB), "release");
}

void reservations_are_address_space_only(Driver& driver, const DriverTraits&, Findings& findings) {
  const auto info = driver.info(0);
  if (!findings.succeeds(info, "info")) return;
  const std::uint64_t granule = info->granularity;
  const std::uint64_t more_than_there_is =
      (info->total_memory + info->total_memory / 8) / granule * granule;
  const auto first = driver.reserve(0, more_than_there_is);
  const auto second = driver.reserve(0, more_than_there_is);
  if (findings.succeeds(first, "reserve") && findings.succeeds(second, "a second reserve")) {
    findings.expect(*first % granule == 0, "a reservation at 0x%" PRIx64, *first);
    findings.expect(
        *first + more_than_there_is <= *second || *second + more_than_there_is <= *first,
        "reservations at 0x%" PRIx64 " and 0x%" PRIx64 " overlap", *first, *second);
  }
  findings.fails(driver.reserve(0, granule + 512), Code::bad_input, "reserve of an odd size");
  if (first) {
    findings.fails(driver.unreserve(0, *first, granule), Code::bad_input, "unreserve of a part");
    findings.fails(driver.unreserve(0, *first + granule, more_than_there_is - granule),
                   Code::bad_input, "unreserve of the end");
    findings.succeeds(driver.unreserve(0, *first, more_than_there_is), "unreserve");
    findings.fails(driver.unreserve(0, *first, more_than_there_is), Code::bad_input,
                   "a second unreserve");
  }
  if (second) findings.succeeds(driver.unreserve(0, *second, more_than_there_is), "unreserve");
}

void pages_of_different_sizes_come_and_go(Driver& driver, const DriverTraits&, Findings& findings) {
  const Reserved range(driver, findings, 16);
  if (!range) return;
  const std::uint64_t granule = range.granule();
  findings.succeeds(driver.map(0, range.page(0), granule, 4), "map of small pages");
  findings.succeeds(driver.map(0, range.page(5), 3 * granule, 2), "map of large pages");
  findings.succeeds(driver.map(0, range.page(4), granule, 1), "map of the page between");
  findings.succeeds(driver.unmap(0, range.page(1), granule, 2), "unmap of small pages");
  findings.succeeds(driver.unmap(0, range.page(8), 3 * granule, 1), "unmap of a large page");
  findings.succeeds(driver.map(0, range.page(1), 2 * granule, 1), "map where pages were");
  findings.succeeds(driver.unmap(0, range.page(1), 2 * granule, 1), "unmap");
  findings.succeeds(driver.unmap(0, range.page(5), 3 * granule, 1), "unmap");
  findings.succeeds(driver.unmap(0, range.page(0), granule, 1), "unmap");
  findings.succeeds(driver.unmap(0, range.page(3), granule, 2), "unmap over two maps");
}

void mapped_pages_cannot_be_mapped_again(Driver& driver, const DriverTraits&, Findings& findings) {
  const Reserved range(driver, findings, 8);
  if (!range) return;
  const std::uint64_t granule = range.granule();
  if (!findings.succeeds(driver.map(0, range.page(2), granule, 2), "map")) return;
  findings.fails(driver.map(0, range.page(2), granule, 2), Code::bad_input, "the same map");
  findings.fails(driver.map(0, range.page(1), granule, 2), Code::bad_input, "map over the start");
  findings.fails(driver.map(0, range.page(3), granule, 2), Code::bad_input, "map over the end");
  findings.fails(driver.map(0, range.page(0), 8 * granule, 1), Code::bad_input, "map around");
  findings.succeeds(driver.map(0, range.page(1), granule, 1), "map before");
  findings.succeeds(driver.map(0, range.page(4), granule, 1), "map behind");
  findings.succeeds(driver.unmap(0, range.page(1), granule, 4), "unmap");
}

void unmap_takes_only_mapped_pages(Driver& driver, const DriverTraits&, Findings& findings) {
  const Reserved range(driver, findings, 8);
  if (!range) return;
  const std::uint64_t granule = range.granule();
  findings.fails(driver.unmap(0, range.page(0), granule, 1), Code::bad_input, "unmap of nothing");
  if (!findings.succeeds(driver.map(0, range.page(0), granule, 2), "map")) return;
  if (!findings.succeeds(driver.map(0, range.page(4), 2 * granule, 1), "map")) return;
  findings.fails(driver.unmap(0, range.page(0), granule, 3), Code::bad_input,
                 "unmap beyond the mapped");
  findings.fails(driver.unmap(0, range.page(4), granule, 1), Code::bad_input,
                 "unmap of half a page");
  findings.fails(driver.unmap(0, range.page(4), granule, 2), Code::bad_input, "unmap in halves");
  findings.fails(driver.unmap(0, range.page(0), 2 * granule, 1), Code::bad_input,
                 "unmap of two pages as one");
  findings.succeeds(driver.unmap(0, range.page(4), 2 * granule, 1), "unmap");
  findings.succeeds(driver.unmap(0, range.page(0), granule, 2), "unmap of what stayed mapped");
  findings.fails(driver.unmap(0, range.page(0), granule, 1), Code::bad_input, "a second unmap");
}

void pages_stay_inside_one_reservation(Driver& driver, const DriverTraits&, Findings& findings) {
  const Reserved range(driver, findings, 4);
  if (!range) return;
  const std::uint64_t granule = range.granule();
  findings.fails(driver.map(0, range.page(3), granule, 2), Code::bad_input, "map over the end");
  findings.fails(driver.map(0, range.page(0) - granule, granule, 1), Code::bad_input,
                 "map before the start");
  findings.fails(driver.map(0, range.page(0), granule, UINT64_MAX / granule), Code::bad_input,
                 "map of all there is");
  findings.fails(driver.map(0, range.page(0), granule, UINT64_MAX), Code::bad_input,
                 "map with a size that does not fit 64 bits");
  findings.fails(driver.map(0, range.page(0) + 4096, granule, 1), Code::bad_input,
                 "map off the granularity");
  findings.fails(driver.map(0, range.page(0), granule / 2, 2), Code::bad_input,
                 "map of half granules");
  const auto segment = driver.allocate(0, 4 * granule);
  if (!findings.succeeds(segment, "allocate")) return;
  findings.fails(driver.map(0, *segment, granule, 1), Code::bad_input, "map into a segment");
  findings.succeeds(driver.release(0, *segment, 4 * granule), "release");
}

void a_reservation_in_use_stays(Driver& driver, const DriverTraits&, Findings& findings) {
  const Reserved range(driver, findings, 4);
  if (!range) return;
  if (!findings.succeeds(driver.map(0, range.page(1), range.granule(), 1), "map")) return;
  findings.fails(driver.unreserve(0, range.page(0), range.bytes()), Code::bad_input,
                 "unreserve with a page mapped");
  findings.succeeds(driver.unmap(0, range.page(1), range.granule(), 1), "unmap");
}

void mapping_is_all_or_nothing(Driver& driver, const DriverTraits& traits, Findings& findings) {
  const auto info = driver.info(0);
  if (!findings.succeeds(info, "info")) return;
  // Large pages: on a real card each of them takes the driver time.
  const std::uint64_t granule = info->granularity;
  const std::uint64_t page = (info->total_memory / 8 / granule + 1) * granule;
  const auto range = driver.reserve(0, 9 * page);
  if (!findings.succeeds(range, "reserve")) return;
  const std::uint64_t before = free_memory(driver, 0);
  findings.fails(driver.map(0, *range, page, 9), Code::out_of_memory, "map of too much");
  if (traits.exact_memory) {
    findings.expect(free_memory(driver, 0) == before, "a failed map keeps memory");
  }
  findings.fails(driver.unmap(0, *range, page, 1), Code::bad_input,
                 "unmap of what a failed map left");
  findings.succeeds(driver.map(0, *range, page, 2), "map of less");
  findings.succeeds(driver.unmap(0, *range, page, 2), "unmap");
  findings.succeeds(driver.unreserve(0, *range, 9 * page), "unreserve");
}

void segments_hold_what_is_written(Driver& driver, const DriverTraits& traits, Findings& findings) {
  const auto first = driver.allocate(0, 2 * kMiB);
  const auto second = driver.allocate(0, 3 * kMiB + 512);
  if (findings.succeeds(first, "allocate") && findings.succeeds(second, "allocate")) {
    const auto one = pattern(2 * kMiB, 1);
    const auto two = pattern(3 * kMiB + 512, 2);
    findings.expect(traits.write(0, *first, one), "a segment cannot be written");
    findings.expect(traits.write(0, *second, two), "a segment cannot be written");
    expect_holds(traits, findings, *first, one, "a segment");
    expect_holds(traits, findings, *second, two, "a segment of odd size");
  }
  if (first) findings.succeeds(driver.release(0, *first, 2 * kMiB), "release");
  if (second) findings.succeeds(driver.release(0, *second, 3 * kMiB + 512), "release");
}

void pages_hold_what_is_written(Driver& driver, const DriverTraits& traits, Findings& findings) {
  const Reserved range(driver, findings, 8);
  if (!range) return;
  const std::uint64_t granule = range.granule();
  if (!findings.succeeds(driver.map(0, range.page(1), granule, 3), "map")) return;
  const auto data = pattern(3 * granule, 3);
  findings.expect(traits.write(0, range.page(1), data), "pages cannot be written as one range");
  expect_holds(traits, findings, range.page(1), data, "a range of pages");

  if (!findings.succeeds(driver.unmap(0, range.page(2), granule, 1), "unmap")) return;
  const std::vector<unsigned char> head(data.begin(),
                                        data.begin() + static_cast<std::ptrdiff_t>(granule));
  const std::vector<unsigned char> tail(data.end() - static_cast<std::ptrdiff_t>(granule),
                                        data.end());
  expect_holds(traits, findings, range.page(1), head, "the page before the unmapped one");
  expect_holds(traits, findings, range.page(3), tail, "the page behind the unmapped one");

  findings.fails(driver.map(0, range.page(2), granule, 2), Code::bad_input, "map over a page");
  expect_holds(traits, findings, range.page(3), tail, "a page after a refused map");

  if (!findings.succeeds(driver.map(0, range.page(2), granule, 1), "map again")) return;
  const auto fresh = pattern(granule, 4);
  findings.expect(traits.write(0, range.page(2), fresh), "a page mapped again cannot be written");
  expect_holds(traits, findings, range.page(2), fresh, "a page mapped again");
  expect_holds(traits, findings, range.page(1), head, "its neighbour");
  findings.succeeds(driver.unmap(0, range.page(1), granule, 3), "unmap");
}

void waited_events_are_done(Driver& driver, const DriverTraits& traits, Findings& findings) {
  for (const StreamId stream : traits.streams) {
    const auto event = driver.record_event(0, stream);
    if (!findings.succeeds(event, "record_event")) continue;
    findings.expect(*event != 0, "event 0");
    findings.succeeds(driver.wait_event(0, *event), "wait_event");
    const auto done = driver.event_done(0, *event);
    if (findings.succeeds(done, "event_done")) findings.expect(*done, "waited for, but not done");
    findings.succeeds(driver.destroy_event(0, *event), "destroy_event");
    findings.fails(driver.event_done(0, *event), Code::bad_input, "event_done of a destroyed one");
    findings.fails(driver.wait_event(0, *event), Code::bad_input, "wait_event of a destroyed one");
    findings.fails(driver.destroy_event(0, *event), Code::bad_input, "a second destroy_event");
  }
  findings.fails(driver.event_done(0, 0), Code::bad_input, "event_done of event 0");
}

void synchronizing_finishes_events(Driver& driver, const DriverTraits& traits, Findings& findings) {
  for (const bool whole_device : {false, true}) {
    std::vector<EventId> events;
    for (const StreamId stream : traits.streams) {
      const auto event = driver.record_event(0, stream);
      if (findings.succeeds(event, "record_event")) events.push_back(*event);
      if (!whole_device) {
        findings.succeeds(driver.synchronize_stream(0, stream), "synchronize_stream");
      }
    }
    if (whole_device) findings.succeeds(driver.synchronize(0), "synchronize");
    for (const EventId event : events) {
      findings.expect(driver.event_done(0, event).value_or(false), "an event is not done after %s",
                      whole_device ? "synchronize" : "synchronize_stream");
      findings.succeeds(driver.destroy_event(0, event), "destroy_event");
    }
  }
}

void events_are_not_done_before_their_work(Driver& driver, const DriverTraits& traits,
                                           Findings& findings) {
  const StreamId stream = traits.streams.back();
  traits.hold(0, stream);
  const auto first = driver.record_event(0, stream);
  const auto second = driver.record_event(0, stream);
  const auto done_early = first ? driver.event_done(0, *first) : base::Result<bool>(true);
  traits.let_go(0, stream);
  if (!findings.succeeds(first, "record_event") || !findings.succeeds(second, "record_event")) {
    return;
  }
  if (findings.succeeds(done_early, "event_done")) {
    findings.expect(!*done_early, "done before its work");
  }
  findings.expect(*first != *second, "two events are one");
  findings.succeeds(driver.wait_event(0, *second), "wait_event");
  findings.expect(driver.event_done(0, *first).value_or(false),
                  "a later event of the stream is done, the earlier one is not");
  findings.succeeds(driver.destroy_event(0, *first), "destroy_event");
  findings.succeeds(driver.destroy_event(0, *second), "destroy_event");
}

void unfinished_events_can_be_destroyed(Driver& driver, const DriverTraits& traits,
                                        Findings& findings) {
  const StreamId stream = traits.streams.back();
  traits.hold(0, stream);
  const auto event = driver.record_event(0, stream);
  if (findings.succeeds(event, "record_event")) {
    findings.succeeds(driver.destroy_event(0, *event), "destroy_event of an unfinished one");
  }
  traits.let_go(0, stream);
}

void streams_are_not_capturing(Driver& driver, const DriverTraits& traits, Findings& findings) {
  for (const StreamId stream : traits.streams) {
    const auto capturing = driver.is_capturing(0, stream);
    if (findings.succeeds(capturing, "is_capturing")) findings.expect(!*capturing, "capturing");
  }
}

void devices_do_not_mix(Driver& driver, const DriverTraits& traits, Findings& findings) {
  const std::uint64_t before = free_memory(driver, 0);
  const auto segment = driver.allocate(1, 2 * kMiB);
  if (findings.succeeds(segment, "allocate on device 1")) {
    if (traits.exact_memory) {
      findings.expect(free_memory(driver, 0) == before, "device 0 pays for device 1");
    }
    findings.fails(driver.release(0, *segment, 2 * kMiB), Code::bad_input,
                   "release on another device");
    findings.succeeds(driver.release(1, *segment, 2 * kMiB), "release");
  }
  const auto event = driver.record_event(1, 0);
  if (findings.succeeds(event, "record_event")) {
    findings.fails(driver.wait_event(0, *event), Code::bad_input, "wait_event on another device");
    findings.succeeds(driver.destroy_event(1, *event), "destroy_event");
  }
  const Reserved range(driver, findings, 4, 1);
  if (!range) return;
  findings.fails(driver.map(0, range.page(0), range.granule(), 1), Code::bad_input,
                 "map on another device");
}

void threads_share_a_driver(Driver& driver, const DriverTraits& traits, Findings& findings) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 25;
  const std::uint64_t before = free_memory(driver, 0);
  std::vector<Findings> found(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    Findings& mine = found[static_cast<std::size_t>(i)];
    threads.emplace_back([&driver, &traits, &mine] {
      const Reserved range(driver, mine, 8);
      if (!range) return;
      for (int round = 0; round < kRounds; ++round) {
        const auto segment = driver.allocate(0, 2 * kMiB);
        mine.succeeds(segment, "allocate");
        mine.succeeds(driver.map(0, range.page(2), range.granule(), 3), "map");
        mine.succeeds(driver.memory(0), "memory");
        const auto event = driver.record_event(0, traits.streams.back());
        if (mine.succeeds(event, "record_event")) {
          mine.succeeds(driver.event_done(0, *event), "event_done");
          mine.succeeds(driver.wait_event(0, *event), "wait_event");
          mine.succeeds(driver.destroy_event(0, *event), "destroy_event");
        }
        mine.succeeds(driver.unmap(0, range.page(2), range.granule(), 3), "unmap");
        if (segment) mine.succeeds(driver.release(0, *segment, 2 * kMiB), "release");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Findings& mine : found) {
    for (const std::string& text : mine.all()) {
      findings.expect(false, "%s", text.c_str());
    }
  }
  if (traits.exact_memory) {
    findings.expect(free_memory(driver, 0) == before, "threads leave memory behind");
  }
}

}  // namespace

bool DriverCheck::applies_to(const Driver& driver, const DriverTraits& traits) const {
  switch (needs) {
    case Needs::nothing:
      return true;
    case Needs::memory:
      return traits.write && traits.read;
    case Needs::two_devices:
      return driver.device_count() >= 2;
    case Needs::exact_memory:
      return traits.exact_memory;
    case Needs::holding:
      return traits.hold && traits.let_go;
  }
  return false;
}

const std::vector<DriverCheck>& driver_checks() {
  static const std::vector<DriverCheck> checks = {
      {"DevicesDescribeThemselves", Needs::nothing, devices_describe_themselves},
      {"UnknownDevicesAreRefused", Needs::nothing, unknown_devices_are_refused},
      {"SegmentsAreAlignedAndApart", Needs::nothing, segments_are_aligned_and_apart},
      {"SegmentsAndPagesCountAgainstFreeMemory", Needs::exact_memory,
       segments_and_pages_count_against_free_memory},
      {"ReleaseTakesOnlyWholeSegments", Needs::nothing, release_takes_only_whole_segments},
      {"EmptySizesAreRefused", Needs::nothing, empty_sizes_are_refused},
      {"AFullDeviceIsAValue", Needs::nothing, a_full_device_is_a_value},
      {"ReservationsAreAddressSpaceOnly", Needs::nothing, reservations_are_address_space_only},
      {"PagesOfDifferentSizesComeAndGo", Needs::nothing, pages_of_different_sizes_come_and_go},
      {"MappedPagesCannotBeMappedAgain", Needs::nothing, mapped_pages_cannot_be_mapped_again},
      {"UnmapTakesOnlyMappedPages", Needs::nothing, unmap_takes_only_mapped_pages},
      {"PagesStayInsideOneReservation", Needs::nothing, pages_stay_inside_one_reservation},
      {"AReservationInUseStays", Needs::nothing, a_reservation_in_use_stays},
      {"MappingIsAllOrNothing", Needs::nothing, mapping_is_all_or_nothing},
      {"SegmentsHoldWhatIsWritten", Needs::memory, segments_hold_what_is_written},
      {"PagesHoldWhatIsWritten", Needs::memory, pages_hold_what_is_written},
      {"WaitedEventsAreDone", Needs::nothing, waited_events_are_done},
      {"SynchronizingFinishesEvents", Needs::nothing, synchronizing_finishes_events},
      {"EventsAreNotDoneBeforeTheirWork", Needs::holding, events_are_not_done_before_their_work},
      {"UnfinishedEventsCanBeDestroyed", Needs::holding, unfinished_events_can_be_destroyed},
      {"StreamsAreNotCapturing", Needs::nothing, streams_are_not_capturing},
      {"DevicesDoNotMix", Needs::two_devices, devices_do_not_mix},
      {"ThreadsShareADriver", Needs::nothing, threads_share_a_driver},
  };
  return checks;
}

std::vector<std::string> run_check(const DriverCheck& check, Driver& driver,
                                   const DriverTraits& traits) {
  Findings findings;
  check.run(driver, traits, findings);
  return findings.all();
}

}  // namespace ebb::conformance
