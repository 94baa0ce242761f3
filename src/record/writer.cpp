// SPDX-License-Identifier: Apache-2.0
#include "record/writer.h"

#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/signals_blocked.h"
#include "base/text.h"
#include "record/backlog.h"
#include "record/run_file.h"

namespace ebb::record {
namespace {

constexpr double kWriteEverySeconds = 1;
constexpr double kRetryAtEndSeconds = 0.1;
constexpr double kLongestWait = 5;

double now() {
  return base::seconds_between(0, base::system_clock().now_ns());
}

}  // namespace

/// The thread with what it shares. All of SQLite happens on it.
class Writer::Thread : public std::enable_shared_from_this<Writer::Thread> {
 public:
  Thread(std::string path, Run run, const FileBounds& bounds)
      : path_(std::move(path)), run_(std::move(run)), bounds_(bounds) {}

  base::Status start() {
    try {
      const base::SignalsBlocked blocked;
      std::thread([self = shared_from_this()] { self->work(); }).detach();
    } catch (const std::exception& failure) {
      return base::error(base::Code::unavailable, "%s: no thread to write it: %s", path_.c_str(),
                         failure.what());
    }
    const double deadline = now() + kLongestWait;
    const base::Lock lock(mutex_);
    while (!begun_ && !over_ && now() < deadline)
      changed_.wait_for(mutex_, deadline - now());
    if (begun_) return {};
    stop_at_ = 0;
    changed_.notify_all();
    if (refusal_) return *refusal_;
    return base::error(base::Code::unavailable, "%s: opening it takes too long", path_.c_str());
  }

  template <class Add>
  void add(Add&& add_to) {
    const base::Lock lock(mutex_);
    if (stop_at_ || over_) return;
    const bool was_empty = backlog_.size() == 0;
    add_to(backlog_);
    if (was_empty) changed_.notify_all();
  }

  std::string take_trouble() {
    const base::Lock lock(mutex_);
    return std::exchange(trouble_, {});
  }

  void end(const std::optional<Run>& run) {
    const base::Lock lock(mutex_);
    if (!stop_at_) {
      stop_at_ = now() + kLongestWait;
      last_words_ = run;
      changed_.notify_all();
    }
    while (!over_ && now() < *stop_at_)
      changed_.wait_for(mutex_, *stop_at_ - now());
  }

  std::int64_t run_id() const { return run_id_; }

 private:
  void work() {
    try {
      record();
    } catch (const std::exception& failure) {
      // Out of memory: the recording is over, whoever started it is not.
      const base::Lock lock(mutex_);
      over_ = true;
      changed_.notify_all();
      try {
        trouble_ = "not recorded any more: " + path_ + ": " + failure.what();
      } catch (const std::bad_alloc&) {  // nobody is told
      }
    }
  }

  void record() {
    // The file is closed before anybody is told: whoever waits may look at it next.
    write_file();
    const base::Lock lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }

  void write_file() {
    auto file = RunFile::begin(path_, run_, bounds_);
    {
      const base::Lock lock(mutex_);
      if (!file) {
        refusal_ = file.error();
        return;
      }
      run_id_ = file->run_id();
      begun_ = true;
      changed_.notify_all();
    }
    while (write_next(*file)) {
    }
  }

  /// Waits until something is to be written and writes it. False when all is over.
  bool write_next(RunFile& file) {
    Batch batch;
    std::optional<Run> ending;
    {
      const base::Lock lock(mutex_);
      while (!stop_at_ && (backlog_.size() == 0 || now() < next_write_)) {
        if (backlog_.size() == 0) {
          changed_.wait(mutex_);
        } else {
          changed_.wait_for(mutex_, next_write_ - now());
        }
      }
      if (stop_at_ && now() >= *stop_at_) return false;
      batch = backlog_.take();
      ending = last_words_;
    }
    next_write_ = now() + kWriteEverySeconds;
    const std::uint64_t lost = batch.lost;
    base::Status done = batch.size() > 0 || batch.lost > 0 ? file.write(batch) : base::Status{};
    if (done) batch = {};
    if (done && ending) done = file.finish(*ending);
    const base::Lock lock(mutex_);
    run_id_ = file.run_id();
    tell(done, lost);
    if (!done) backlog_.put_back(std::move(batch));
    if (!stop_at_) return true;
    // The end may have come while the last batch was written: then it is yet to be written itself.
    const bool is_all = backlog_.size() == 0 && ending.has_value() == last_words_.has_value();
    if (done && is_all) return false;
    if (!done) changed_.wait_for(mutex_, kRetryAtEndSeconds);
    return true;
  }

  void tell(const base::Status& done, std::uint64_t lost) EBB_REQUIRES(mutex_) {
    if (!done && !failing_) trouble_ = "not recorded for now: " + done.error().message;
    if (done && lost > 0) {
      trouble_ = base::format_text("recorded again; %llu samples were lost",
                                   static_cast<unsigned long long>(lost));
    }
    failing_ = !done;
  }

  const std::string path_;
  const Run run_;
  const FileBounds bounds_;
  std::atomic<std::int64_t> run_id_{0};
  double next_write_ = 0;  ///< the thread's own

  base::Mutex mutex_;
  base::Condition changed_;
  Backlog backlog_ EBB_GUARDED_BY(mutex_);
  bool begun_ EBB_GUARDED_BY(mutex_) = false;
  bool over_ EBB_GUARDED_BY(mutex_) = false;
  std::optional<base::Error> refusal_ EBB_GUARDED_BY(mutex_);
  std::optional<double> stop_at_ EBB_GUARDED_BY(mutex_);  ///< set: no more is added
  std::optional<Run> last_words_ EBB_GUARDED_BY(mutex_);
  std::string trouble_ EBB_GUARDED_BY(mutex_);
  bool failing_ EBB_GUARDED_BY(mutex_) = false;
};

base::Result<std::unique_ptr<Writer>> Writer::begin(const std::string& path, const Run& run,
                                                    const FileBounds& bounds) {
  auto thread = std::make_shared<Thread>(path, run, bounds);
  if (const auto started = thread->start(); !started) return started.error();
  return std::unique_ptr<Writer>(new Writer(std::move(thread)));
}

Writer::Writer(std::shared_ptr<Thread> thread) : thread_(std::move(thread)) {}

Writer::~Writer() {
  thread_->end(std::nullopt);
}

std::int64_t Writer::run_id() const {
  return thread_->run_id();
}

void Writer::add(Process process) {
  thread_->add([&](Backlog& backlog) { backlog.add(std::move(process)); });
}
void Writer::add(Sample sample) {
  thread_->add([&](Backlog& backlog) { backlog.add(sample); });
}
void Writer::add(PlaceSample place) {
  thread_->add([&](Backlog& backlog) { backlog.add(place); });
}
void Writer::add(Round round) {
  thread_->add([&](Backlog& backlog) { backlog.add(round); });
}
void Writer::add(Action action) {
  thread_->add([&](Backlog& backlog) { backlog.add(action); });
}
void Writer::add(Event event) {
  thread_->add([&](Backlog& backlog) { backlog.add(std::move(event)); });
}
void Writer::add(Sampling sampling) {
  thread_->add([&](Backlog& backlog) { backlog.add(sampling); });
}

void Writer::add(Site site) {
  thread_->add([&](Backlog& backlog) { backlog.add(site); });
}

void Writer::add(SiteName name) {
  thread_->add([&](Backlog& backlog) { backlog.add(std::move(name)); });
}

void Writer::add(Simulation simulation) {
  thread_->add([&](Backlog& backlog) { backlog.add(std::move(simulation)); });
}

void Writer::add(SimulatedRound round) {
  thread_->add([&](Backlog& backlog) { backlog.add(std::move(round)); });
}

void Writer::add(Beside beside) {
  thread_->add([&](Backlog& backlog) { backlog.add(std::move(beside)); });
}

void Writer::add(DeviceSample device) {
  thread_->add([&](Backlog& backlog) { backlog.add(device); });
}

void Writer::add(Mapped mapped) {
  thread_->add([&](Backlog& backlog) { backlog.add(mapped); });
}

void Writer::process_ended(ProcessKey process, double seconds) {
  thread_->add([&](Backlog& backlog) { backlog.add_end(process, seconds); });
}

std::string Writer::take_trouble() {
  return thread_->take_trouble();
}

void Writer::end(const Run& run) {
  thread_->end(run);
}

}  // namespace ebb::record
