// SPDX-License-Identifier: Apache-2.0
#include "show/verdict.h"

#include "base/plain_text.h"

namespace ebb::show {
namespace {

using base::plain_line;

constexpr std::size_t kValueColumn = 11;

}  // namespace

page::Tone tone_of(fact::Verdict verdict) {
  switch (verdict) {
    case fact::Verdict::healthy:
      return page::Tone::good;
    case fact::Verdict::capacity:
    case fact::Verdict::leak:
      return page::Tone::bad;
    case fact::Verdict::not_enough_data:
      return page::Tone::neutral;
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

page::Verdict card_of(const fact::Diagnosis& diagnosis) {
  page::Verdict card;
  card.name = fact::name_of(diagnosis.verdict);
  card.headline = diagnosis.headline;
  card.tone = tone_of(diagnosis.verdict);
  card.confidence = fact::name_of(diagnosis.confidence);
  for (const fact::Verdict also : diagnosis.also)
    card.also.emplace_back(fact::name_of(also));
  card.evidence = diagnosis.findings;
  if (!diagnosis.fix.text.empty())
    card.fix = page::Fix{diagnosis.fix.text, diagnosis.fix.conf.value_or("")};
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
  lines.push_back(label("") + plain_line(verdict.headline));
  for (const std::string& also : verdict.also)
    lines.push_back(label("also") + also);
  for (const std::string& finding : verdict.evidence)
    lines.push_back(label("") + "- " + plain_line(finding));
  if (verdict.fix)
    lines.push_back(label("fix") + style.paint(plain_line(verdict.fix->text), term::Colour::bold));
  return lines;
}

std::vector<std::string> diagnosis_lines(const keep::ProcessDiagnosis& diagnosis,
                                         const term::Style& style) {
  std::vector<std::string> lines = verdict_lines(card_of(diagnosis), kValueColumn, style);
  lines.insert(lines.begin(), "slope      " + diagnosis.rss_slope);
  return lines;
}

}  // namespace ebb::show
