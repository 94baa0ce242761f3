// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan/client_table.h"
#include "plan/fit.h"
#include "term/style.h"

namespace ebb::show {

/// A plan for people: what the peak consists of as bars, the phases as a table, the sum in a line.
std::string plan_text(const plan::Plan& plan, const term::Style& style);

std::string fit_text(const plan::Fit& fit, const term::Style& style);
std::string fit_text(const plan::NetworkFit& fit, const term::Style& style);
std::string clients_text(const plan::ParallelClients& clients, const char* where);
/// Models by cards.
std::string client_table_text(const plan::ClientTable& table, const term::Style& style);

}  // namespace ebb::show
