// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/answer.h"
#include "cli/plan_options.h"
#include "sense/room.h"
#include "show/plan_view.h"

namespace ebb::cli {
namespace {

using base::Code;

struct ModelOptions : plan::NetworkOptions, OutputOptions {
  std::optional<std::string> parallel_clients;
  std::string where = "auto";
};

base::Options options_of(ModelOptions& o) {
  base::Options options = plan::options_of(static_cast<plan::NetworkOptions&>(o));
  options.push_back({"parallel_clients", &o.parallel_clients,
                     "auto: how many clients can train at once in the memory that is free now"});
  options.push_back({"where", &o.where, "Where they train: auto, gpu or host"});
  return with_output_options(std::move(options), o);
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
  const auto where = sense::room_kind_from(options.where);
  if (!where) return complain(where.error());
  const auto plan = plan::plan(*request);
  if (!plan) return complain(plan.error());
  show::PlanPage page;
  page.cap = *cap;
  page.fits = *cap && plan::fits(*plan, **cap);
  base::Json json = to_json(*plan);
  std::optional<plan::NetworkFit> fit;
  if (options.fit) {
    const auto found = plan::fit(*request, **cap);
    if (!found) return complain(found.error());
    fit = *found;
    json = plan_json(*fit);
    page = show::beside_plan(*fit);
  }
  sense::Room room;
  std::optional<plan::ParallelClients> clients;
  if (options.parallel_clients) {
    const auto found = sense::room_for(*where, *cap);
    if (!found) return complain(found.error());
    room = *found;
    clients = room.where == sense::RoomKind::gpu ? clients_on_gpu(*plan, room.bytes)
                                                 : clients_on_host(*plan, room.bytes);
    base::Json part = to_json(*clients);
    part.set("where", name_of(room.where));
    json.set("parallel_clients", std::move(part));
    page.found.push_back({"clients at once", std::to_string(clients->count)});
  }
  if (options.json) {
    answer_json(json, true);
    return write_plan_page(*plan, page, options);
  }
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  std::string text = show::plan_text(*plan, style);
  if (fit) text += show::fit_text(*fit, style);
  if (clients) text += show::clients_text(*clients, name_of(room.where));
  answer(text);
  return write_plan_page(*plan, page, options);
}

}  // namespace

void add_plan_model(Verb plan) {
  plan.add({"model", "A network of the federated simulator",
            "Examples:\n"
            "  ebb plan model CNN-MNIST --batch 32\n"
            "  ebb plan model ResNet18 --channels 3 --size 32 --batch 128 --cap 8GiB --fit\n"
            "  ebb plan model LightCNN --channels 3 --size 32 --parallel-clients auto --json"},
           run_model);
}

}  // namespace ebb::cli
