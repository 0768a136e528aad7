// SPDX-License-Identifier: Apache-2.0
// Checks on UTF-8 text from outside.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace takt {

/// Bytes of the well-formed UTF-8 character at the front of `text` (1–4), 0 when there is none.
std::size_t utf8_char_size(std::string_view text);
/// Offset of the first byte that is not UTF-8 (overlong forms and surrogates count as wrong).
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
/// Appends the code point as UTF-8.
void append_utf8(std::string& text, char32_t code_point);
/// At most `bytes_max` bytes of `text`, cut between characters, with "…" where something was cut.
std::string shorten(std::string_view text, std::size_t bytes_max);

}  // namespace takt
