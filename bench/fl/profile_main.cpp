// SPDX-License-Identifier: Apache-2.0
// Where the time of a round goes on a card: trainings of some clients side by side and evaluations
// of 10,000 pictures, timed, and then two of one or the other with PyTorch's profiler, whose trace
// bench/gpu/kernels.py adds up.
//
//   fl-profile MODEL CLIENTS SAMPLES BATCH TRACE.json [cuda|native [training|evaluation]]
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>

#include "base/clock.h"
#include "fl/aggregate/update_sum.h"
#include "fl/torch/backend.h"
#include "fl/torch/card_kernels.h"
#include "fl/torch/torch_trainer.h"

namespace {

using namespace ebb;
namespace profiler = torch::autograd::profiler;
namespace settings = torch::profiler::impl;

constexpr int kTimed = 10;
constexpr int kProfiled = 2;
constexpr std::uint32_t kEvaluated = 10000;

double now() {
  return static_cast<double>(base::system_clock().now_ns()) * 1e-9;
}

int failed(const base::Error& error) {
  std::fprintf(stderr, "fl-profile: %s\n", error.message.c_str());
  return 1;
}

struct Setting {
  std::string model;
  std::uint32_t clients;
  std::uint32_t samples;
  std::uint32_t batch;
  bool profiles_evaluation;
};

/// One round at a time, with the sums of its updates.
class Rounds {
 public:
  static base::Result<std::unique_ptr<Rounds>> of(const Setting& setting, fl::Backend backend) {
    fl::SyntheticOptions options;
    options.picture =
        setting.model == "cnn-mnist" ? plan::Picture{1, 28, 28} : plan::Picture{3, 32, 32};
    options.train = setting.clients * setting.samples;
    options.test = kEvaluated;
    auto data = fl::synthetic_data_set(options);
    if (!data) return data.error();
    const auto network = plan::network_named(setting.model, options.picture, 10);
    if (!network) return network.error();
    auto trainer = fl::TorchTrainer::create(*network, *data, backend, {.clients = setting.clients});
    if (!trainer) return trainer.error();
    return std::unique_ptr<Rounds>(new Rounds(setting, *data, std::move(*trainer)));
  }

  base::Status run() {
    const double start = now();
    return trainer_->train_together(
        weights_, tasks_,
        [&](std::span<const fl::LocalResult>, fl::UpdateGroup& updates) -> base::Status {
          training = now() - start;
          const std::vector<fl::UpdateSum::Share> shares(updates.size(), {1, 1});
          const auto added = sum_.add(updates, shares);
          sums = now() - start - training;
          return added;
        },
        nullptr);
  }

  base::Status evaluate() {
    const double start = now();
    const auto found = trainer_->evaluate(0, weights_, data_->test, tested_);
    evaluation = now() - start;
    return found ? base::Status() : base::Status(found.error());
  }

  double training = 0;  ///< seconds of the last round
  double sums = 0;
  double evaluation = 0;

 private:
  Rounds(const Setting& setting, std::shared_ptr<const fl::DataSet> data,
         std::unique_ptr<fl::TorchTrainer> trainer)
      : data_(std::move(data)),
        trainer_(std::move(trainer)),
        weights_(trainer_->parameters()),
        sum_(trainer_->parameters(), 1e6),
        order_(setting.clients * setting.samples),
        tested_(kEvaluated) {
    trainer_->initialise(42, weights_);
    std::iota(order_.begin(), order_.end(), 0U);
    std::iota(tested_.begin(), tested_.end(), 0U);
    for (std::uint32_t client = 0; client < setting.clients; ++client) {
      fl::LocalTask task;
      task.client = client;
      task.batch = setting.batch;
      task.order = std::span(order_).subspan(client * setting.samples, setting.samples);
      tasks_.push_back(task);
    }
  }

  const std::shared_ptr<const fl::DataSet> data_;
  const std::unique_ptr<fl::TorchTrainer> trainer_;
  std::vector<float> weights_;
  fl::UpdateSum sum_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> tested_;
  std::vector<fl::LocalTask> tasks_;
};

base::Status measure(const Setting& setting, const std::string& trace, fl::Backend backend) {
  auto rounds = Rounds::of(setting, backend);
  if (!rounds) return rounds.error();
  std::vector<double> training;
  std::vector<double> sums;
  std::vector<double> evaluation;
  for (int i = -2; i < kTimed; ++i) {
    if (auto done = (*rounds)->run(); !done) return done;
    if (auto done = (*rounds)->evaluate(); !done) return done;
    if (i < 0) continue;
    training.push_back((*rounds)->training);
    sums.push_back((*rounds)->sums);
    evaluation.push_back((*rounds)->evaluation);
  }
  for (auto* seconds : {&training, &sums, &evaluation})
    std::sort(seconds->begin(), seconds->end());
  const bool has_kernels =
      backend == fl::Backend::cuda && fl::CardKernels::of(at::Device(at::kCUDA, 0));
  std::printf(
      "%s, %u clients, %u samples, batch %u%s: training %.5f s, sums %.5f s, evaluation %.5f s\n",
      setting.model.c_str(), setting.clients, setting.samples, setting.batch,
      has_kernels ? "" : ", no kernels of Ebb's", training[kTimed / 2], sums[kTimed / 2],
      evaluation[kTimed / 2]);
  if (trace == "-") return {};
  const settings::ProfilerConfig config(settings::ProfilerState::KINETO);
  std::set<settings::ActivityType> kinds = {settings::ActivityType::CPU};
  if (backend == fl::Backend::cuda) kinds.insert(settings::ActivityType::CUDA);
  profiler::prepareProfiler(config, kinds);
  profiler::enableProfiler(config, kinds);
  base::Status done;
  for (int i = 0; i < kProfiled && done; ++i)
    done = setting.profiles_evaluation ? (*rounds)->evaluate() : (*rounds)->run();
  profiler::disableProfiler()->save(trace);
  return done;
}

}  // namespace

int main(int count, char** words) {
  const std::string profiled = count > 7 ? words[7] : "training";
  if (count < 6 || (profiled != "training" && profiled != "evaluation")) {
    std::fprintf(stderr,
                 "usage: fl-profile MODEL CLIENTS SAMPLES BATCH TRACE.json [BACKEND "
                 "[training|evaluation]]\n");
    return 2;
  }
  const auto backend = fl::backend_from(count > 6 ? words[6] : "cuda");
  if (!backend) {
    std::fprintf(stderr, "fl-profile: %s\n", backend.error().message.c_str());
    return 2;
  }
  const auto number = [&](int at) { return static_cast<std::uint32_t>(std::atoi(words[at])); };
  try {
    const auto done = measure({words[1], number(2), number(3), number(4), profiled == "evaluation"},
                              words[5], *backend);
    return done ? 0 : failed(done.error());
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "fl-profile: %s\n", thrown.what());
    return 1;
  }
}
