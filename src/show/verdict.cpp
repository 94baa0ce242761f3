// SPDX-License-Identifier: Apache-2.0
#include "show/verdict.h"

namespace ebb::show {
namespace {

constexpr std::size_t kValueColumn = 11;

/// The two kinds of diagnosis share their shape, but for the fix.
template <class Diagnosis>
page::Verdict card_without_fix(const Diagnosis& diagnosis) {
  page::Verdict card;
  card.name = name_of(diagnosis.verdict);
  card.headline = diagnosis.headline;
  card.tone = tone_of(diagnosis.verdict);
  card.confidence = diagnosis.confidence;
  for (const auto also : diagnosis.also)
    card.also.emplace_back(name_of(also));
  card.evidence = diagnosis.findings;
  return card;
}

}  // namespace

page::Tone tone_of(keep::Verdict verdict) {
  switch (verdict) {
    case keep::Verdict::healthy:
      return page::Tone::good;
    case keep::Verdict::leak:
      return page::Tone::bad;
    case keep::Verdict::not_enough_data:
      return page::Tone::neutral;
    default:
      return page::Tone::warning;
  }
}

page::Tone tone_of(replay::Verdict verdict) {
  switch (verdict) {
    case replay::Verdict::healthy:
      return page::Tone::good;
    case replay::Verdict::capacity:
    case replay::Verdict::leak:
      return page::Tone::bad;
    default:
      return page::Tone::warning;
  }
}

term::Colour colour_of(page::Tone tone) {
  switch (tone) {
    case page::Tone::good:
      return term::Colour::green;
    case page::Tone::warning:
      return term::Colour::yellow;
    case page::Tone::bad:
      return term::Colour::red;
    case page::Tone::neutral:
      break;
  }
  return term::Colour::dim;
}

term::Colour colour_of(const sense::MemoryInfo& memory) {
  const auto level = sense::level_of(memory);
  if (level && *level == sense::MemoryLevel::critical) return term::Colour::red;
  if (level && *level == sense::MemoryLevel::warn) return term::Colour::yellow;
  return term::Colour::green;
}

page::Verdict card_of(const keep::Diagnosis& diagnosis) {
  page::Verdict card = card_without_fix(diagnosis);
  if (!diagnosis.fix.empty()) card.fix = page::Fix{diagnosis.fix, ""};
  return card;
}

page::Verdict card_of(const replay::Diagnosis& diagnosis) {
  page::Verdict card = card_without_fix(diagnosis);
  if (!diagnosis.fix.text.empty()) card.fix = page::Fix{diagnosis.fix.text, diagnosis.fix.conf};
  return card;
}

std::vector<std::string> verdict_lines(const page::Verdict& verdict, std::size_t column,
                                       const term::Style& style) {
  const auto label = [&](std::string name) {
    name.resize(column, ' ');
    return name;
  };
  std::vector<std::string> lines;
  lines.push_back(label("verdict") + style.paint(verdict.name, colour_of(verdict.tone)) +
                  " (confidence " + verdict.confidence + ")");
  lines.push_back(label("") + verdict.headline);
  for (const std::string& also : verdict.also)
    lines.push_back(label("also") + also);
  for (const std::string& finding : verdict.evidence)
    lines.push_back(label("") + "- " + finding);
  if (verdict.fix)
    lines.push_back(label("fix") + style.paint(verdict.fix->text, term::Colour::bold));
  return lines;
}

std::vector<std::string> diagnosis_lines(const keep::Diagnosis& diagnosis,
                                         const term::Style& style) {
  std::vector<std::string> lines = verdict_lines(card_of(diagnosis), kValueColumn, style);
  lines.insert(lines.begin(), "slope      " + diagnosis.rss_slope);
  return lines;
}

}  // namespace ebb::show
