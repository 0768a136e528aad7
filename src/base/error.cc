// SPDX-License-Identifier: Apache-2.0
#include "takt/base/error.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace takt {
namespace {

constexpr std::array<CodeNames, 10> kCodeNames{{
    {Code::kInvalid, "invalid_argument", 400, 3, "INVALID_PARAMETER_VALUE", 2},
    {Code::kUnauthenticated, "unauthenticated", 401, 16, "UNAUTHENTICATED", 3},
    {Code::kDenied, "permission_denied", 403, 7, "PERMISSION_DENIED", 3},
    {Code::kNotFound, "not_found", 404, 5, "RESOURCE_DOES_NOT_EXIST", 4},
    {Code::kConflict, "conflict", 409, 6, "RESOURCE_CONFLICT", 5},
    {Code::kTooLarge, "too_large", 413, 8, "INVALID_PARAMETER_VALUE", 2},
    {Code::kExhausted, "resource_exhausted", 429, 8, "RESOURCE_EXHAUSTED", 6},
    {Code::kInternal, "internal", 500, 13, "INTERNAL_ERROR", 70},
    {Code::kUnavailable, "unavailable", 503, 14, "TEMPORARILY_UNAVAILABLE", 69},
    {Code::kTimeout, "deadline_exceeded", 504, 4, "TEMPORARILY_UNAVAILABLE", 75},
}};

Code code_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ESRCH:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kDenied;
    case EEXIST:
    case ENOTEMPTY:
    case EBUSY:
    case EADDRINUSE:
      return Code::kConflict;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::kExhausted;
    case EFBIG:
    case E2BIG:
      return Code::kTooLarge;
    case EINVAL:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case EXDEV:
    case ENAMETOOLONG:
    case ENOEXEC:
      return Code::kInvalid;
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EPIPE:
      return Code::kUnavailable;
    case ETIMEDOUT:
      return Code::kTimeout;
    default:
      return Code::kInternal;
  }
}

}  // namespace

const CodeNames& code_names(Code code) {
  for (const CodeNames& names : kCodeNames) {
    if (names.code == code) return names;
  }
  TAKT_CHECK(false, "a code without names");
}

Code code_from_name(std::string_view name) {
  for (const CodeNames& names : kCodeNames) {
    if (names.name == name) return names.code;
  }
  return Code::kInternal;
}

std::string Error::text() const { return hint.empty() ? message : message + "; " + hint; }

void check_failed(const char* condition, std::string_view message, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  std::fflush(nullptr);
  std::abort();
}

Error errno_error(std::string_view doing, int error_number) {
  std::string message(doing);
  message += ": ";
  message += std::generic_category().message(error_number);
  return Error{code_of_errno(error_number), std::move(message), {}, {}};
}

}  // namespace takt
