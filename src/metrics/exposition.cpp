// SPDX-License-Identifier: Apache-2.0
#include "metrics/exposition.h"

#include <charconv>

#include "base/text.h"
#include "base/utf8.h"

namespace ebb::metrics {
namespace {

/// The value of a label. Both formats are UTF-8, and one byte that is none costs a scrape its whole
/// answer.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : base::utf8_text(text)) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return result;
}

void append_number(std::string& text, double number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(digits, end);
}

const char* type_of(Kind kind, Format format) {
  switch (kind) {
    case Kind::gauge:
      return "gauge";
    case Kind::counter:
      return "counter";
    case Kind::info:
      return format == Format::text ? "gauge" : "info";
    case Kind::state_set:
      return format == Format::text ? "gauge" : "stateset";
  }
  return "unknown";
}

/// What a value's name has beyond that of its family.
const char* suffix_of(Kind kind) {
  if (kind == Kind::counter) return "_total";
  return kind == Kind::info ? "_info" : "";
}

void append_value(std::string& text, const std::string& name, const Value& value) {
  text += name;
  char before = '{';
  for (const auto& [label, content] : value.labels) {
    text += before;
    text += label + "=\"" + escaped(content) + '"';
    before = ',';
  }
  text += before == '{' ? " " : "} ";
  append_number(text, value.number);
  text += '\n';
}

/// The weight of the best of the types in `accept` that `matches`; nothing where none does.
template <class Matches>
std::optional<double> weight_in(std::string_view accept, const Matches& matches) {
  std::optional<double> best;
  for (const std::string_view entry : base::split(accept, ',')) {
    const std::vector<std::string_view> parts = base::split(entry, ';');
    double weight = 1;
    std::string_view version;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::string_view part = base::trimmed(parts[i]);
      if (part.starts_with("q=")) weight = base::parse_double(part.substr(2)).value_or(0);
      if (part.starts_with("version=")) version = part.substr(8);
    }
    if (weight > best.value_or(0) && matches(base::trimmed(parts[0]), version)) best = weight;
  }
  return best;
}

}  // namespace

Format format_for(std::string_view accept) {
  const auto open = weight_in(accept, [](std::string_view type, std::string_view version) {
    return type == "application/openmetrics-text" && (version.empty() || version == "1.0.0");
  });
  const auto plain = weight_in(accept, [](std::string_view type, std::string_view version) {
    return (type == "text/plain" && (version.empty() || version == "0.0.4")) || type == "text/*";
  });
  return open && *open >= plain.value_or(0) ? Format::open_metrics : Format::text;
}

const char* content_type_of(Format format) {
  return format == Format::text ? "text/plain; version=0.0.4; charset=utf-8"
                                : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

std::string text_of(const std::vector<Family>& families, Format format) {
  std::string text;
  for (const Family& family : families) {
    const Metric& metric = *family.metric;
    const std::string value_name = std::string(metric.name) + suffix_of(metric.kind);
    const std::string& name = format == Format::text ? value_name : std::string(metric.name);
    text += "# HELP " + name + ' ' + metric.help + '\n';
    text += "# TYPE " + name + ' ' + type_of(metric.kind, format) + '\n';
    if (format == Format::open_metrics && metric.unit[0] != '\0')
      text += "# UNIT " + name + ' ' + metric.unit + '\n';
    for (const Value& value : family.values)
      append_value(text, value_name, value);
  }
  if (format == Format::open_metrics) text += "# EOF\n";
  return text;
}

}  // namespace ebb::metrics
