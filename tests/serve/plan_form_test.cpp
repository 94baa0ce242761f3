// SPDX-License-Identifier: Apache-2.0
#include "serve/plan_form.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ebb::serve {
namespace {

PlanForm form_of(const std::string& query) {
  const auto form = PlanForm::read(query);
  EXPECT_TRUE(form) << query << ": " << (form ? "" : form.error().message);
  return form ? *form : *PlanForm::read("");
}

std::string wrong(const std::string& query) {
  const auto form = PlanForm::read(query);
  EXPECT_FALSE(form) << query;
  return form ? "" : form.error().message;
}

std::string no_plan(const std::string& query) {
  const auto request = form_of(query).request();
  EXPECT_FALSE(request) << query;
  return request ? "" : request.error().message;
}

/// A field of the kind that is asked for.
page::Field field(const page::Form& form, const std::string& name) {
  for (const page::FormKind& kind : form.kinds) {
    if (kind.name != form.kind) continue;
    for (const page::FieldGroup& group : kind.groups)
      for (const page::Field& one : group.fields)
        if (one.name == name) return one;
  }
  ADD_FAILURE() << "no field " << name;
  return {};
}

TEST(PlanForm, IsTheQueryOfItsAddress) {
  EXPECT_EQ(form_of("").query(), "kind=transformer&preset=gpt2") << "an example";
  EXPECT_EQ(form_of("cap=24GiB&batch=4&kind=transformer&preset=gpt2").query(),
            form_of("kind=transformer&preset=gpt2&batch=4&cap=24GiB&seq=").query())
      << "in whatever order, and without what is empty";
  const std::string query = form_of("kind=model&name=CNN-MNIST+(FedAvg)").query();
  EXPECT_EQ(query, "kind=model&name=CNN-MNIST%20%28FedAvg%29");
  EXPECT_EQ(form_of(query).query(), query);
  EXPECT_EQ(form_of("kind=model").query(), "kind=model&name=CNN-MNIST") << "a form shows the first";
}

TEST(PlanForm, RefusesWhatNoFormSends) {
  EXPECT_EQ(wrong("preset=gpt2"), "kind '': expected transformer or model");
  EXPECT_EQ(wrong("kind=budget&params=7e9"), "kind 'budget': expected transformer or model");
  EXPECT_EQ(wrong("kind=transformer&bacth=4"),
            "bacth: no such field of the plan of a transformer: did you mean batch?");
  EXPECT_EQ(wrong("kind=model&layers=4"), "layers: no such field of the plan of a model");
  EXPECT_EQ(wrong("kind=transformer&batch=4&batch=5"), "batch: given twice");
  EXPECT_EQ(wrong("kind=model&kind=transformer"), "kind: given twice");
  EXPECT_EQ(wrong("kind=transformer&preset=gpt2%"),
            "the address: expected two hexadecimal digits behind each %");
  EXPECT_EQ(wrong("kind=transformer&preset=%zz"),
            "the address: expected two hexadecimal digits behind each %");
  EXPECT_EQ(wrong("kind=transformer&preset=" + std::string(61, 'x')),
            "preset: expected at most 60 characters");
  EXPECT_EQ(wrong("kind=model&name=ResNet18%0A"),
            "name: expected letters, digits and signs of ASCII");
  EXPECT_EQ(wrong("kind=model&" + std::string(10'000, 'x') + "=1").size(),
            wrong("kind=model&" + std::string(1'000, 'x') + "=1").size())
      << "a line stays a line";
}

TEST(PlanForm, NamesNoFile) {
  for (const char* kind : {"transformer", "model"}) {
    for (const char* name : {"measured", "config", "html", "fit", "json"})
      EXPECT_TRUE(wrong(std::string("kind=") + kind + "&" + name + "=/etc/passwd")
                      .starts_with(std::string(name) + ": no such field"));
  }
}

TEST(PlanForm, ReadsNoFileWhereTheCommandWould) {
  const auto refusal = [](const std::string& name) {
    return no_plan("kind=model&name=" + encoded(name));
  };
  for (const std::string& name : {std::string("network.json"), std::string("CNN/MNIST"),
                                  std::string("./ResNet18"), std::string("/etc/x.json")})
    EXPECT_TRUE(refusal(name).starts_with("name '" + name + "': ")) << refusal(name);
  EXPECT_EQ(refusal("/etc/x.json"),
            "name '/etc/x.json': expected one of CNN-MNIST, CNN-MNIST (FedAvg), LightCNN, "
            "CNN-Dropout, ResNet18");
}

TEST(PlanForm, SaysWhatIsWrongWithValues) {
  EXPECT_EQ(no_plan("kind=transformer&preset=gpt2&batch=many"),
            "--batch 'many': expected a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(no_plan("kind=transformer&preset=gpt2&batch=99999999999999999999"),
            "--batch '99999999999999999999': expected a whole number from 0 to "
            "18446744073709551615");
  EXPECT_EQ(no_plan("kind=transformer&preset=gpt2&cap=much"),
            "--cap 'much': expected a number and a unit, such as 24GiB");
  EXPECT_EQ(no_plan("kind=transformer&preset=lama-7b"), "preset 'lama-7b': did you mean llama-7b?");
  EXPECT_EQ(no_plan("kind=transformer&preset=gpt2&precision=double"),
            "precision 'double': expected one of fp32, amp, bf16, fp16-mixed");
  EXPECT_EQ(no_plan("kind=transformer&arch=llama"), "--layers is missing");
  EXPECT_EQ(
      no_plan("kind=transformer"),
      "what to plan is missing: expected a preset, or arch, layers, d-model, heads and vocab");
  EXPECT_EQ(no_plan("kind=transformer&preset=gpt2&fsdp=yes"),
            "--fsdp 'yes': expected true or false");
}

TEST(PlanForm, TheCommandIsWhatAShellTakes) {
  EXPECT_EQ(form_of("kind=transformer&preset=gpt2&batch=4&cap=24GiB").command(),
            "ebb plan transformer gpt2 --batch 4 --cap 24GiB --fit");
  EXPECT_EQ(form_of("kind=transformer&arch=gpt2&d_model=64&untied=true&fsdp=false").command(),
            "ebb plan transformer --arch gpt2 --d-model 64 --untied");
  EXPECT_EQ(form_of("kind=model&name=CNN-MNIST+(FedAvg)&cap=8+GiB").command(),
            "ebb plan model 'CNN-MNIST (FedAvg)' --cap '8 GiB' --fit");
  EXPECT_EQ(form_of("kind=transformer&preset=gpt2&dropout=-0").command(),
            "ebb plan transformer gpt2 --dropout=-0");
  EXPECT_EQ(form_of("kind=model&name=x%27;rm+-rf+~").command(), "ebb plan model 'x'\\'';rm -rf ~'");
}

TEST(PlanForm, ShowsTheOptionsOfBothKindsWithWhatIsUsual) {
  const page::Form form = form_of("kind=transformer&preset=gpt2&batch=4").shown();
  ASSERT_EQ(form.kinds.size(), 2U);
  EXPECT_EQ(form.kind, "transformer");
  EXPECT_EQ(form.document, "plan/document");
  EXPECT_EQ(field(form, "batch").value, "4");
  EXPECT_EQ(field(form, "batch").otherwise, "1");
  EXPECT_EQ(field(form, "batch").kind, page::Field::Kind::number);
  EXPECT_EQ(field(form, "d_model").label, "d-model");
  EXPECT_EQ(field(form, "cap").kind, page::Field::Kind::text);
  EXPECT_EQ(field(form, "untied").kind, page::Field::Kind::flag);
  const page::Field preset = field(form, "preset");
  EXPECT_EQ(preset.kind, page::Field::Kind::choice);
  EXPECT_EQ(preset.value, "gpt2");
  EXPECT_NE(std::find(preset.choices.begin(), preset.choices.end(), "llama-3-8b"),
            preset.choices.end());
  const page::Form model = form_of("kind=model").shown();
  EXPECT_TRUE(field(model, "name").required);
  EXPECT_EQ(field(model, "precision").otherwise, "fp32");
  EXPECT_EQ(field(model, "batch").otherwise, "32");
  EXPECT_EQ(field(model, "size").otherwise, "28");
}

TEST(PlanForm, EveryChoiceOnOfferIsTaken) {
  for (const std::string start : {"kind=transformer&preset=gpt2", "kind=model"}) {
    const page::Form form = form_of(start).shown();
    for (const page::FormKind& kind : form.kinds) {
      for (const page::FieldGroup& group : kind.groups) {
        for (const page::Field& one : group.fields) {
          if (kind.name != form.kind || one.name == "preset") continue;
          for (const std::string& choice : one.choices) {
            const std::string query = start + "&" + one.name + "=" + encoded(choice);
            EXPECT_TRUE(form_of(query).request()) << query;
          }
        }
      }
    }
  }
}

TEST(PlanForm, FoldsWhatAPresetSaysAndWhatOneDeviceHasNoUseFor) {
  std::vector<std::string> folded;
  for (const page::FormKind& kind : form_of("").shown().kinds)
    for (const page::FieldGroup& group : kind.groups)
      if (group.folded) folded.push_back(kind.name + ": " + group.name);
  EXPECT_EQ(folded,
            (std::vector<std::string>{"transformer: Shape", "transformer: Several devices"}));
}

}  // namespace
}  // namespace ebb::serve
