// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/answer.h"
#include "cli/simulate/verbs.h"
#include "cli/verb.h"
#include "plan/network.h"
#include "show/simulate/catalogue_view.h"

namespace ebb::cli {

int list_simulations(bool json) {
  show::Catalogue catalogue{fl::methods(), {}, fl::data_set_kinds()};
  for (const std::string& name : fl::model_names()) {
    const auto network = plan::network_named(name, plan::Picture{}, 10);
    catalogue.models.push_back({name, network ? network->parameters().value_or(0) : 0});
  }
  const std::string text =
      json ? show::catalogue_json(catalogue).text(true) + "\n"
           : show::catalogue_text(catalogue, term::Style::of_stream(STDOUT_FILENO));
  answer(text);
  return kDone;
}

}  // namespace ebb::cli
