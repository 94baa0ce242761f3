// SPDX-License-Identifier: Apache-2.0
#include "show/site_files.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/file.h"
#include "base/plain_text.h"
#include "pack/crc32.h"
#include "show/site_view.h"

namespace ebb::show {
namespace {

/// A message of protocol buffers that is being written.
class Message {
 public:
  void number(unsigned field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  void bytes(unsigned field, const std::string& value) {
    varint(field << 3 | 2);
    varint(value.size());
    text_ += value;
  }
  void numbers(unsigned field, const std::vector<std::uint64_t>& values) {
    Message packed;
    for (const std::uint64_t value : values)
      packed.varint(value);
    bytes(field, packed.text_);
  }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

/// Strings, functions and locations of a profile, each once.
class Tables {
 public:
  std::uint64_t string(const std::string& text) {
    const auto [at, is_new] = strings_.try_emplace(text, strings_.size());
    if (is_new) order_.push_back(text);
    return at->second;
  }

  std::uint64_t location(const fact::SiteFrame& frame) {
    const std::string name = frame.function.empty() ? fact::text_of(frame) : frame.function;
    const std::string file = frame.file.empty() ? frame.module : frame.file;
    const auto function_key = std::pair(name, file);
    const auto [function, is_new] = functions_.try_emplace(function_key, functions_.size() + 1);
    if (is_new) {
      Message message;
      message.number(1, function->second);
      message.number(2, string(name));
      message.number(3, string(name));
      message.number(4, string(file));
      made_.bytes(5, message.text());
    }
    const auto [location, is_new_line] =
        locations_.try_emplace(std::tuple(name, file, frame.line), locations_.size() + 1);
    if (is_new_line) {
      Message line;
      line.number(1, function->second);
      line.number(2, frame.line);
      Message message;
      message.number(1, location->second);
      message.bytes(4, line.text());
      made_.bytes(4, message.text());
    }
    return location->second;
  }

  /// All of them as fields of a profile.
  std::string text() {
    for (const std::string& text : order_)
      made_.bytes(6, text);
    return made_.text();
  }

 private:
  std::map<std::string, std::uint64_t> strings_{{"", 0}};
  std::vector<std::string> order_{""};
  std::map<std::pair<std::string, std::string>, std::uint64_t> functions_;
  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::uint64_t> locations_;
  Message made_;
};

void put_little(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i));
}

/// Stored, not packed: a profile is small.
std::string gzip_of(const std::string& bytes) {
  constexpr std::size_t kBlock = 0xFFFF;
  std::string text("\x1F\x8B\x08\0\0\0\0\0\0\xFF", 10);
  std::size_t at = 0;
  do {
    const std::size_t size = std::min(kBlock, bytes.size() - at);
    text += static_cast<char>(at + size == bytes.size());
    put_little(text, size, 2);
    put_little(text, ~size, 2);
    text += bytes.substr(at, size);
    at += size;
  } while (at < bytes.size());
  put_little(text, pack::crc32(0, bytes.data(), bytes.size()), 4);
  put_little(text, bytes.size(), 4);
  return text;
}

Message value_type(Tables& tables, const std::string& type, const char* unit) {
  Message message;
  message.number(1, tables.string(type));
  message.number(2, tables.string(unit));
  return message;
}

}  // namespace

std::string collapsed_stacks(const SiteRows& sites) {
  std::string text;
  for (const SiteRow& site : sites.rows) {
    std::string line;
    for (auto frame = site.frames.rbegin(); frame != site.frames.rend(); ++frame) {
      std::string call = base::plain_line(fact::text_of(*frame));
      std::replace(call.begin(), call.end(), ';', ':');
      line += (line.empty() ? "" : ";") + call;
    }
    if (line.empty()) line = fact::place_of(site.frames);
    text += line + " " + std::to_string(site.bytes) + "\n";
  }
  return text;
}

std::string pprof_file(const SiteRows& sites) {
  Tables tables;
  Message profile;
  profile.bytes(1, value_type(tables, "live", "bytes").text());
  profile.bytes(1, value_type(tables, std::string("growth_per_") + sites.per_long, "bytes").text());
  for (const SiteRow& site : sites.rows) {
    Message sample;
    std::vector<std::uint64_t> locations;
    for (const fact::SiteFrame& frame : site.frames)
      locations.push_back(tables.location(frame));
    const double growth = std::max(site.growth_long.value_or(0), 0.0);
    sample.numbers(1, locations);
    sample.numbers(2, {site.bytes, static_cast<std::uint64_t>(growth)});
    profile.bytes(2, sample.text());
  }
  profile.number(14, tables.string("live"));
  return gzip_of(profile.text() + tables.text());
}

base::Status write_site_files(const SiteRows& sites, const std::string& pprof,
                              const std::string& collapsed) {
  if (!pprof.empty()) {
    if (const auto written = base::write_file_atomically(pprof, pprof_file(sites)); !written)
      return written;
  }
  if (collapsed.empty()) return {};
  return base::write_file_atomically(collapsed, collapsed_stacks(sites));
}

base::Status write_site_files(const story::SitesStory& sites, const std::string& run,
                              const std::string& pprof, const std::string& collapsed) {
  if (pprof.empty() && collapsed.empty()) return {};
  if (!sites.sampling) {
    return base::error(base::Code::bad_input,
                       "run '%s' has no sites, expected one whose allocations were sampled",
                       run.c_str());
  }
  return write_site_files(rows_of(sites), pprof, collapsed);
}

}  // namespace ebb::show
