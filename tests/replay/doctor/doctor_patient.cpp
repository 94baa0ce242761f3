// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/doctor_patient.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cache/snapshot_pickle.h"
#include "replay/doctor/certificate_checker.h"
#include "replay/doctor/certificate_replay.h"
#include "trace/snapshot_reader.h"

namespace ebb::replay {
namespace {

/// Time goes on by ten microseconds whenever somebody looks.
std::int64_t g_now_us = 1'700'000'000'000'000;
std::int64_t now_us() {
  return g_now_us += 10;
}

device::SimOptions by_hand(device::SimOptions options) {
  options.events = device::Completion::by_hand;
  return options;
}

}  // namespace

Patient::Patient(PatientOptions options) : driver_(by_hand(options.device)) {
  cache::CoreOptions core_options;
  core_options.profile = *cache::profile_of(options.minor);
  const auto settings = cache::parse_settings(options.conf, core_options.profile);
  EXPECT_TRUE(settings) << settings.error().message;
  core_options.settings = *settings;
  core_options.unix_time_us = now_us;
  for (int device = 0; device < driver_.device_count(); ++device) {
    auto core = cache::Core::create(driver_, device, core_options);
    EXPECT_TRUE(core) << core.error().message;
    cores_.push_back(std::move(*core));
    cores_.back()->record_history({});
    if (options.limit == 0) continue;
    const auto total = static_cast<double>(cores_.back()->info().total_memory);
    // Half a byte more, so that neither truncation nor rounding loses one.
    const double share = (static_cast<double>(options.limit) + 0.5) / total;
    EXPECT_TRUE(cores_.back()->set_memory_fraction(share));
  }
}

Address Patient::take(std::uint64_t bytes, StreamId stream) {
  const Address address = core().allocate(bytes, stream);
  EXPECT_NE(address, 0U) << bytes << " bytes were to be served";
  return address;
}

std::vector<Address> Patient::take_all(std::size_t count, std::uint64_t bytes) {
  std::vector<Address> addresses;
  for (std::size_t i = 0; i < count; ++i) {
    addresses.push_back(take(bytes));
  }
  return addresses;
}

void Patient::refuse(std::uint64_t bytes, StreamId stream) {
  EXPECT_EQ(core().allocate(bytes, stream), 0U) << bytes << " bytes were to be refused";
}

void Patient::give(Address address) {
  EXPECT_TRUE(core().free(address));
}

void Patient::give_all(const std::vector<Address>& addresses) {
  for (const Address address : addresses) {
    give(address);
  }
}

void Patient::share(Address address, StreamId stream) {
  EXPECT_TRUE(core().record_stream(address, stream));
}

cache::PoolId Patient::enter_pool(bool of_graph) {
  const cache::PoolId pool = core().next_pool_id(of_graph);
  EXPECT_TRUE(core().begin_scope(pool, [](StreamId) { return true; }));
  return pool;
}

void Patient::leave_pool(cache::PoolId pool) {
  EXPECT_TRUE(core().end_scope(pool));
}

void Patient::annotate(const std::string& name, bool start) {
  annotations_.push_back({name, start, 0, now_us()});
}

std::string Patient::pickle() {
  cache::Snapshot taken;
  taken.profile = core().profile();
  taken.settings = core().settings();
  for (const auto& core : cores_) {
    cache::add_device(taken, *core);
  }
  taken.annotations = annotations_;
  return cache::pickle_of(taken);
}

trace::Snapshot Patient::snapshot() {
  auto read = trace::parse_snapshot(pickle(), "patient");
  EXPECT_TRUE(read) << read.error().message;
  return std::move(*read);
}

SnapshotDiagnosis examine(const trace::Snapshot& snapshot, std::optional<std::uint64_t> limit,
                          int device, std::optional<std::uint64_t> card) {
  const auto workload = workload_of(snapshot, {device, limit});
  EXPECT_TRUE(workload) << workload.error().message;
  Circumstances circumstances;
  circumstances.limit = limit;
  circumstances.card = card;
  auto diagnosis = diagnose(snapshot, device, *workload, circumstances);
  EXPECT_TRUE(diagnosis) << diagnosis.error().message;
  EXPECT_EQ(why_rejected(snapshot, device, diagnosis->evidence), "");
  EXPECT_EQ(why_not_replayed(snapshot, device, limit, diagnosis->evidence), "");
  if (diagnosis->fixed && diagnosis->fix.kind != fact::FixKind::none) {
    EXPECT_FALSE(diagnosis->fixed->outcome.oom) << diagnosis->fix.text;
  }
  return std::move(*diagnosis);
}

bool has_also(const SnapshotDiagnosis& diagnosis, Verdict verdict) {
  return std::find(diagnosis.also.begin(), diagnosis.also.end(), verdict) != diagnosis.also.end();
}

void healthy_step(Patient& patient) {
  std::vector<Address> held;
  for (std::uint64_t i = 0; i < 10; ++i) {
    held.push_back(patient.take(2 * kMiB * (11 + i)));
  }
  patient.give_all(held);
}

}  // namespace ebb::replay
