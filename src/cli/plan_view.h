// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/fit.h"
#include "term/style.h"

namespace ebb::cli {

/// A plan for people: what the peak consists of as bars, the phases as a table, the sum in a line.
void print_plan(const plan::Plan& plan, const term::Style& style);

void print_fit(const plan::Fit& fit, const term::Style& style);
void print_fit(const plan::NetworkFit& fit, const term::Style& style);
void print_clients(const plan::ParallelClients& clients, const char* where);

}  // namespace ebb::cli
