// SPDX-License-Identifier: Apache-2.0
#include "trace/builder.h"

#include "trace/pickle_writer.h"

namespace ebb::trace::pickled {
namespace {

/// What a writer made, without the head and the end of a file.
std::string body(PickleWriter writer) {
  const std::string whole = std::move(writer).finish();
  return whole.substr(2, whole.size() - 3);
}

}  // namespace

std::string text(std::string_view value) {
  PickleWriter writer;
  writer.text(value);
  std::string out = body(std::move(writer));
  out.pop_back();  // not to be referred back to
  return out;
}

std::string number(std::int64_t value) {
  PickleWriter writer;
  writer.integer(value);
  return body(std::move(writer));
}

std::string pair(std::int64_t first, std::int64_t second) {
  return number(first) + number(second) + "\x86";
}

std::string list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const std::string& item : items) {
    out += item;
  }
  return out + "e";
}

std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out = "}(";
  for (const auto& [key, value] : items) {
    out += text(key) + value;
  }
  return out + "u";
}

std::string block(std::uint64_t address, std::uint64_t size, std::string_view state) {
  return dict({{"address", number(static_cast<std::int64_t>(address))},
               {"size", number(static_cast<std::int64_t>(size))},
               {"requested_size", number(static_cast<std::int64_t>(size))},
               {"state", text(state)},
               {"frames", "]"}});
}

std::string segment(std::uint64_t address, std::uint64_t size,
                    const std::vector<std::string>& blocks) {
  return dict({{"device", number(0)},
               {"address", number(static_cast<std::int64_t>(address))},
               {"total_size", number(static_cast<std::int64_t>(size))},
               {"stream", number(0)},
               {"segment_type", text("large")},
               {"segment_pool_id", pair(0, 0)},
               {"is_expandable", "\x89"},
               {"blocks", list(blocks)}});
}

std::string event(std::string_view action, std::uint64_t address, std::uint64_t size) {
  return dict(
      {{"action", text(action)},
       {action == "oom" ? "device_free" : "addr", number(static_cast<std::int64_t>(address))},
       {"size", number(static_cast<std::int64_t>(size))},
       {"stream", number(0)}});
}

std::string snapshot(const std::vector<std::string>& segments,
                     const std::vector<std::string>& events) {
  return dict({{"segments", list(segments)}, {"device_traces", list({list(events)})}});
}

std::string file(std::string_view value) {
  return "\x80\x04" + std::string(value) + ".";
}

}  // namespace ebb::trace::pickled
