// SPDX-License-Identifier: Apache-2.0
#include "cache/program.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "cache/core.h"
#include "cache/model.h"
#include "cache/stats_keys.h"
#include "device/sim_driver.h"

namespace ebb::cache {
namespace {

constexpr const char* kSettings[] = {
    "",
    "expandable_segments:True",
    "max_split_size_mb:21",
    "max_split_size_mb:64",
    "expandable_segments:True,max_split_size_mb:64",
    "garbage_collection_threshold:0.3",
    "garbage_collection_threshold:0.7,max_split_size_mb:100",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:1",
    "roundup_power2_divisions:[1:4,4:8,16:0,32:1,64:2,>:16]",
    "max_split_size_mb:32,max_non_split_rounding_mb:100",
    "large_segment_size_mb:32,expandable_segments:True",
    "large_segment_size_mb:50,max_split_size_mb:60,garbage_collection_threshold:0.5",
    "per_process_memory_fraction:0.5,expandable_segments:True",
    "throw_on_cudamalloc_oom:True",
};

device::SimOptions sim_options(std::uint64_t memory, std::uint64_t model) {
  device::SimOptions options;
  options.total_memory = memory;
  options.events = device::Completion::by_hand;
  switch (model) {
    case 0:
      options.addresses = device::AddressModel::ascending();
      break;
    case 1:
      options.addresses = device::AddressModel::descending();
      break;
    case 2:
      options.addresses = device::AddressModel::first_fit();
      break;
    default:
      options.addresses = device::AddressModel::like_cuda();
      break;
  }
  return options;
}

std::string text_of(const TraceEntry& e) {
  return base::format_text(
      "%s %llu %llu stream %llu pool %llu.%llu", name_of(e.action),
      static_cast<unsigned long long>(e.address), static_cast<unsigned long long>(e.size),
      static_cast<unsigned long long>(e.stream), static_cast<unsigned long long>(e.pool.first),
      static_cast<unsigned long long>(e.pool.second));
}

std::string text_of(const std::vector<SnapshotSegment>& segments) {
  std::string text;
  for (const SnapshotSegment& s : segments) {
    text += base::format_text(
        "\n[%llu+%llu stream %llu %s pool %llu.%llu%s]", static_cast<unsigned long long>(s.address),
        static_cast<unsigned long long>(s.total_size), static_cast<unsigned long long>(s.stream),
        s.small ? "small" : "large", static_cast<unsigned long long>(s.pool.first),
        static_cast<unsigned long long>(s.pool.second), s.expandable ? " expandable" : "");
    for (const SnapshotBlock& b : s.blocks) {
      text +=
          base::format_text(" %llu+%llu(%llu)%s", static_cast<unsigned long long>(b.address),
                            static_cast<unsigned long long>(b.size),
                            static_cast<unsigned long long>(b.requested_size), name_of(b.state));
    }
  }
  return text;
}

class Collector final : public TraceSink {
 public:
  void on_entry(const TraceEntry& entry) override { entries.push_back(entry); }
  std::vector<TraceEntry> entries;
};

class Program {
 public:
  Program(ByteSource source, bool log_steps) : source_(source), log_steps_(log_steps) {}

  std::optional<std::string> run();

 private:
  struct MemPool {
    PoolId id;
    bool entered = false;
  };

  void set_up();
  void step();
  void allocate();
  void pool_step();
  void fault_step();
  std::uint64_t random_size();
  StreamId random_stream() { return source_.below(3) * 16; }
  void compare();
  template <class A, class B>
  void expect_equal(const char* what, const A& ours, const B& models) {
    if (difference_ || ours == models) return;
    difference_ = std::string(what) + ": " + std::to_string(ours) + ", the model has " +
                  std::to_string(models);
  }
  [[gnu::format(printf, 2, 3)]] void log(const char* format, ...);

  ByteSource source_;
  bool log_steps_;
  std::string steps_;
  std::optional<std::string> difference_;
  VersionProfile profile_;
  Settings settings_;
  std::unique_ptr<device::SimDriver> core_driver_;
  std::unique_ptr<device::SimDriver> model_driver_;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Model> model_;
  Collector collector_;
  std::size_t compared_ = 0;
  std::vector<MemPool> pools_;
};

void Program::log(const char* format, ...) {
  if (!log_steps_) return;
  va_list arguments;
  va_start(arguments, format);
  steps_ += base::format_text_v(format, arguments) + "\n";
  va_end(arguments);
}

void Program::set_up() {
  profile_ = *profile_of(static_cast<int>(1 + source_.below(15)));
  const auto parsed = parse_settings(kSettings[source_.below(std::size(kSettings))], profile_);
  if (parsed) settings_ = *parsed;
  const std::uint64_t memory = (256 + source_.below(8) * 256) * base::kMiB;
  const std::uint64_t addresses = source_.below(4);
  core_driver_ = std::make_unique<device::SimDriver>(sim_options(memory, addresses));
  model_driver_ = std::make_unique<device::SimDriver>(sim_options(memory, addresses));
  CoreOptions options;
  options.profile = profile_;
  options.settings = settings_;
  options.unix_time_us = [] { return std::int64_t{0}; };
  core_ = std::move(*Core::create(*core_driver_, 0, options));
  core_->set_trace_sink(&collector_);
  model_ = std::make_unique<Model>(*model_driver_, profile_, settings_);
  log("PyTorch 2.%d, \"%s\", %llu MiB, addresses %llu", profile_.minor, settings_.text.c_str(),
      static_cast<unsigned long long>(memory / base::kMiB),
      static_cast<unsigned long long>(addresses));
}

std::uint64_t Program::random_size() {
  // Sizes that come again and again, so that many blocks compete.
  constexpr std::uint64_t kUsual[] = {512,
                                      1024,
                                      1536,
                                      4096,
                                      base::kMiB,
                                      2 * base::kMiB,
                                      9 * base::kMiB,
                                      10 * base::kMiB,
                                      12 * base::kMiB,
                                      20 * base::kMiB,
                                      21 * base::kMiB,
                                      40 * base::kMiB};
  switch (source_.below(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return kUsual[source_.below(std::size(kUsual))];
    case 4:
      return 1 + source_.below(8192);
    case 5:
      return 1 + source_.below(base::kMiB);
    case 6:
      return base::kMiB + source_.below(10 * base::kMiB);
    case 7:
      return (10 + source_.below(40)) * base::kMiB;
    case 8:
      return (20 + source_.below(300)) * base::kMiB + source_.below(4096);
    default:
      return source_.below(4) == 0 ? kAbsurdSize - source_.below(3) : 512 * source_.below(5000);
  }
}

void Program::allocate() {
  const std::uint64_t bytes = random_size();
  const StreamId stream = random_stream();
  const Address ours = core_->allocate(bytes, stream);
  const Address models = model_->allocate(bytes, stream);
  log("allocate %llu on %llu: %llu", static_cast<unsigned long long>(bytes),
      static_cast<unsigned long long>(stream), static_cast<unsigned long long>(ours));
  expect_equal("address", ours, models);
  if (ours == 0) {
    expect_equal("kind of failure", static_cast<int>(core_->last_failure().kind),
                 static_cast<int>(model_->last_failure()));
  }
}

void Program::pool_step() {
  const std::uint64_t choice = source_.below(3);
  if (pools_.size() < 3 && choice == 0) {
    const PoolId id = core_->next_pool_id(false);
    const bool no_split = source_.below(4) == 0;
    const bool use_on_oom = profile_.minor >= 8 && source_.below(2) == 0;
    log("make pool %llu", static_cast<unsigned long long>(id.second));
    static_cast<void>(core_->retain_pool(id, {nullptr, use_on_oom, no_split}));
    model_->make_pool(id, no_split, use_on_oom);
    pools_.push_back({id, false});
  }
  if (pools_.empty()) return;
  MemPool& pool = pools_[source_.below(pools_.size())];
  if (pool.entered) {
    log("leave pool %llu", static_cast<unsigned long long>(pool.id.second));
    static_cast<void>(core_->end_scope(pool.id));
    static_cast<void>(core_->release_pool(pool.id));
    model_->leave_pool(pool.id);
    pool.entered = false;
  } else if (choice != 2) {
    log("enter pool %llu", static_cast<unsigned long long>(pool.id.second));
    static_cast<void>(core_->begin_scope(pool.id, [](StreamId) { return true; }));
    model_->enter_pool(pool.id);
    pool.entered = true;
  } else {
    log("destroy pool %llu", static_cast<unsigned long long>(pool.id.second));
    core_->set_use_on_oom(pool.id, false);
    static_cast<void>(core_->release_pool(pool.id));
    static_cast<void>(core_->empty_pool(pool.id));
    model_->destroy_pool(pool.id);
    pools_.erase(pools_.begin() + (&pool - pools_.data()));
  }
}

void Program::fault_step() {
  if (source_.below(3) == 0) {
    log("no more faults");
    core_driver_->clear_faults();
    model_driver_->clear_faults();
    return;
  }
  device::Fault fault;
  const std::uint64_t call = source_.below(device::kCallKinds);
  fault.call = static_cast<device::Call>(call);
  fault.after = source_.below(4);
  fault.times = 1 + source_.below(3);
  fault.code = source_.below(2) == 0 ? base::Code::out_of_memory : base::Code::io;
  log("fault in %s after %llu, %llu times", name_of(*fault.call),
      static_cast<unsigned long long>(fault.after), static_cast<unsigned long long>(fault.times));
  core_driver_->inject(fault);
  model_driver_->inject(fault);
}

void Program::step() {
  const std::uint64_t choice = source_.below(64);
  const std::vector<Address> live = model_->handed_out();
  const auto any_live = [&] { return live[source_.below(live.size())]; };
  if (choice < 28) {
    allocate();
  } else if (choice < 46) {
    if (live.empty()) return;
    const Address address = any_live();
    log("free %llu", static_cast<unsigned long long>(address));
    expect_equal("free", core_->free(address), model_->free(address));
  } else if (choice < 50) {
    if (live.empty()) return;
    const Address address = any_live();
    const StreamId stream = random_stream();
    log("record stream %llu at %llu", static_cast<unsigned long long>(stream),
        static_cast<unsigned long long>(address));
    expect_equal("record_stream", core_->record_stream(address, stream),
                 model_->record_stream(address, stream));
  } else if (choice < 53) {
    const StreamId stream = random_stream();
    log("stream %llu is done", static_cast<unsigned long long>(stream));
    core_driver_->complete_stream(0, stream);
    model_driver_->complete_stream(0, stream);
  } else if (choice < 55) {
    log("empty cache");
    expect_equal("empty_cache", core_->empty_cache().has_value(), model_->empty_cache());
  } else if (choice < 59) {
    pool_step();
  } else if (choice < 60) {
    const double fraction = static_cast<double>(source_.below(11)) / 10;
    log("fraction %g", fraction);
    static_cast<void>(core_->set_memory_fraction(fraction));
    model_->set_fraction(fraction);
  } else if (choice < 61) {
    const auto parsed =
        parse_settings(kSettings[source_.below(std::size(kSettings))], profile_, core_->settings());
    if (!parsed) return;
    log("settings \"%s\"", parsed->text.c_str());
    core_->apply(*parsed);
    model_->apply(*parsed);
  } else if (choice < 62) {
    fault_step();
  } else if (choice < 63) {
    const StreamId stream = random_stream();
    const bool on = source_.below(2) == 0;
    log("capture on %llu: %d", static_cast<unsigned long long>(stream), on);
    core_driver_->set_capturing(0, stream, on);
    model_driver_->set_capturing(0, stream, on);
  } else {
    log("reset");
    core_->reset_peaks();
    model_->reset_peaks();
    if (source_.below(2) == 0) {
      core_->reset_sums();
      model_->reset_sums();
    }
  }
}

void Program::compare() {
  if (difference_) return;
  core_->check_invariants();
  const std::vector<TraceEntry>& theirs = model_->trace();
  for (; compared_ < std::min(collector_.entries.size(), theirs.size()); ++compared_) {
    const TraceEntry& a = collector_.entries[compared_];
    const TraceEntry& b = theirs[compared_];
    if (a.action == b.action && a.address == b.address && a.size == b.size &&
        a.stream == b.stream && a.pool == b.pool) {
      continue;
    }
    difference_ = "history: " + text_of(a) + ", the model has " + text_of(b);
    return;
  }
  expect_equal("length of history", collector_.entries.size(), theirs.size());
  const std::vector<std::int64_t> values = stats_values(core_->stats(), profile_);
  const std::vector<std::int64_t> model_values = model_->stats();
  expect_equal("number of statistics", values.size(), model_values.size());
  for (std::size_t i = 0; i < values.size() && !difference_; ++i) {
    expect_equal(stats_keys(profile_)[i].c_str(), values[i], model_values[i]);
  }
  const std::vector<SnapshotSegment> ours = segments_of(*core_);
  const std::vector<SnapshotSegment> models = model_->segments();
  if (difference_ || ours == models) return;
  difference_ = "blocks:" + text_of(ours) + "\nthe model has" + text_of(models);
}

std::optional<std::string> Program::run() {
  set_up();
  while (!source_.empty() && !difference_) {
    step();
    compare();
  }
  if (difference_ && log_steps_) *difference_ = steps_ + *difference_;
  return difference_;
}

}  // namespace

std::optional<std::string> first_difference(ByteSource source, bool log_steps) {
  return Program(source, log_steps).run();
}

}  // namespace ebb::cache
