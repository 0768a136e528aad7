// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "takt/net/http.h"
#include "takt/net/internal/route_table.h"
#include "takt/net/internal/target.h"

namespace takt::net {
namespace {

Handler nothing() {
  return [](Request&) -> Result<Response> { return Response::empty(); };
}

struct RouterTest : ::testing::Test {
  RouterTest() {
    for (const char* pattern : {"/", "/jobs", "/jobs/{job}", "/jobs/{n}/log", "/jobs/mine",
                                "/files/{path...}", "/files/{name}/stat"}) {
      router.add(Method::kGet, pattern, nothing());
    }
    router.add(Method::kPost, "/jobs", nothing());
    router.add(Method::kDelete, "/jobs/{job}", nothing());
  }
  std::string find(Method method, std::string_view path) {
    auto match = internal::find_route(router.impl().root, method, path);
    if (match.route == nullptr)
      return match.allowed == 0 ? "none" : internal::allow_header(match.allowed);
    std::string text = match.route->pattern;
    for (std::string_view value : match.values) text += " " + std::string(value);
    return text;
  }
  Router router;
};

TEST_F(RouterTest, literals_win_over_parameters_and_parameters_over_the_rest) {
  EXPECT_EQ(find(Method::kGet, "/"), "/");
  EXPECT_EQ(find(Method::kGet, "/jobs"), "/jobs");
  EXPECT_EQ(find(Method::kGet, "/jobs/7"), "/jobs/{job} 7");
  EXPECT_EQ(find(Method::kGet, "/jobs/mine"), "/jobs/mine");
  EXPECT_EQ(find(Method::kGet, "/jobs/mine/log"), "/jobs/{n}/log mine");
  EXPECT_EQ(find(Method::kGet, "/files/a"), "/files/{path...} a");
  EXPECT_EQ(find(Method::kGet, "/files/a/b/c"), "/files/{path...} a/b/c");
  EXPECT_EQ(find(Method::kGet, "/files/a/stat"), "/files/{name}/stat a");
}

TEST_F(RouterTest, other_spellings_do_not_reach_a_route) {
  for (const char* path : {"/jobs/", "//jobs", "/jobs//log", "/./jobs", "/jobs/..", "/jobs/.",
                           "/Jobs", "/%6aobs", "/jobs/7/log/", "/files/", "/jobs/7%2Flog/"}) {
    EXPECT_EQ(find(Method::kGet, path), "none") << path;
  }
  EXPECT_EQ(find(Method::kGet, "/jobs/7%2Flog"), "/jobs/{job} 7%2Flog");
}

TEST_F(RouterTest, head_is_get_and_a_wrong_method_names_the_right_ones) {
  EXPECT_EQ(find(Method::kHead, "/jobs"), "/jobs");
  EXPECT_EQ(find(Method::kPut, "/jobs"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(find(Method::kDelete, "/jobs/mine"), "/jobs/{job} mine");
  EXPECT_EQ(find(Method::kPost, "/jobs/7/log"), "GET, HEAD, OPTIONS");
}

TEST_F(RouterTest, routes_are_listed_in_the_order_of_registration) {
  auto routes = router.routes();
  ASSERT_EQ(routes.size(), 9u);
  EXPECT_EQ(routes[7].pattern, "/jobs");
  EXPECT_EQ(routes[7].method, Method::kPost);
}

TEST(TargetTest, the_query_is_decoded_and_plus_is_a_space_only_there) {
  Request request;
  ASSERT_TRUE(internal::parse_target("/a+b%20c?x=1+2&y=%26&x=3&z", request));
  EXPECT_EQ(request.path, "/a+b%20c");
  EXPECT_EQ(request.query_param("x"), "1 2");
  EXPECT_EQ(request.query_params("x").size(), 2u);
  EXPECT_EQ(request.query_param("y"), "&");
  EXPECT_EQ(request.query_param("z"), "");
}

TEST(TargetTest, what_can_be_read_in_two_ways_is_refused) {
  for (const char* target :
       {"/%00", "/%", "/%2", "/%zz", "/a?x=%0", "http://a/b", "*", "", "/a#b", "/a\\b", "/a\x7f"}) {
    Request request;
    Status status = internal::parse_target(target, request);
    ASSERT_FALSE(status) << target;
    EXPECT_EQ(status.error().code, Code::kInvalid) << target;
  }
  Request request;
  EXPECT_EQ(internal::parse_target("/" + std::string(5000, 'a'), request).error().code,
            Code::kTooLarge);
}

TEST(TextTest, percent_encoding_goes_both_ways) {
  EXPECT_EQ(percent_encode("a b/c+ä"), "a%20b%2Fc%2B%C3%A4");
  EXPECT_EQ(percent_encode("a/b", true), "a/b");
  EXPECT_EQ(percent_decode("a%20b%2Fc+%c3%A4").value(), "a b/c+ä");
  EXPECT_EQ(percent_decode("%41").value(), "A");
}

TEST(TextTest, an_event_frame_has_one_data_field_a_line) {
  EXPECT_EQ(sse_frame("job", "7", "a\nb"), "event: job\nid: 7\ndata: a\ndata: b\n\n");
  EXPECT_EQ(sse_frame("a\nb", "", ""), "event: ab\ndata: \n\n");
}

TEST(HeadersTest, names_compare_without_case_and_set_replaces_all) {
  Headers headers;
  headers.add("X-A", "1");
  headers.add("x-a", "2");
  headers.set("X-a", "3");
  EXPECT_EQ(headers.items().size(), 1u);
  EXPECT_EQ(headers.get("x-A"), "3");
  EXPECT_FALSE(headers.has("X-B"));
}

TEST(RequestTest, json_demands_its_content_type_and_an_object) {
  Request request;
  request.body = "{\"a\": 1}";
  EXPECT_FALSE(request.json());
  request.headers.set("Content-Type", "text/plain");
  EXPECT_FALSE(request.json());
  request.headers.set("Content-Type", "application/json; charset=utf-8");
  EXPECT_TRUE(request.json());
  request.body = "[1]";
  EXPECT_FALSE(request.json());
}

}  // namespace
}  // namespace takt::net
