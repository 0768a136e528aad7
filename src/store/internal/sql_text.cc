// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/sql_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace takt::store::internal {
namespace {

enum class TokenKind { kSpace, kWord, kQuoted, kString, kNumber, kParameter, kSymbol };

struct Token {
  TokenKind kind;
  std::string_view text;
};

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

template <class Predicate>
std::size_t end_of_run(std::string_view sql, std::size_t i, Predicate belongs) {
  while (i < sql.size() && belongs(sql[i])) ++i;
  return i;
}

/// The end of a quoted thing that starts at `i`; a doubled quote stands for itself.
std::size_t end_of_quotes(std::string_view sql, std::size_t i) {
  const char quote = sql[i++];
  while (i < sql.size()) {
    if (sql[i] != quote) {
      ++i;
    } else if (i + 1 < sql.size() && sql[i + 1] == quote) {
      i += 2;
    } else {
      return i + 1;
    }
  }
  return sql.size();
}

Token next_token(std::string_view sql, std::size_t i) {
  const char c = sql[i];
  const auto until = [&](TokenKind kind, std::size_t end) {
    return Token{kind, sql.substr(i, end - i)};
  };
  const auto is_space = [](char s) { return std::isspace(static_cast<unsigned char>(s)) != 0; };
  if (is_space(c)) return until(TokenKind::kSpace, end_of_run(sql, i, is_space));
  if (sql.substr(i, 2) == "--") {
    return until(TokenKind::kSpace, std::min(sql.find('\n', i), sql.size()));
  }
  if (sql.substr(i, 2) == "/*") {
    const std::size_t end = sql.find("*/", i + 2);
    return until(TokenKind::kSpace, end == std::string_view::npos ? sql.size() : end + 2);
  }
  if (c == '\'') return until(TokenKind::kString, end_of_quotes(sql, i));
  if (c == '"') return until(TokenKind::kQuoted, end_of_quotes(sql, i));
  if (c == '?') return until(TokenKind::kParameter, end_of_run(sql, i + 1, is_digit_char));
  if (is_digit_char(c)) return until(TokenKind::kNumber, end_of_run(sql, i, is_word_char));
  if (is_word_char(c)) return until(TokenKind::kWord, end_of_run(sql, i, is_word_char));
  return until(TokenKind::kSymbol, i + 1);
}

std::vector<Token> tokenize(std::string_view sql) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < sql.size(); i += tokens.back().text.size()) {
    tokens.push_back(next_token(sql, i));
  }
  return tokens;
}

bool is_word(const Token* token, std::string_view upper) {
  return token != nullptr && token->kind == TokenKind::kWord &&
         std::ranges::equal(token->text, upper, [](char a, char b) {
           return std::toupper(static_cast<unsigned char>(a)) == b;
         });
}

bool is_symbol(const Token* token, char symbol) {
  return token != nullptr && token->kind == TokenKind::kSymbol && token->text[0] == symbol;
}

/// The token `steps` significant ones after `i`, or null.
const Token* ahead(const std::vector<Token>& tokens, std::size_t i, int steps) {
  for (++i; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kSpace && --steps == 0) return &tokens[i];
  }
  return nullptr;
}

std::size_t parameter_number(const Token& token) {
  std::size_t number = 0;
  std::from_chars(token.text.data() + 1, token.text.data() + token.text.size(), number);
  return number;
}

std::optional<std::string_view> mapped_type(const Token& token) {
  if (is_word(&token, "INTEGER")) return "BIGINT";
  if (is_word(&token, "REAL")) return "DOUBLE PRECISION";
  if (is_word(&token, "BLOB")) return "BYTEA";
  return std::nullopt;
}

/// Notices the type word of `CAST(… AS type)`.
class CastTracker {
 public:
  /// True when this token is that type.
  bool is_type(const Token& token) {
    if (type_next_) {
      type_next_ = false;
      return true;
    }
    if (is_symbol(&token, '(')) parens_.push_back(cast_next_);
    if (is_symbol(&token, ')') && !parens_.empty()) parens_.pop_back();
    type_next_ = is_word(&token, "AS") && !parens_.empty() && parens_.back();
    cast_next_ = is_word(&token, "CAST");
    return false;
  }

 private:
  std::vector<bool> parens_;  // opened by CAST?
  bool cast_next_ = false;
  bool type_next_ = false;
};

bool is_null_test(const std::vector<Token>& tokens, std::size_t i) {
  if (!is_word(ahead(tokens, i, 1), "IS")) return false;
  return is_word(ahead(tokens, i, 2), "NULL") ||
         (is_word(ahead(tokens, i, 2), "NOT") && is_word(ahead(tokens, i, 3), "NULL"));
}

/// Walks a migration; knows whether it is inside a table's definition.
class SchemaTranslator {
 public:
  explicit SchemaTranslator(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::string translate() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == TokenKind::kSpace) {
        out_ += tokens_[i].text;
      } else {
        take(i);
        previous_ = &tokens_[i];
      }
    }
    return std::move(out_);
  }

 private:
  void take(std::size_t i) {
    const Token& token = tokens_[i];
    const bool is_cast_type = casts_.is_type(token);
    follow(i);
    if (is_table_option(token)) return;
    const bool is_column_type =
        defines_columns_ && previous_ != nullptr &&
        (previous_->kind == TokenKind::kWord || previous_->kind == TokenKind::kQuoted);
    if (is_column_type && is_word(&token, "TEXT") && !is_cast_type &&
        !is_word(ahead(tokens_, i, 1), "COLLATE")) {
      out_ += "TEXT COLLATE \"C\"";
      return;
    }
    const auto type = is_column_type || is_cast_type ? mapped_type(token) : std::nullopt;
    out_ += type.value_or(token.text);
    if (type == "BIGINT" && !is_cast_type && is_word(ahead(tokens_, i, 1), "PRIMARY")) {
      out_ += " GENERATED BY DEFAULT AS IDENTITY";
    }
  }

  void follow(std::size_t i) {
    const Token& token = tokens_[i];
    if (at_start_) {
      const bool is_create = is_word(&token, "CREATE");
      const bool is_table = is_word(ahead(tokens_, i, 1), "TABLE");
      defines_columns_ = is_table && (is_create || is_word(&token, "ALTER"));
      is_create_table_ = is_table && is_create;
      at_start_ = false;
    }
    if (is_symbol(&token, '(')) ++depth_;
    if (is_symbol(&token, ')')) --depth_;
    if (is_symbol(&token, ';') && depth_ == 0) {
      at_start_ = true;
      is_create_table_ = false;
      defines_columns_ = false;
    }
  }

  bool is_table_option(const Token& token) const {
    return is_create_table_ && depth_ == 0 &&
           (is_word(&token, "STRICT") || is_word(&token, "WITHOUT") || is_word(&token, "ROWID") ||
            is_symbol(&token, ','));
  }

  std::vector<Token> tokens_;
  std::string out_;
  CastTracker casts_;
  const Token* previous_ = nullptr;
  int depth_ = 0;
  bool at_start_ = true;
  bool is_create_table_ = false;
  bool defines_columns_ = false;
};

}  // namespace

std::size_t count_parameters(std::string_view sql) {
  std::size_t highest = 0;
  for (const Token& token : tokenize(sql)) {
    if (token.kind == TokenKind::kParameter) highest = std::max(highest, parameter_number(token));
  }
  return highest;
}

PostgresStatement to_postgres(std::string_view sql) {
  PostgresStatement result;
  result.used_elsewhere.resize(count_parameters(sql));
  const std::vector<Token> tokens = tokenize(sql);
  CastTracker casts;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    std::string text(token.text);
    std::string probe_text;
    if (token.kind != TokenKind::kSpace && casts.is_type(token)) {
      text = mapped_type(token).value_or(token.text);
    } else if (token.kind == TokenKind::kParameter) {
      text[0] = '$';
      if (is_null_test(tokens, i)) {
        result.has_null_tests = true;
        probe_text = "NULL";
      } else if (const std::size_t number = parameter_number(token); number > 0) {
        result.used_elsewhere[number - 1] = true;
      }
    }
    result.sql += text;
    result.probe += probe_text.empty() ? text : probe_text;
  }
  return result;
}

std::string to_postgres_schema(std::string_view script) {
  return SchemaTranslator(tokenize(script)).translate();
}

}  // namespace takt::store::internal
