// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/catalogue_view.h"

#include "base/text.h"
#include "term/table.h"

namespace ebb::show {
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

Json method_json(const fl::Method& method) {
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
                       {"candidates", fl::name_of(method.candidates)},
                       {"parameters", std::move(parameters)}});
}

}  // namespace

std::string catalogue_text(const Catalogue& catalogue, const term::Style& style) {
  term::Table methods({{"method", Align::left}, {"", Align::left}, {"options", Align::left}});
  for (const fl::Method& method : catalogue.methods)
    methods.add_row(
        {std::string(method.key), std::string(method.summary), parameters_text(method)});
  term::Table networks({{"model", Align::left}, {"weights (28 x 28, 10 classes)"}});
  for (const Catalogue::Model& model : catalogue.models)
    networks.add_row({model.name, std::to_string(model.parameters)});
  term::Table sets({{"data set", Align::left}, {"", Align::left}, {"files", Align::left}});
  for (const fl::DataSetKind& kind : catalogue.data_sets)
    sets.add_row({std::string(kind.name), std::string(kind.summary), std::string(kind.files)});
  return methods.text(style) + "\n" + networks.text(style) + "\n" + sets.text(style);
}

base::Json catalogue_json(const Catalogue& catalogue) {
  Json methods = Json::array();
  for (const fl::Method& method : catalogue.methods)
    methods.push(method_json(method));
  Json networks = Json::array();
  for (const Catalogue::Model& model : catalogue.models)
    networks.push(Json::object({{"name", model.name}, {"parameters", model.parameters}}));
  Json sets = Json::array();
  for (const fl::DataSetKind& kind : catalogue.data_sets)
    sets.push(
        Json::object({{"name", kind.name}, {"files", kind.files}, {"summary", kind.summary}}));
  return Json::object({{"methods", std::move(methods)},
                       {"models", std::move(networks)},
                       {"datasets", std::move(sets)}});
}

}  // namespace ebb::show
