// SPDX-License-Identifier: Apache-2.0
#include "serve/site.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "record/writer.h"
#include "support/temporary_directory.h"

namespace ebb::serve {
namespace {

/// A record with one run, whose name is no friend of HTML.
class SiteTest : public testing::Test {
 protected:
  SiteTest() {
    record::Run run;
    run.name = "</script><b>bold</b>";
    run.command = {"true"};
    run.started = 1'700'000'000;
    auto writer = record::Writer::begin(path(), run);
    EXPECT_TRUE(writer) << writer.error().message;
    run.ended = run.started + 10;
    run.exit_code = 0;
    run.ending = fact::RunEnd::exit;
    (*writer)->end(run);
  }

  std::string path() const { return folder_ / "runs.db"; }

  Answer got(const std::string& asked, const std::string& base = "/") const {
    Site site(path(), Guard("", {}), base);
    Request request;
    request.path = asked;
    request.host = "localhost";
    return site.answer(request);
  }

  support::TemporaryDirectory folder_;
};

bool holds(const Answer& answer, const std::string& part) {
  return answer.body.find(part) != std::string::npos;
}

TEST_F(SiteTest, ListsRunsWithLinks) {
  const Answer list = got("/");
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.type, "text/html; charset=utf-8");
  EXPECT_TRUE(holds(list, R"("path":"runs/1")")) << list.body;
  EXPECT_FALSE(holds(list, "<b>bold"));
  ASSERT_EQ(list.headers.size(), 1U);
  EXPECT_TRUE(list.headers[0].second.starts_with("default-src 'none'; script-src 'sha256-"));
  EXPECT_TRUE(list.headers[0].second.ends_with("; frame-ancestors 'none'"));
}

TEST_F(SiteTest, ShowsARunAndTellsItAsJson) {
  const Answer page = got("/runs/1");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(holds(page, "Run 1"));
  EXPECT_FALSE(holds(page, "<b>bold"));
  const Answer json = got("/runs/1/json");
  EXPECT_EQ(json.type, "application/json");
  const auto read = base::parse_json(json.body);
  ASSERT_TRUE(read) << json.body;
  EXPECT_NE(read->find("verdict"), nullptr);
  const auto list = base::parse_json(got("/runs/json").body);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->find("runs")->as_array()->size(), 1U);
}

TEST_F(SiteTest, APageHasItsDocumentAndItsEventsBesideIt) {
  for (const char* page : {"/", "/runs/1/"}) {
    const Answer document = got(std::string(page) + "document");
    EXPECT_EQ(document.type, "application/json");
    const auto read = base::parse_json(document.body);
    ASSERT_TRUE(read) << document.body;
    EXPECT_NE(read->find("title"), nullptr);
    const Answer events = got(std::string(page) + "events");
    EXPECT_EQ(events.type, "text/event-stream");
    EXPECT_TRUE(events.body.starts_with("data: ")) << events.body;
    EXPECT_EQ(events.topic, page[1] == '\0' ? "runs" : "runs/1");
  }
  EXPECT_EQ(got("/runs/2/events").status, 404);
  EXPECT_EQ(got("/runs/2/document").status, 404);
}

TEST_F(SiteTest, OnlyWhatGoesOnMayAskTheServer) {
  const auto policy = [&](const char* page) { return got(page).headers[0].second; };
  EXPECT_NE(policy("/").find("connect-src 'self'"), std::string::npos);
  EXPECT_EQ(policy("/runs/1").find("connect-src"), std::string::npos) << "it has ended";
}

TEST_F(SiteTest, HasMetrics) {
  const Answer metrics = got("/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_TRUE(holds(metrics, "ebb_build_info"));
  EXPECT_FALSE(holds(metrics, "run=")) << "it has ended";
}

TEST_F(SiteTest, HasNothingElse) {
  for (const char* path : {"/runs",
                           "/runs/",
                           "/runs/2x",
                           "/runs/-1",
                           "/runs/1/",
                           "/runs/1/json/",
                           "/runs/../1",
                           "/../runs.db",
                           "/%2e%2e/runs.db",
                           "//etc/passwd",
                           "/runs/18446744073709551616",
                           "/metrics/",
                           "/index.html",
                           "/runs/1,1",
                           "/runs/1,",
                           "/runs/,1",
                           "/runs/1,2",
                           "/runs/1,2,3,4,5,6,7,8,9",
                           "/runs/1/json/document",
                           "/document/",
                           "/runs/events",
                           "/runs/x/events",
                           "/plan/",
                           "/plan/events",
                           "/plan/json/",
                           "/plans",
                           "/snapshots",
                           "/snapshots/",
                           "/snapshots/1",
                           "/snapshots/1/events",
                           "/snapshots/1/document",
                           "/snapshots/../runs.db",
                           "/snapshots//etc/passwd",
                           "/snapshots/%2fetc%2fpasswd"})
    EXPECT_EQ(got(path).status, 404) << path;
  EXPECT_EQ(got("/runs/2").body, "no run 2 in the record\n");
  EXPECT_EQ(got("/runs/9223372036854775808").status, 404);
}

/// What a POST comes to, where it is not let in.
class SitePostTest : public SiteTest {
 protected:
  Answer posted(const std::string& path, const std::string& origin = "",
                const std::string& host = "localhost:7322", const std::string& token = "") {
    Site site(this->path(), Guard(token, {}), "/");
    Request request;
    request.is_post = true;
    request.path = path;
    request.query = "name=/etc/passwd";
    request.host = host;
    request.origin = origin;
    return site.post(request);
  }
};

TEST_F(SitePostTest, LetsSnapshotsInAndNothingElse) {
  EXPECT_TRUE(posted("/snapshots").taker);
  EXPECT_TRUE(posted("/snapshots", "http://localhost:7322").taker);
  for (const char* path : {"/", "/runs/1", "/runs/json", "/metrics", "/snapshots/", "/snapshots/1",
                           "/snapshots/etc/passwd", "//snapshots"}) {
    const Answer answer = posted(path);
    EXPECT_FALSE(answer.taker) << path;
    EXPECT_EQ(answer.status, 405) << path;
  }
  EXPECT_EQ(posted("/snapshots/1/stop").status, 404);
}

TEST_F(SitePostTest, RefusesPagesFromElsewhere) {
  for (const char* path : {"/snapshots", "/snapshots/1/stop"}) {
    for (const char* origin : {"http://evil.example", "null", "http://localhost",
                               "https://localhost:1", "http://localhost:7322.evil.example"})
      EXPECT_EQ(posted(path, origin).status, 403) << origin;
    EXPECT_EQ(posted(path, "http://evil.example", "evil.example").status, 403) << "rebound";
    EXPECT_EQ(posted(path, "", "localhost", "secret").status, 401);
  }
}

TEST_F(SiteTest, TheFirstPageTakesSnapshots) {
  EXPECT_TRUE(holds(got("/"), R"("path":"snapshots")"));
  Site site(path(), Guard("", {}), "/");
  ASSERT_TRUE(site.show_snapshots({EBB_TEST_DATA "/torch-2.11/vectors/ctx.pickle"}));
  Request request;
  request.host = "localhost";
  request.path = "/";
  EXPECT_TRUE(holds(site.answer(request), R"("path":"snapshots/1")"));
  request.path = "/snapshots/1";
  const Answer page = site.answer(request);
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(holds(page, "ctx.pickle"));
  EXPECT_TRUE(page.headers[0].second.ends_with("; frame-ancestors 'none'"));
  request.path = "/snapshots/1/document";
  EXPECT_EQ(site.answer(request).type, "application/json");
}

TEST_F(SiteTest, PlansAreAskedForByTheirAddress) {
  EXPECT_TRUE(holds(got("/"), R"("path":"plan")")) << "the first page leads there";
  Site site(path(), Guard("", {}), "/");
  Request request;
  request.host = "localhost";
  for (const char* asked : {"/plan", "/plan/document", "/plan/json"}) {
    request.path = asked;
    request.query = "kind=transformer&preset=gpt2";
    EXPECT_TRUE(site.answer(request).later) << asked << ": beside the other answers";
    request.query = "kind=transformer&preset=gpt2&measured=/etc/passwd";
    EXPECT_EQ(site.answer(request).status, 400) << asked;
    request.host = "evil.example";
    EXPECT_EQ(site.answer(request).status, 403) << asked;
    request.host = "localhost";
  }
}

TEST_F(SiteTest, StandsUnderAnotherPath) {
  EXPECT_EQ(got("/ebb/", "/ebb/").status, 200);
  EXPECT_EQ(got("/ebb/runs/1", "/ebb/").status, 200);
  EXPECT_EQ(got("/runs/1", "/ebb/").status, 200) << "a proxy may have taken it off";
  const Answer moved = got("/ebb", "/ebb/");
  EXPECT_EQ(moved.status, 303) << "links on the page are relative";
  EXPECT_EQ(moved.headers[0].second, "/ebb/");
}

TEST(Site, IsThereBeforeTheRecord) {
  const support::TemporaryDirectory folder;
  Request request;
  request.host = "localhost";
  request.path = "/";
  Site none(folder / "none.db", Guard("", {}), "/");
  EXPECT_NE(none.answer(request).body.find("Nothing is recorded yet"), std::string::npos);
  Site broken(folder.write("broken.db", std::string(4096, 'x')), Guard("", {}), "/");
  for (const char* path : {"/", "/runs/1", "/runs/json", "/metrics"}) {
    request.path = path;
    const Answer answer = broken.answer(request);
    EXPECT_EQ(answer.status, 503) << path;
    EXPECT_EQ(answer.body, "the record cannot be read\n") << "and no path of a file";
  }
}

}  // namespace
}  // namespace ebb::serve
