// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "fl/select/selector.h"

// One function per method, each in its own file; registry.cpp gathers them.

namespace ebb::fl::select {

Method bandit_epsilon_greedy_method();
Method bandit_linucb_method();
Method cluster_balanced_method();
Method divfl_method();
Method fairness_adjusted_method();
Method fedavg_method();
Method fedcor_method();
Method fedcs_method();
Method gradient_norm_method();
Method label_coverage_method();
Method mmr_diverse_method();
Method neural_linear_ucb_method();
Method oort_method();
Method poc_method();
Method proportional_data_method();
Method quota_safety_method();
Method random_method();
Method round_robin_method();
Method tifl_method();
Method topk_loss_method();

/// What a wrapper's key may be followed by: "wrapper.quota_safety:heuristic.topk_loss".
inline constexpr char kBaseSeparator = ':';

/// The quota wrapper over `base`, which was created as `base_key`.
std::unique_ptr<Selector> create_quota_safety(std::span<const double> values, std::string base_key,
                                              std::unique_ptr<Selector> base);

}  // namespace ebb::fl::select
