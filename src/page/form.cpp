// SPDX-License-Identifier: Apache-2.0
#include "page/form.h"

namespace ebb::page {
namespace {

using base::Json;

const char* name_of(Field::Kind kind) {
  switch (kind) {
    case Field::Kind::number:
      return "number";
    case Field::Kind::choice:
      return "choice";
    case Field::Kind::flag:
      return "flag";
    case Field::Kind::text:
      break;
  }
  return "text";
}

/// What is empty is left out, as in a document.
void add_text(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}

Json to_json(const Field& field) {
  Json json =
      Json::object({{"name", field.name}, {"label", field.label}, {"kind", name_of(field.kind)}});
  add_text(json, "help", field.help);
  add_text(json, "value", field.value);
  add_text(json, "otherwise", field.otherwise);
  if (!field.choices.empty())
    json.set("choices", Json::Array(field.choices.begin(), field.choices.end()));
  if (field.required) json.set("required", true);
  return json;
}

Json to_json(const FieldGroup& group) {
  Json fields = Json::array();
  for (const Field& field : group.fields)
    fields.push(to_json(field));
  Json json = Json::object({{"name", group.name}, {"fields", std::move(fields)}});
  if (group.folded) json.set("folded", true);
  return json;
}

Json to_json(const FormKind& kind) {
  Json groups = Json::array();
  for (const FieldGroup& group : kind.groups)
    groups.push(to_json(group));
  return Json::object({{"name", kind.name}, {"label", kind.label}, {"groups", std::move(groups)}});
}

}  // namespace

Json to_json(const Form& form) {
  Json kinds = Json::array();
  for (const FormKind& kind : form.kinds)
    kinds.push(to_json(kind));
  Json json =
      Json::object({{"kinds", std::move(kinds)}, {"kind", form.kind}, {"document", form.document}});
  add_text(json, "said", form.said);
  if (form.failed) json.set("failed", true);
  add_text(json, "command", form.command);
  return json;
}

}  // namespace ebb::page
