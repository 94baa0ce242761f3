// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "fact/diagnosis.h"
#include "keep/diagnosis.h"
#include "keep/info.h"
#include "page/document.h"
#include "term/style.h"

namespace ebb::show {

/// How good or bad a verdict is, and the colour of that on a terminal.
page::Tone tone_of(fact::Verdict verdict);
term::Colour colour_of(page::Tone tone);
/// By the level that the memory is at.
term::Colour colour_of(const sense::MemoryInfo& memory);

/// A diagnosis as a page's card.
page::Verdict card_of(const fact::Diagnosis& diagnosis);

/// The verdict with what it rests on, a line each; values begin at `column`.
std::vector<std::string> verdict_lines(const page::Verdict& verdict, std::size_t column,
                                       const term::Style& style);

/// The same, with the slope before it.
std::vector<std::string> diagnosis_lines(const keep::ProcessDiagnosis& diagnosis,
                                         const term::Style& style);

}  // namespace ebb::show
