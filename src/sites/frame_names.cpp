// SPDX-License-Identifier: Apache-2.0
#include "sites/frame_names.h"

#include <cxxabi.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "heap/elf.h"
#include "sites/line_table.h"

namespace ebb::sites {
namespace {

// Larger tables of lines take longer to run than their lines are worth.
constexpr std::uint64_t kLargestLines = 128ULL << 20;
constexpr std::uint64_t kLargestStrings = 256ULL << 20;
constexpr std::uint64_t kLargestInfo = 256ULL << 20;
constexpr std::size_t kLongestFunction = 512;
constexpr const char* kEval = "_PyEval_EvalFrameDefault";

std::string readable(const std::string& name) {
  int status = -1;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      name.starts_with("_Z") ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status)
                             : nullptr,
      &std::free);
  return std::string(status == 0 ? plain.get() : name.c_str()).substr(0, kLongestFunction);
}

/// Where the symbols of a file lie that were taken out of it.
std::string debug_file_of(const heap::ElfFile& elf) {
  const std::string note = elf.section(".note.gnu.build-id", 4096);
  constexpr std::size_t kHead = 16;  // three sizes and "GNU"
  if (note.size() < kHead + 2 || note.size() > kHead + 64) return {};
  std::string hex;
  for (const char c : note.substr(kHead)) {
    constexpr const char* kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return "/usr/lib/debug/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug";
}

/// Which calls the code came from that compilers have put into its callers.
void add_calls(const heap::ElfFile& elf, std::map<std::uint64_t, SourceLine>& lines) {
  const std::string info = elf.section(".debug_info", kLargestInfo);
  if (info.empty()) return;
  const std::string abbreviations = elf.section(".debug_abbrev", kLargestInfo);
  const std::string ranges = elf.section(".debug_ranges", kLargestInfo);
  const std::string lists = elf.section(".debug_rnglists", kLargestInfo);
  const std::string addresses = elf.section(".debug_addr", kLargestInfo);
  InlinedCalls calls;
  for (const auto& [address, line] : lines)
    if (line.line == 0) calls.try_emplace(address);
  find_inlined_calls({info, abbreviations, ranges, lists, addresses}, calls);
  for (auto& [address, found] : calls)
    lines[address].calls = std::move(found);
}

void add_lines(const heap::ElfFile& elf, std::map<std::uint64_t, SourceLine>& lines) {
  const std::string programs = elf.section(".debug_line", kLargestLines);
  if (programs.empty()) return;
  add_calls(elf, lines);
  const std::string line_strings = elf.section(".debug_line_str", kLargestStrings);
  const std::string strings = elf.section(".debug_str", kLargestStrings);
  find_lines({programs, line_strings, strings}, lines);
}

/// What is asked of one file: addresses in it.
struct Asked {
  std::map<std::uint64_t, heap::ElfFunctionAt> functions;
  std::map<std::uint64_t, SourceLine> lines;

  void answer(const std::string& path, const std::string& root) {
    const auto elf = heap::ElfFile::open(root + path);
    if (!elf) return;
    elf->name_functions(functions);
    for (auto& [address, line] : lines)
      line.function = functions[address].start;
    add_lines(*elf, lines);
    const bool is_whole = std::all_of(lines.begin(), lines.end(),
                                      [](const auto& one) { return one.second.line > 0; });
    const std::string beside = is_whole ? "" : debug_file_of(*elf);
    if (beside.empty()) return;
    if (const auto debug = heap::ElfFile::open(root + beside)) {
      debug->name_functions(functions);
      add_lines(*debug, lines);
    }
  }
};

const Module* module_of(const std::vector<Module>& modules, std::uint64_t address) {
  for (const Module& module : modules)
    if (address >= module.start && address < module.end) return &module;
  return nullptr;
}

bool is_as_it_was(const std::string& path, const std::optional<double>& until) {
  struct stat status {};
  if (!until) return true;
  // Written to, or put in another's place: both change this time.
  return ::stat(path.c_str(), &status) == 0 &&
         static_cast<double>(status.st_ctim.tv_sec) +
                 1e-9 * static_cast<double>(status.st_ctim.tv_nsec) <=
             *until;
}

// Calls of the agent's stand this near to an allocation where it only counts what Python asks for;
// where it calls the job, they stand at the other end.
constexpr std::size_t kNear = 2, kFar = 3;

/// What Ebb brings into a process to look at it stands between an allocation and who asked for it.
bool is_ebbs_own(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name == "libebb-agent.so" || name == "libebb-sites.so";
}

/// In the file, of the call that returns to `address`.
std::uint64_t place_in(const Module& module, std::uint64_t address) {
  return address - module.bias - 1;
}

}  // namespace

std::vector<fact::SiteStack> named(const std::vector<RawStack>& stacks,
                                   const std::vector<Module>& modules, const std::string& root,
                                   std::optional<double> until) {
  std::map<std::string, Asked> asked;
  for (const RawStack& stack : stacks) {
    for (const std::uint64_t address : stack.native) {
      const Module* module = module_of(modules, address);
      if (module == nullptr) continue;
      Asked& file = asked[module->path];
      file.functions.try_emplace(place_in(*module, address));
      file.lines.try_emplace(place_in(*module, address));
    }
  }
  for (auto& [path, file] : asked)
    if (path.starts_with('/') && is_as_it_was(root + path, until)) file.answer(path, root);

  std::vector<fact::SiteStack> all;
  for (const RawStack& stack : stacks) {
    fact::SiteStack& frames = all.emplace_back();
    std::size_t outer = stack.native.size();
    for (const std::uint64_t address : stack.native) {
      --outer;
      fact::SiteFrame frame;
      frame.module = "?";
      if (const Module* module = module_of(modules, address)) {
        if (frames.size() < kNear && outer > kFar && is_ebbs_own(module->path)) {
          frames.clear();
          continue;
        }
        frame.module = module->path.empty() ? "?" : module->path;
        const Asked& file = asked[module->path];
        const std::string& name = file.functions.at(place_in(*module, address)).name;
        // From the interpreter's loop outwards its own calls stand for these.
        if (!stack.python.empty() && !stack.is_joined && name.starts_with(kEval)) break;
        const SourceLine& line = file.lines.at(place_in(*module, address));
        frame.function = readable(name);
        frame.file = line.file;
        frame.line = line.line;
      }
      frames.push_back(std::move(frame));
    }
    for (const PythonFrame& call : stack.python)
      frames.push_back({call.function, call.file, call.line, ""});
  }
  return all;
}

}  // namespace ebb::sites
