// SPDX-License-Identifier: Apache-2.0
#include "serve/plans.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "base/plain_text.h"
#include "base/text.h"

namespace ebb::serve {
namespace {

// Pages go first.
constexpr int kPlanNice = 10;

Answer answer_of(const MadePlan& plan, Plans::View view) {
  if (view == Plans::View::page) return html_of(plan.page);
  return json_answer(view == Plans::View::json ? plan.json : plan.page.json);
}

Answer refusal_of(const PlanForm& form, Plans::View view, int status, const std::string& message) {
  const std::string line = base::plain_line(message);
  return view == Plans::View::page ? html_of(failed_plan(form, line), status)
                                   : refusal(status, line);
}

}  // namespace

Plans::~Plans() {
  const base::Lock lock(mutex_);
  ends_ = true;
  changed_.notify_all();
}

Answer Plans::answer(View view, const std::string& query) {
  const auto form = PlanForm::read(query);
  if (!form) return refusal(400, base::plain_line(form.error().message));
  const auto request = form->request();
  if (!request) return refusal_of(*form, view, 400, request.error().message);
  if (const Made kept = find(form->query())) return answer_of(*kept, view);
  Answer answer;
  answer.later = [this, job = Job{*form, *request, view}](Reply reply, Waits waits) mutable {
    job.reply = std::move(reply);
    job.waits = std::move(waits);
    take(std::move(job));
  };
  return answer;
}

void Plans::take(Job job) {
  const base::Lock lock(mutex_);
  std::erase_if(waiting_, [](const Job& other) { return !other.waits(); });
  if (waiting_.size() >= kMostWaiting) {
    return job.reply(refusal(
        503, base::format_text("%zu plans wait to be made: try again in a moment", kMostWaiting)));
  }
  if (const auto started = workers_.start(kMostAtATime, [this] { work(); }); !started)
    return job.reply(refusal(503, started.error().message));
  waiting_.push_back(std::move(job));
  changed_.notify_all();
}

void Plans::work() {
  ::setpriority(PRIO_PROCESS, 0, kPlanNice);  // of this thread alone
  while (true) {
    std::optional<Job> job;
    {
      const base::Lock lock(mutex_);
      while (!ends_ && waiting_.empty())
        changed_.wait(mutex_);
      if (ends_) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (!job->waits()) continue;
    try {
      job->reply(made(*job));
    } catch (const std::exception&) {
      // Out of memory: who waits hears that there is no answer once the job is gone.
    }
  }
}

Answer Plans::made(const Job& job) {
  const std::string query = job.form.query();
  if (const Made kept = find(query)) return answer_of(*kept, job.view);  // another has asked, too
  const std::int64_t begun_ns = clock_->now_ns();
  auto plan = make_plan(job.form, job.request, [&] { return is_to_stop(job, begun_ns); });
  if (plan) {
    const auto made = std::make_shared<const MadePlan>(*std::move(plan));
    keep(query, made);
    return answer_of(*made, job.view);
  }
  if (plan.error().code != base::Code::unavailable)
    return refusal_of(job.form, job.view, 400, plan.error().message);
  return refusal_of(job.form, job.view, 422,
                    base::format_text("this takes more than %.0f seconds; a shell has the time: %s",
                                      kMostSeconds, job.form.command().c_str()));
}

bool Plans::is_to_stop(const Job& job, std::int64_t begun_ns) {
  if (!job.waits() || base::seconds_between(begun_ns, clock_->now_ns()) > kMostSeconds) return true;
  const base::Lock lock(mutex_);
  return ends_;
}

Plans::Made Plans::find(const std::string& query) {
  const base::Lock lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const auto& kept) { return kept.first == query; });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return found->second;
}

void Plans::keep(const std::string& query, Made made) {
  const base::Lock lock(mutex_);
  for (const auto& [kept, answer] : kept_)
    if (kept == query) return;  // two who asked at once
  kept_.emplace_front(query, std::move(made));
  if (kept_.size() > kMostKept) kept_.pop_back();
}

}  // namespace ebb::serve
