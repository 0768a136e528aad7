// SPDX-License-Identifier: Apache-2.0
// Expected failures: one value type, ten stable codes, and the one table that names them on every
// wire.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace takt {

/// The kinds of failure a caller can act on. The names on the wires stand in `code_names`.
enum class Code {
  kInvalid,          // the input is wrong; changing it helps
  kUnauthenticated,  // no or wrong credentials
  kDenied,           // known, but not allowed
  kNotFound,
  kConflict,   // exists already, or the state does not allow it
  kTooLarge,   // over a named limit
  kExhausted,  // quota, queue or disk full
  kInternal,   // our fault, or a broken store
  kUnavailable,
  kTimeout,
};

/// How a code is called by each protocol.
struct CodeNames {
  Code code;
  std::string_view name;    // takt's own API: "not_found"
  int http_status;          // 404
  int grpc_status;          // 5
  std::string_view mlflow;  // "RESOURCE_DOES_NOT_EXIST"
  int exit_code;            // of the command line
};
const CodeNames& code_names(Code code);
/// The code with that API name; kInternal for an unknown one.
Code code_from_name(std::string_view name);

/// An expected failure. `message` says what was wrong with which value; `hint` what to do.
struct [[nodiscard]] Error {
  Code code = Code::kInternal;
  std::string message;
  std::string hint;
  std::string field;  // path of the offending input field, "spec.resources.cpu"

  Error with_hint(std::string text) && {
    hint = std::move(text);
    return std::move(*this);
  }
  Error with_field(std::string path) && {
    field = std::move(path);
    return std::move(*this);
  }
  /// "message; hint", for logs and terminals.
  std::string text() const;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> fail(Code code, std::string message, std::string hint = {},
                                   std::string field = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(hint), std::move(field)});
}
inline std::unexpected<Error> fail(Error error) { return std::unexpected(std::move(error)); }

/// For `result.transform_error(while_("loading model x"))`: puts the context before the message.
inline auto while_(std::string what) {
  return [what = std::move(what)](Error error) {
    error.message = what + ": " + error.message;
    return error;
  };
}

/// Aborts with a message: for programmer errors only, never on user input.
[[noreturn]] void check_failed(const char* condition, std::string_view message, const char* file,
                               int line);

/// The error of a failed system call: "opening /x: No such file or directory".
Error errno_error(std::string_view doing, int error_number);

}  // namespace takt

#define TAKT_CHECK(condition, message)                 \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::takt::check_failed(#condition, message, __FILE__, __LINE__))

#define TAKT_CONCAT_(a, b) a##b
#define TAKT_CONCAT(a, b) TAKT_CONCAT_(a, b)
/// Returns the error of `expr` from this function, if it has one.
#define TAKT_RETURN_IF_ERROR(expr)                        \
  do {                                                    \
    if (auto status_ = (expr); !status_) [[unlikely]]     \
      return std::unexpected(std::move(status_).error()); \
  } while (false)
/// `TAKT_ASSIGN(auto value, compute())`: the value, or return the error.
#define TAKT_ASSIGN(target, expr) TAKT_ASSIGN_(TAKT_CONCAT(result_, __LINE__), target, expr)
#define TAKT_ASSIGN_(result, target, expr)             \
  auto result = (expr);                                \
  if (!result) [[unlikely]]                            \
    return std::unexpected(std::move(result).error()); \
  target = std::move(*result)
