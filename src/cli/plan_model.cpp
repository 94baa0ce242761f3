// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/plan_options.h"
#include "sense/gpu.h"
#include "sense/memory_info.h"
#include "show/plan_view.h"

namespace ebb::cli {
namespace {

using base::Code;

struct ModelOptions : plan::NetworkOptions, OutputOptions {
  std::optional<std::string> parallel_clients;
  std::string where = "auto";
};

struct Place {
  const char* name = "";
  std::uint64_t available = 0;
};

base::Result<Place> host_place() {
  const auto memory = sense::memory_info();
  if (!memory) return memory.error();
  const double used = std::min(memory->percent, 100.0) / 100;
  const auto left = static_cast<std::uint64_t>(static_cast<double>(memory->limit) * (1 - used));
  return Place{"host", std::min(left, memory->machine.available)};
}

base::Result<Place> gpu_place() {
  const auto meter = sense::GpuMeter::open();
  if (!meter) return meter.error();
  const auto gpus = meter->read();
  if (!gpus) return gpus.error();
  std::optional<std::uint64_t> most;
  for (const sense::GpuReading& gpu : *gpus)
    if (gpu.free && (!most || *gpu.free > *most)) most = gpu.free;
  if (!most) return base::error(Code::unavailable, "no GPU tells how much memory it has left");
  return Place{"gpu", *most};
}

/// Where clients would train: as told, or on a GPU where there is one.
base::Result<Place> place_of(const ModelOptions& options, std::optional<std::uint64_t> cap) {
  if (options.where != "auto" && options.where != "gpu" && options.where != "host")
    return base::error(Code::bad_input, "--where '%s': expected auto, gpu or host",
                       options.where.c_str());
  if (cap) return Place{options.where == "host" ? "host" : "gpu", *cap};
  if (options.where == "host") return host_place();
  const auto gpu = gpu_place();
  return gpu || options.where == "gpu" ? gpu : host_place();
}

int run_model(const ModelOptions& options) {
  const auto asked = plan::request_of(options);
  if (!asked) return complain(asked.error());
  const auto request = corrected(*asked, options);
  if (!request) return complain(request.error());
  const auto cap = plan::cap_of(options);
  if (!cap) return complain(cap.error());
  if (options.parallel_clients && *options.parallel_clients != "auto")
    return complain(base::error(Code::bad_input, "--parallel-clients '%s': expected auto",
                                options.parallel_clients->c_str()));
  const auto plan = plan::plan(*request);
  if (!plan) return complain(plan.error());
  show::PlanPage beside;
  beside.cap = *cap;
  beside.fits = *cap && plan::fits(*plan, **cap);
  base::Json json = to_json(*plan);
  std::optional<plan::NetworkFit> fit;
  if (options.fit) {
    const auto found = plan::fit(*request, **cap);
    if (!found) return complain(found.error());
    fit = *found;
    json.set("fit", to_json(*fit));
    beside.found.push_back(show::largest("largest batch", fit->largest_batch));
  }
  Place place;
  std::optional<plan::ParallelClients> clients;
  if (options.parallel_clients) {
    const auto found = place_of(options, *cap);
    if (!found) return complain(found.error());
    place = *found;
    clients = std::string_view(place.name) == "gpu" ? clients_on_gpu(*plan, place.available)
                                                    : clients_on_host(*plan, place.available);
    base::Json part = to_json(*clients);
    part.set("where", place.name);
    json.set("parallel_clients", std::move(part));
    beside.found.push_back({"clients at once", std::to_string(clients->count)});
  }
  if (options.json) {
    std::puts(json.text(true).c_str());
    return write_plan_page(*plan, beside, options);
  }
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  std::string text = show::plan_text(*plan, style);
  if (fit) text += show::fit_text(*fit, style);
  if (clients) text += show::clients_text(*clients, place.name);
  std::fputs(text.c_str(), stdout);
  return write_plan_page(*plan, beside, options);
}

}  // namespace

void add_plan_model(CLI::App& plan, Action& action) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App* verb = plan.add_subcommand("model", "A network of the federated simulator");
  verb->add_option("name", options->name, "CNN-MNIST, 'CNN-MNIST (FedAvg)', LightCNN or ResNet18")
      ->required();
  add_number(*verb, "--channels", options->channels, "Channels of a picture")
      ->capture_default_str();
  add_number(*verb, "--size", options->size, "Height and width of a picture")
      ->capture_default_str();
  add_number(*verb, "--classes", options->classes, "Classes")->capture_default_str();
  verb->add_option("--parallel-clients", options->parallel_clients,
                   "auto: how many clients can train at once in the memory that is free now");
  verb->add_option("--where", options->where, "Where they train: auto, gpu or host")
      ->capture_default_str();
  add_common(*verb, *options, *options);
  verb->footer(
      "Examples:\n"
      "  ebb plan model CNN-MNIST --batch 32\n"
      "  ebb plan model ResNet18 --channels 3 --size 32 --batch 128 --cap 8GiB --fit\n"
      "  ebb plan model LightCNN --channels 3 --size 32 --parallel-clients auto --json");
  verb->callback([options, &action] { action = [options] { return run_model(*options); }; });
}

}  // namespace ebb::cli
