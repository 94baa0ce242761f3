// SPDX-License-Identifier: Apache-2.0
#include "cache/truth_replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cache/snapshot_pickle.h"
#include "cache/stats_keys.h"
#include "support/temporary_directory.h"

namespace ebb::cache::truth {
namespace {

device::SimOptions sim_options(const Log& log) {
  device::SimOptions options;
  options.total_memory = log.total;
  return options;
}

std::string text_of(const TraceEntry& entry) {
  return std::string(name_of(entry.action)) + " at " +
         (entry.action == Action::oom ? "-" : std::to_string(entry.address)) + ", " +
         std::to_string(entry.size) + " bytes, stream " + std::to_string(entry.stream);
}

bool is_release(const TraceEntry& entry) {
  return entry.action == Action::segment_free || entry.action == Action::segment_unmap;
}

/// The order in which several private pools give their memory back is PyTorch's hash order: the
/// releases of one burst are compared by address where pools are involved.
void sort_bursts(std::vector<TraceEntry>& trace) {
  for (auto at = trace.begin(); at != trace.end();) {
    auto end = std::find_if_not(at, trace.end(), is_release);
    std::sort(at, end,
              [](const TraceEntry& a, const TraceEntry& b) { return a.address < b.address; });
    at = end == trace.end() ? end : end + 1;
  }
}

bool has_pools(const Log& log) {
  return std::any_of(log.operations.begin(), log.operations.end(),
                     [](const Operation& op) { return op.kind == Operation::Kind::pool_begin; });
}

}  // namespace

Replay::Replay(const Log& log) : log_(log), driver_(sim_options(log)) {
  driver_.script_addresses(0, log.addresses);
  CoreOptions options;
  options.completions = this;
  options.profile = *profile_of(11);
  auto settings = parse_settings(log.settings, options.profile);
  EXPECT_TRUE(settings) << settings.error().message;
  options.settings = *settings;
  auto core = Core::create(driver_, 0, options);
  EXPECT_TRUE(core) << core.error().message;
  core_ = std::move(*core);
  EXPECT_TRUE(core_->set_memory_fraction(log.fraction));
  core_->record_history({});
  expected_.assign(log.keys.size(), 0);
  const std::vector<std::string>& names = stats_keys(options.profile);
  for (const std::string& key : log.keys) {
    const auto found = std::find(names.begin(), names.end(), key);
    EXPECT_NE(found, names.end()) << key;
    places_.push_back(static_cast<std::size_t>(found - names.begin()));
  }
}

std::optional<Address> Replay::next_completed(bool waiting) {
  if (current_ == nullptr || current_->completed_by_waiting != waiting) return std::nullopt;
  if (completed_ == current_->completed.size()) return std::nullopt;
  return current_->completed[completed_++];
}

void Replay::run() {
  for (std::size_t i = 0; i < log_.operations.size(); ++i) {
    const Operation& op = log_.operations[i];
    current_ = &op;
    completed_ = 0;
    perform(op);
    EXPECT_EQ(completed_, op.completed.size()) << "frees completed";
    expect_same_counters(op);
    if (i % 64 == 0) core_->check_invariants();
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "first difference at operation " << i;
      return;
    }
  }
  EXPECT_EQ(driver_.scripted_addresses_left(0), 0U);
}

void Replay::perform(const Operation& op) {
  using Kind = Operation::Kind;
  switch (op.kind) {
    case Kind::allocate:
      EXPECT_EQ(core_->allocate(op.bytes, op.stream), op.address) << op.bytes;
      break;
    case Kind::free:
      for (const StreamId stream : op.streams) {
        EXPECT_TRUE(core_->record_stream(op.address, stream));
      }
      EXPECT_TRUE(core_->free(op.address)) << op.address;
      break;
    case Kind::empty_cache:
      EXPECT_TRUE(core_->empty_cache());
      break;
    case Kind::synchronize:
      break;
    case Kind::pool_begin: {
      PrivatePoolOptions options;
      options.no_split = op.no_split;
      EXPECT_TRUE(core_->retain_pool(op.pool, options));
      EXPECT_TRUE(core_->begin_scope(op.pool, [](StreamId) { return true; }));
      scopes_.push_back(op.pool);
      break;
    }
    case Kind::pool_end:
      EXPECT_TRUE(core_->end_scope(scopes_.back()));
      EXPECT_TRUE(core_->release_pool(scopes_.back()));
      scopes_.pop_back();
      break;
    case Kind::pool_destroy:
      EXPECT_TRUE(core_->release_pool(op.pool));
      EXPECT_TRUE(core_->empty_pool(op.pool));
      break;
  }
}

void Replay::expect_same_counters(const Operation& op) {
  for (const auto& [index, value] : op.counters) {
    expected_[index] = value;
  }
  if (expected_.empty()) return;
  const std::vector<std::int64_t> values = stats_values(core_->stats(), core_->profile());
  for (std::size_t i = 0; i < expected_.size(); ++i) {
    EXPECT_EQ(values[places_[i]], expected_[i]) << log_.keys[i];
  }
}

void Replay::expect_same_stats() {
  const StatsTable stats =
      memory_stats(core_->stats(), core_->private_reserved(), core_->profile());
  EXPECT_EQ(stats.size(), log_.final_stats.size());
  for (const auto& [name, value] : stats) {
    ASSERT_TRUE(log_.final_stats.count(name)) << name;
    EXPECT_EQ(value, log_.final_stats.at(name)) << name;
  }
}

void Replay::expect_same_trace() {
  std::vector<TraceEntry> ours = core_->history();
  std::vector<TraceEntry> theirs = log_.trace;
  if (has_pools(log_)) {
    sort_bursts(ours);
    sort_bursts(theirs);
  }
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(text_of(ours[i]), text_of(theirs[i])) << "entry " << i;
  }
}

void Replay::expect_same_segments() {
  const std::vector<SnapshotSegment> ours = segments_of(*core_);
  ASSERT_EQ(ours.size(), log_.segments.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const SnapshotSegment& a = ours[i];
    const SnapshotSegment& b = log_.segments[i];
    SCOPED_TRACE("segment " + std::to_string(i));
    EXPECT_EQ(a.address, b.address);
    EXPECT_EQ(a.total_size, b.total_size);
    EXPECT_EQ(a.allocated_size, b.allocated_size);
    EXPECT_EQ(a.active_size, b.active_size);
    EXPECT_EQ(a.requested_size, b.requested_size);
    EXPECT_EQ(a.stream, b.stream);
    EXPECT_EQ(a.small, b.small);
    EXPECT_EQ(a.pool, b.pool);
    EXPECT_EQ(a.expandable, b.expandable);
    ASSERT_EQ(a.blocks.size(), b.blocks.size());
    for (std::size_t j = 0; j < a.blocks.size(); ++j) {
      EXPECT_EQ(a.blocks[j].address, b.blocks[j].address);
      EXPECT_EQ(a.blocks[j].size, b.blocks[j].size);
      EXPECT_EQ(a.blocks[j].requested_size, b.blocks[j].requested_size);
      EXPECT_STREQ(name_of(a.blocks[j].state), name_of(b.blocks[j].state));
    }
  }
}

void Replay::expect_same_events() {
  std::vector<SegmentEvent> ours;
  std::uint64_t requests = 0;
  for (const TraceEntry& entry : core_->history()) {
    if (entry.action == Action::alloc || entry.action == Action::free_requested) ++requests;
    const std::string action = name_of(entry.action);
    if (action == "oom" || action.rfind("segment", 0) == 0) {
      ours.push_back({requests, action, entry.size});
    }
  }
  EXPECT_EQ(ours.size(), log_.events.size());
  EXPECT_TRUE(ours == log_.events);
}

void Replay::expect_same_message() {
  if (log_.message.empty()) return;
  const std::string ours =
      message_of(core_->last_failure(), core_->profile(), core_->settings().expandable_segments);
  // Between these two stand the device's free bytes and other processes, which no trace holds.
  const std::string head_end = " of which ";
  const std::string tail_start = " allowed; ";
  const auto head = [&](const std::string& text) { return text.substr(0, text.find(head_end)); };
  const auto tail = [&](const std::string& text) {
    const std::size_t at = text.find(tail_start);
    return text.substr(text.rfind(' ', text.rfind(' ', at - 1) - 1));
  };
  EXPECT_EQ(head(ours), head(log_.message));
  EXPECT_EQ(tail(ours), tail(log_.message));
}

void Replay::expect_same_pickle(const std::string& path) {
  const support::TemporaryDirectory directory;
  const std::string ours = directory / "ours.pickle";
  Snapshot snapshot;
  add_device(snapshot, *core_);
  ASSERT_TRUE(dump_snapshot(snapshot, ours));
  const std::string command =
      std::string(EBB_PYTHON) + " " + EBB_TRUTH_TOOL + " same '" + ours + "' '" + path + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace ebb::cache::truth
