// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "base/text.h"
#include "cli/simulate.h"
#include "cli/verb.h"
#include "fl/data_set.h"
#include "fl/select/selector.h"
#include "plan/network.h"
#include "term/table.h"

namespace ebb::cli {
namespace {

using base::format_text;
using base::Json;
using term::Align;

std::string parameters_text(const fl::Method& method) {
  std::string text;
  for (const fl::Parameter& parameter : method.parameters)
    text += (text.empty() ? "" : ", ") + std::string(parameter.name) +
            format_text("=%g", parameter.standard);
  return text;
}

Json to_json(const fl::Method& method) {
  Json parameters = Json::array();
  for (const fl::Parameter& parameter : method.parameters)
    parameters.push(Json::object({{"name", parameter.name},
                                  {"standard", parameter.standard},
                                  {"least", parameter.least},
                                  {"most", parameter.most},
                                  {"meaning", parameter.meaning}}));
  return Json::object({{"key", method.key},
                       {"title", method.title},
                       {"citation", method.citation},
                       {"summary", method.summary},
                       {"parameters", std::move(parameters)}});
}

struct Model {
  std::string name;
  std::uint64_t parameters = 0;  ///< for pictures as Fashion-MNIST has them
};

std::vector<Model> models() {
  std::vector<Model> all;
  for (const std::string& name : model_names()) {
    const auto network = plan::network_named(name, plan::Picture{}, 10);
    all.push_back({name, network ? network->parameters().value_or(0) : 0});
  }
  return all;
}

int print_json() {
  Json methods = Json::array();
  for (const fl::Method& method : fl::methods())
    methods.push(to_json(method));
  Json networks = Json::array();
  for (const Model& model : models())
    networks.push(Json::object({{"name", model.name}, {"parameters", model.parameters}}));
  Json sets = Json::array();
  for (const fl::DataSetKind& kind : fl::data_set_kinds())
    sets.push(
        Json::object({{"name", kind.name}, {"files", kind.files}, {"summary", kind.summary}}));
  Json json = Json::object({{"methods", std::move(methods)},
                            {"models", std::move(networks)},
                            {"datasets", std::move(sets)}});
  std::puts(json.text(true).c_str());
  return kDone;
}

}  // namespace

int list_simulations(bool json) {
  if (json) return print_json();
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  term::Table methods({{"method", Align::left}, {"", Align::left}, {"options", Align::left}});
  for (const fl::Method& method : fl::methods())
    methods.add_row(
        {std::string(method.key), std::string(method.summary), parameters_text(method)});
  term::Table networks({{"model", Align::left}, {"weights (28 x 28, 10 classes)"}});
  for (const Model& model : models())
    networks.add_row({model.name, std::to_string(model.parameters)});
  term::Table sets({{"data set", Align::left}, {"", Align::left}, {"files", Align::left}});
  for (const fl::DataSetKind& kind : fl::data_set_kinds())
    sets.add_row({std::string(kind.name), std::string(kind.summary), std::string(kind.files)});
  std::printf("%s\n%s\n%s", methods.text(style).c_str(), networks.text(style).c_str(),
              sets.text(style).c_str());
  return kDone;
}

}  // namespace ebb::cli
