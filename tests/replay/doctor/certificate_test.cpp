// SPDX-License-Identifier: Apache-2.0
// The checker itself: it accepts what the doctor proves, and nothing that was tampered with.
#include <gtest/gtest.h>

#include "replay/doctor/certificate_checker.h"
#include "replay/doctor/certificate_replay.h"
#include "replay/doctor/doctor_patient.h"

namespace ebb::replay {
namespace {

using base::Json;

Json with(Json object, const char* key, Json value) {
  return std::move(object.set(key, std::move(value)));
}

/// The certificate with another list under `key`.
template <class Change>
Json with_list(const Json& evidence, const char* key, Change&& change) {
  Json::Array items = *evidence.find(key)->as_array();
  change(items);
  return with(evidence, key, Json(items));
}

std::uint64_t number(const Json& object, const char* key) {
  return *object.find(key)->as_unsigned();
}

/// Number `part` of a line [name, bytes, offset], with a difference.
Json changed(const Json& line, std::size_t part, std::int64_t by) {
  Json::Array parts = *line.as_array();
  parts[part] = Json(*parts[part].as_int() + by);
  return Json(parts);
}

constexpr std::uint64_t kCertificateLimit = kGiB;

/// A job that fails with a certificate of live blocks.
struct Full {
  Full() : job({.limit = kCertificateLimit}) {
    job.take_all(3, 300 * kMiB);
    job.give(job.take(10 * kMiB));
    job.refuse(200 * kMiB);
    snapshot = job.snapshot();
    evidence = examine(snapshot, kCertificateLimit).evidence;
  }
  std::string verdict_on(const Json& certificate) const {
    return why_rejected(snapshot, 0, certificate);
  }
  Patient job;
  trace::Snapshot snapshot;
  Json evidence;
};

TEST(LiveSetChecker, RejectsWhatWasTamperedWith) {
  const Full full;
  ASSERT_EQ(*full.evidence.find("kind")->as_string(), "live_set");
  EXPECT_EQ(full.verdict_on(full.evidence), "");
  const auto with_blocks = [&](auto&& change) {
    return full.verdict_on(with_list(full.evidence, "blocks", change));
  };
  EXPECT_EQ(with_blocks([](Json::Array& all) { all.pop_back(); }),
            "the blocks do not add up to the live bytes");
  EXPECT_NE(with_blocks([](Json::Array& all) { all.push_back(all.front()); }), "");
  EXPECT_NE(with_blocks([](Json::Array& all) { all[0] = changed(all[0], 1, 512); }), "");
  EXPECT_NE(with_blocks([](Json::Array& all) { all[0] = changed(all[0], 1, -512); }), "");
  EXPECT_NE(with_blocks([](Json::Array& all) { all[0] = changed(all[0], 0, 100000); }), "");
  EXPECT_NE(with_blocks([](Json::Array& all) { all[0] = Json("block"); }), "");
  EXPECT_NE(with_blocks([](Json::Array& all) { all.back() = changed(all.back(), 1, 512); }), "")
      << "no request larger than it was";
  const std::uint64_t live = number(full.evidence, "live_bytes");
  EXPECT_NE(full.verdict_on(with(full.evidence, "live_bytes", live - 512)), "");
  EXPECT_EQ(full.verdict_on(with(full.evidence, "limit_bytes", live)),
            "what is live fits below the limit");
  EXPECT_NE(full.verdict_on(with(full.evidence, "event", 0)), "") << "most came later";
  EXPECT_NE(full.verdict_on(with(full.evidence, "kind", "other")), "");
  EXPECT_NE(full.verdict_on(Json()), "");
}

TEST(LiveSetChecker, RejectsABlockThatWasFreedBefore) {
  const Full full;
  std::int64_t freed = -1;
  const auto& events = full.snapshot.traces[0];
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].action == trace::Action::alloc && events[i].size == 10 * kMiB) {
      freed = static_cast<std::int64_t>(i);
    }
  }
  Json certificate = with_list(full.evidence, "blocks", [&](Json::Array& all) {
    all.push_back(Json::array({freed, 10 * kMiB}));
  });
  certificate.set("live_bytes", number(full.evidence, "live_bytes") + 10 * kMiB);
  EXPECT_EQ(full.verdict_on(certificate), "block " + std::to_string(freed) + " is not live then");
}

TEST(LiveSetChecker, KnowsThatAFailedRequestIsRecordedAsRounded) {
  Patient job({.conf = "roundup_power2_divisions:2", .limit = 100 * kMiB});
  job.take(40 * kMiB);
  job.refuse(65 * kMiB);  // recorded as 96 MiB, and at least 64.0005
  const trace::Snapshot snapshot = job.snapshot();
  const Json evidence = examine(snapshot, 100 * kMiB).evidence;
  ASSERT_EQ(*evidence.find("kind")->as_string(), "live_set");
  Json larger = with_list(evidence, "blocks",
                          [](Json::Array& all) { all.back() = changed(all.back(), 1, 512); });
  larger.set("live_bytes", number(evidence, "live_bytes") + 512);
  EXPECT_NE(why_rejected(snapshot, 0, larger), "");
}

TEST(PackingChecker, RejectsWhatWasTamperedWith) {
  Patient job({.limit = kCertificateLimit});
  job.give(job.take(400 * kMiB));
  const std::vector<Address> quarters = job.take_all(4, 100 * kMiB);
  job.take_all(2, 300 * kMiB);
  job.give(quarters[0]);
  job.give(quarters[2]);
  job.refuse(150 * kMiB);
  const trace::Snapshot snapshot = job.snapshot();
  const Json evidence = examine(snapshot, kCertificateLimit).evidence;
  ASSERT_EQ(*evidence.find("kind")->as_string(), "packing");
  EXPECT_EQ(why_rejected(snapshot, 0, evidence), "");
  const auto with_blocks = [&](auto&& change) {
    return why_rejected(snapshot, 0, with_list(evidence, "blocks", change));
  };
  EXPECT_EQ(with_blocks([](Json::Array& all) { all.pop_back(); }),
            "a block of the recording is missing");
  EXPECT_NE(with_blocks([](Json::Array& all) { all.push_back(all.front()); }), "");
  EXPECT_NE(with_blocks([](Json::Array& all) { all[1] = changed(all[1], 1, -512); }), "");
  const std::size_t lines = evidence.find("blocks")->as_array()->size();
  for (std::size_t i = 0; i < lines; ++i) {
    EXPECT_NE(with_blocks([&](Json::Array& all) {
                all[i] = changed(all[i], 2, static_cast<std::int64_t>(kCertificateLimit));
              }),
              "")
        << "line " << i << " sticks out";
  }
  std::size_t moved = 0;
  for (std::size_t i = 1; i < lines; ++i) {
    // The long-lived ones cannot all lie at the bottom.
    const std::string why = with_blocks([&](Json::Array& all) {
      all[i] = Json::array({(*all[i].as_array())[0], (*all[i].as_array())[1], 0});
    });
    if (why.ends_with("overlaps another")) ++moved;
  }
  EXPECT_GE(moved, 3U);
  EXPECT_EQ(why_rejected(snapshot, 0, with(evidence, "height_bytes", 2 * kCertificateLimit)),
            "higher than the limit");
  const std::uint64_t height = number(evidence, "height_bytes");
  EXPECT_NE(why_rejected(snapshot, 0, with(evidence, "height_bytes", height - 512)), "");
  EXPECT_NE(why_rejected(snapshot, 0, with(evidence, "limit_bytes", height - 512)), "");
}

TEST(ReplayChecker, RejectsWhatWasTamperedWith) {
  Patient job({.conf = "roundup_power2_divisions:2", .limit = 800 * kMiB});
  job.take_all(8, 65 * kMiB);
  job.refuse(65 * kMiB);
  const trace::Snapshot snapshot = job.snapshot();
  const Json evidence = examine(snapshot, 800 * kMiB).evidence;
  ASSERT_EQ(*evidence.find("kind")->as_string(), "replay");
  const Json row = *evidence.find("row");
  const auto replayed = [&](const char* key, Json value) {
    return why_not_replayed(snapshot, 0, 800 * kMiB,
                            with(evidence, "row", with(row, key, std::move(value))));
  };
  EXPECT_EQ(replayed("conf", ""), "");
  EXPECT_EQ(replayed("conf", "roundup_power2_divisions:2"), "it runs out of memory");
  EXPECT_EQ(replayed("limit_bytes", 600 * kMiB), "it runs out of memory");
  EXPECT_NE(replayed("peak_reserved_bytes", number(row, "peak_reserved_bytes") + 512), "");
  EXPECT_NE(why_rejected(snapshot, 0, with(evidence, "row", with(row, "oom", 1))), "");
  EXPECT_NE(why_rejected(snapshot, 0, with(evidence, "row", Json())), "");
}

TEST(LedgerChecker, RejectsWhatWasTamperedWith) {
  Patient job;
  job.take_all(4, 100 * kMiB);
  job.give(job.take(30 * kMiB));
  const trace::Snapshot snapshot = job.snapshot();
  const Json evidence = examine(snapshot).evidence;
  ASSERT_EQ(*evidence.find("kind")->as_string(), "ledger");
  const Json ledger = *evidence.find("ledger");
  for (const auto& [key, value] : *ledger.as_object()) {
    const Json more = with(ledger, key.c_str(), *value.as_unsigned() + 512);
    EXPECT_EQ(why_rejected(snapshot, 0, with(evidence, "ledger", more)), "the parts do not add up");
  }
  Json both = with(ledger, "reserved_bytes", number(ledger, "reserved_bytes") + 512);
  both.set("cached_bytes", number(ledger, "cached_bytes") + 512);
  EXPECT_EQ(why_rejected(snapshot, 0, with(evidence, "ledger", both)),
            "another amount was reserved");
  Json shifted = with(ledger, "needed_bytes", number(ledger, "needed_bytes") - 512);
  shifted.set("cached_bytes", number(ledger, "cached_bytes") + 512);
  EXPECT_EQ(why_rejected(snapshot, 0, with(evidence, "ledger", shifted)),
            "another amount was needed");
  EXPECT_NE(why_rejected(snapshot, 0, with(evidence, "event", 0)), "");
}

TEST(GrowthChecker, RejectsWhatWasTamperedWith) {
  Patient job;
  job.take(100 * kMiB);
  for (int step = 0; step < 10; ++step) {
    healthy_step(job);
    job.take(4 * kMiB);
  }
  const trace::Snapshot snapshot = job.snapshot();
  const Json evidence = examine(snapshot).evidence;
  ASSERT_EQ(*evidence.find("kind")->as_string(), "growth");
  EXPECT_EQ(why_rejected(snapshot, 0, evidence), "");
  for (const char* key :
       {"steps_begin_with_events", "live_bytes_at_steps", "kept_bytes_of_steps"}) {
    for (const std::size_t at : {0U, 3U}) {
      EXPECT_NE(why_rejected(snapshot, 0,
                             with_list(evidence, key,
                                       [&](Json::Array& all) {
                                         all[at] = Json(*all[at].as_unsigned() + 16);
                                       })),
                "")
          << key;
    }
    EXPECT_NE(why_rejected(snapshot, 0,
                           with_list(evidence, key, [](Json::Array& all) { all.pop_back(); })),
              "")
        << key;
  }
  EXPECT_NE(why_rejected(snapshot, 0, with(evidence, "bytes_per_step", 5 * kMiB)), "");
}

}  // namespace
}  // namespace ebb::replay
