// SPDX-License-Identifier: Apache-2.0
// What a stack is called by.
#include <algorithm>
#include <string_view>

#include "fact/site.h"

namespace ebb::fact {
namespace {

constexpr std::size_t kLongestFunction = 80;
// Calls of libraries between an allocation and the line of the job that asked for it.
constexpr std::size_t kMostHelpers = 3;

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

constexpr std::string_view kUnnamed = "(anonymous namespace)";

/// Where its parameters begin: parentheses also stand for unnamed namespaces and in types.
std::size_t end_of_name(std::string_view function) {
  if (function.starts_with("operator")) return function.find('(', 8);
  int depth = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    if (function.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
    } else if (function[i] == '<') {
      ++depth;
    } else if (function[i] == '>' && depth > 0) {
      --depth;
    } else if (function[i] == '(' && depth == 0) {
      return i;
    }
  }
  return function.size();
}

/// Without parameters.
std::string_view name_alone(std::string_view function) {
  return function.substr(0, end_of_name(function));
}

/// Of an allocator, a container or an interpreter: whoever called it wanted the memory. Or of the C
/// library before main() and before a thread's own function, which wanted none.
bool is_machinery(const SiteFrame& frame) {
  const std::string_view name = name_alone(frame.function);
  if (name.starts_with("operator new")) return true;
  const std::string_view head = name.substr(0, name.find('<'));
  for (const std::string_view space : {"std::", "__gnu_cxx::"})
    if (head.starts_with(space) || head.find(" " + std::string(space)) != std::string_view::npos)
      return true;
  for (const std::string_view prefix :
       {"PyMem_", "PyObject_Malloc", "PyObject_Calloc", "PyObject_Realloc", "_PyObject_", "_PyMem_",
        "c10::", "at::", "torch::unwind::", "torch::CapturedTraceback::", "torch::cuda::",
        "g_malloc", "g_realloc", "g_slice_alloc", "__libc_start_", "start_thread", "__GI___clone",
        "__clone", "clone3"})
    if (name.starts_with(prefix)) return true;
  const std::string_view library = last_part(frame.module);
  return library.starts_with("libstdc++.so") || library.starts_with("libc++.so");
}

/// Installed beside Python, by it or by pip, and no file of the job itself.
bool is_of_library(const SiteFrame& frame) {
  const std::string_view file = frame.file;
  if (file.starts_with("<")) return true;
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"})
    if (file.find(folder) != std::string_view::npos) return true;
  return file.find("/lib/python3") != std::string_view::npos;
}

}  // namespace

std::string text_of(const SiteFrame& frame) {
  std::string name(name_alone(frame.function).substr(0, kLongestFunction));
  if (frame.line > 0) {
    return std::string(last_part(frame.file)) + ":" + std::to_string(frame.line) +
           (name.empty() ? "" : " " + name);
  }
  const std::string module(last_part(frame.module));
  if (!name.empty()) return module.empty() || module == "?" ? name : name + " (" + module + ")";
  return module.empty() || module == "?" ? "unknown code" : module + ", no symbols";
}

bool is_of_torch(const SiteFrame& frame) {
  if (frame.file.starts_with("torch/")) return true;
  for (const char* folder : {"-packages/torch/", "/pytorch/torch/"})
    if (frame.file.find(folder) != std::string::npos) return true;
  return false;
}

const SiteFrame* python_frame(const SiteStack& frames) {
  const auto python = std::find_if(frames.begin(), frames.end(),
                                   [](const SiteFrame& frame) { return frame.is_python(); });
  return python == frames.end() ? nullptr : &*python;
}

const SiteFrame* telling_frame(const SiteStack& frames) {
  if (const SiteFrame* python = python_frame(frames)) {
    // numpy.ones() is not what leaks: who called it does. Deep inside a library its own lines tell.
    const SiteFrame* inside = nullptr;
    std::size_t passed = 0;
    for (const auto* frame = python; frame != frames.data() + frames.size(); ++frame) {
      if (!frame->is_python() || is_of_torch(*frame)) continue;
      if (!is_of_library(*frame)) return frame;
      if (inside == nullptr) inside = frame;
      if (++passed > kMostHelpers) break;
    }
    return inside != nullptr ? inside : python;
  }
  const auto named = std::find_if(frames.begin(), frames.end(), [](const SiteFrame& frame) {
    return !frame.function.empty() && !is_machinery(frame);
  });
  if (named != frames.end()) return &*named;
  return nullptr;
}

std::string reading_of(const SiteStack& frames) {
  std::string text;
  for (const SiteFrame& frame : frames)
    text += text_of(frame) + frame.file + "\n";
  return text;
}

std::string place_of(const SiteStack& frames) {
  if (const SiteFrame* frame = telling_frame(frames)) return text_of(*frame);
  return frames.empty() ? "a stack that could not be read" : text_of(frames.front());
}

base::Json to_json(const SiteStack& frames) {
  using base::Json;
  const auto known = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json list = Json::array();
  for (const SiteFrame& frame : frames) {
    Json one;
    one.set("function", known(frame.function)).set("file", known(frame.file));
    one.set("line", frame.line > 0 ? Json(std::uint64_t{frame.line}) : Json());
    one.set("module", known(frame.module));
    list.push(std::move(one));
  }
  return list;
}

}  // namespace ebb::fact
