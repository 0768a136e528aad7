// SPDX-License-Identifier: Apache-2.0
#include "takt/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace takt {
namespace {

constexpr Code kAllCodes[] = {
    Code::kInvalid,  Code::kUnauthenticated, Code::kDenied,   Code::kNotFound,    Code::kConflict,
    Code::kTooLarge, Code::kExhausted,       Code::kInternal, Code::kUnavailable, Code::kTimeout};

TEST(ErrorTest, EveryCodeHasItsNamesAndComesBackByName) {
  std::set<std::string_view> names;
  for (const Code code : kAllCodes) {
    const CodeNames& row = code_names(code);
    EXPECT_EQ(row.code, code);
    EXPECT_EQ(code_from_name(row.name), code) << row.name;
    EXPECT_GE(row.http_status, 400);
    EXPECT_LT(row.http_status, 600);
    EXPECT_GT(row.exit_code, 0);
    EXPECT_FALSE(row.mlflow.empty());
    names.insert(row.name);
  }
  EXPECT_EQ(names.size(), std::size(kAllCodes));
}

TEST(ErrorTest, NamesAreStable) {
  EXPECT_EQ(code_names(Code::kInvalid).name, "invalid_argument");
  EXPECT_EQ(code_names(Code::kNotFound).name, "not_found");
  EXPECT_EQ(code_names(Code::kNotFound).http_status, 404);
  EXPECT_EQ(code_names(Code::kNotFound).mlflow, "RESOURCE_DOES_NOT_EXIST");
  EXPECT_EQ(code_names(Code::kNotFound).grpc_status, 5);
  EXPECT_EQ(code_names(Code::kNotFound).exit_code, 4);
  EXPECT_EQ(code_from_name("no such code"), Code::kInternal);
}

TEST(ErrorTest, TextJoinsMessageAndHint) {
  EXPECT_EQ((Error{Code::kInvalid, "a is wrong", "write b", {}}).text(), "a is wrong; write b");
  EXPECT_EQ((Error{Code::kInvalid, "a is wrong", {}, {}}).text(), "a is wrong");
  const Error error = Error{Code::kInvalid, "a", {}, {}}.with_hint("b").with_field("spec.c");
  EXPECT_EQ(error.hint, "b");
  EXPECT_EQ(error.field, "spec.c");
}

TEST(ErrorTest, WhilePutsContextBefore) {
  const Result<int> result = Result<int>(fail(Code::kNotFound, "no file", "make one"))
                                 .transform_error(while_("loading x"));
  EXPECT_EQ(result.error().message, "loading x: no file");
  EXPECT_EQ(result.error().hint, "make one");
}

Result<int> half_of(int number) {
  if (number % 2 != 0) return fail(Code::kInvalid, "odd");
  return number / 2;
}

Result<int> quarter_of(int number) {
  TAKT_ASSIGN(const int half, half_of(number));
  TAKT_RETURN_IF_ERROR(half_of(half));
  return half / 2;
}

TEST(ErrorTest, MacrosReturnTheFirstError) {
  EXPECT_EQ(quarter_of(8).value(), 2);
  EXPECT_EQ(quarter_of(6).error().message, "odd");
  EXPECT_EQ(quarter_of(5).error().message, "odd");
}

TEST(ErrorTest, SystemErrorsGetTheirCode) {
  const Error error = errno_error("opening /x", ENOENT);
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_EQ(error.message, "opening /x: No such file or directory");
  EXPECT_EQ(errno_error("", EACCES).code, Code::kDenied);
  EXPECT_EQ(errno_error("", EEXIST).code, Code::kConflict);
  EXPECT_EQ(errno_error("", ENOSPC).code, Code::kExhausted);
  EXPECT_EQ(errno_error("", ETIMEDOUT).code, Code::kTimeout);
  EXPECT_EQ(errno_error("", ECONNREFUSED).code, Code::kUnavailable);
  EXPECT_EQ(errno_error("", EIO).code, Code::kInternal);
}

TEST(ErrorDeathTest, ChecksAbortWithTheirPlace) {
  EXPECT_DEATH(TAKT_CHECK(1 == 2, "numbers differ"), "error_test.cc.*1 == 2: numbers differ");
}

}  // namespace
}  // namespace takt
