// SPDX-License-Identifier: Apache-2.0
// parse_infer_json of json_tensor.h.
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "takt/serve/json_tensor.h"

namespace takt::serve {
namespace {

namespace json = simdjson::ondemand;

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);
constexpr std::size_t kTensorsMax = 1024;
constexpr std::size_t kTokenShownMax = 40;

std::unexpected<Error> bad_json(std::string message, std::string hint = {}) {
  return fail(Code::kInvalid, std::move(message), std::move(hint));
}

std::unexpected<Error> syntax_error(simdjson::error_code error) {
  return bad_json("request body is not valid JSON: " + std::string(simdjson::error_message(error)));
}

/// The element as sent, for messages.
std::string token_text(json::value& value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && std::string_view(" \t\r\n").contains(token.back()))
    token.remove_suffix(1);
  return std::string(token.substr(0, kTokenShownMax));
}

/// Reads the elements of one input's `data` into binary form.
class DataReader {
 public:
  DataReader(DataType type, std::int64_t count, std::size_t json_size)
      : type_(type), count_(count) {
    // The shape may claim more than the text can hold: two characters per element at least.
    const auto likely = std::min<std::size_t>(static_cast<std::size_t>(count), json_size / 2 + 1);
    bytes_.reserve(likely * std::max<std::size_t>(data_type_info(type).size, 8));
  }

  Status read(json::array array) { return read_level(array, 1); }
  std::int64_t elements() const { return elements_; }
  std::string take() { return std::move(bytes_); }

 private:
  Status read_level(json::array array, std::size_t depth) {
    if (depth > kRankMax)
      return bad_json("data is nested deeper than " + std::to_string(kRankMax) + " levels");
    for (auto item : array) {
      json::value value;
      if (const auto error = std::move(item).get(value)) return syntax_error(error);
      if (is_array(value)) {
        json::array inner;
        if (const auto error = value.get_array().get(inner)) return syntax_error(error);
        TAKT_RETURN_IF_ERROR(read_level(inner, depth + 1));
        continue;
      }
      if (elements_ == count_)
        return bad_json("more than " + std::to_string(count_) + " values given");
      TAKT_RETURN_IF_ERROR(read_element(value));
      ++elements_;
    }
    return {};
  }

  static bool is_array(json::value& value) {
    json::json_type type{};
    return value.type().get(type) == simdjson::SUCCESS && type == json::json_type::array;
  }

  Status read_element(json::value& value) {
    switch (type_) {
      case DataType::kBool:
        return read_bool(value);
      case DataType::kUint8:
        return read_integer<std::uint8_t>(value);
      case DataType::kUint16:
        return read_integer<std::uint16_t>(value);
      case DataType::kUint32:
        return read_integer<std::uint32_t>(value);
      case DataType::kUint64:
        return read_integer<std::uint64_t>(value);
      case DataType::kInt8:
        return read_integer<std::int8_t>(value);
      case DataType::kInt16:
        return read_integer<std::int16_t>(value);
      case DataType::kInt32:
        return read_integer<std::int32_t>(value);
      case DataType::kInt64:
        return read_integer<std::int64_t>(value);
      case DataType::kFp16:
        return read_half(value);
      case DataType::kBf16:
        return read_bfloat(value);
      case DataType::kFp32:
        return read_float(value);
      case DataType::kFp64:
        return read_double(value);
      case DataType::kBytes:
        return read_text(value);
    }
    return {};
  }

  std::unexpected<Error> refuse(json::value& value) const {
    const std::string token = token_text(value);
    const std::string lower = token.empty() ? "" : token.substr(token[0] == '-' ? 1 : 0, 3);
    std::string hint;
    if (lower == "NaN" || lower == "nan" || lower == "Inf" || lower == "inf")
      hint = "JSON has no NaN or Infinity; send this input as binary data (binary_data_size)";
    else if (type_ == DataType::kBytes)
      hint = "BYTES in JSON are texts; send other bytes as binary data (binary_data_size)";
    return bad_json("value " + std::to_string(elements_) + " is " + token + ", not a valid " +
                        std::string(data_type_info(type_).name),
                    std::move(hint));
  }

  template <class T>
  void append(T element) {
    bytes_.append(reinterpret_cast<const char*>(&element), sizeof element);
  }

  Status read_bool(json::value& value) {
    bool element = false;
    if (value.get_bool().get(element)) return refuse(value);
    append<std::uint8_t>(element ? 1 : 0);
    return {};
  }

  template <class T>
  Status read_integer(json::value& value) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    Wide wide = 0;
    if (value.get(wide) || !std::in_range<T>(wide)) return refuse(value);
    append(static_cast<T>(wide));
    return {};
  }

  Status read_double(json::value& value) {
    double element = 0;
    if (value.get_double().get(element)) return refuse(value);
    append(element);
    return {};
  }

  Status read_float(json::value& value) {
    double wide = 0;
    if (value.get_double().get(wide)) return refuse(value);
    const auto element = static_cast<float>(wide);
    if (std::isinf(element)) return refuse(value);
    append(element);
    return {};
  }

  Status read_half(json::value& value) {
    double wide = 0;
    if (value.get_double().get(wide)) return refuse(value);
    const std::uint16_t element = float_to_half(static_cast<float>(wide));
    if (std::isinf(half_to_float(element))) return refuse(value);
    append(element);
    return {};
  }

  Status read_bfloat(json::value& value) {
    double wide = 0;
    if (value.get_double().get(wide)) return refuse(value);
    const std::uint16_t element = float_to_bfloat(static_cast<float>(wide));
    if (std::isinf(bfloat_to_float(element))) return refuse(value);
    append(element);
    return {};
  }

  Status read_text(json::value& value) {
    std::string_view element;
    if (value.get_string().get(element)) return refuse(value);
    append_element(bytes_, element);
    return {};
  }

  DataType type_;
  std::int64_t count_;
  std::int64_t elements_ = 0;
  std::string bytes_;
};

// Objects are only ever walked once, forward: simdjson's look-ups by name are undefined behaviour
// on some malformed texts (found by fuzzing with 3.12).

Status read_text_field(json::value value, std::string_view key, std::string& out) {
  std::string_view text;
  if (value.get_string().get(text)) {
    return bad_json("field '" + std::string(key) + "' must be a string");
  }
  out = text;
  return {};
}

Status read_shape(json::value value, Shape& shape) {
  json::array array;
  if (value.get_array().get(array)) return bad_json("field 'shape' must be an array of integers");
  for (auto item : array) {
    std::int64_t size = 0;
    if (item.get_int64().get(size)) return bad_json("field 'shape' must be an array of integers");
    if (shape.size() == kRankMax) {
      return bad_json("field 'shape' has more than " + std::to_string(kRankMax) + " dimensions");
    }
    shape.push_back(size);
  }
  return {};
}

std::unexpected<Error> no_shared_memory() {
  return bad_json("parameter 'shared_memory_region' is not supported",
                  "send the tensor in the body; the server's metadata lists its extensions");
}

/// Reads one object of `inputs`. Its fields may come in any order: data that comes before its type
/// and shape is kept as text and parsed at the end.
class InputReader {
 public:
  InputReader(std::size_t json_size, NamedTensor& out) : json_size_(json_size), out_(out) {}

  Status read(json::object object) {
    for (auto item : object) {
      json::field field;
      if (const auto error = std::move(item).get(field)) return syntax_error(error);
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return syntax_error(error);
      TAKT_RETURN_IF_ERROR(read_field(key, field.value()));
    }
    return finish();
  }

 private:
  enum Field : unsigned { kName = 1, kType = 2, kShape = 4, kParameters = 8, kData = 16 };

  Status read_field(std::string_view key, json::value value) {
    const Field field = key == "name"         ? kName
                        : key == "datatype"   ? kType
                        : key == "shape"      ? kShape
                        : key == "parameters" ? kParameters
                        : key == "data"       ? kData
                                              : Field{};
    if (field == Field{}) return {};
    if (has(field)) return bad_json("field '" + std::string(key) + "' is given twice");
    seen_ |= field;
    switch (field) {
      case kName:
        return read_text_field(value, key, out_.name);
      case kType:
        return read_type(value);
      case kShape:
        return read_shape(value, out_.tensor.shape);
      case kParameters:
        return read_parameters(value);
      case kData:
        return has(kType) && has(kShape) ? read_data(value) : keep_data(value);
    }
    return {};
  }

  bool has(Field field) const { return (seen_ & field) != 0; }

  Status read_type(json::value value) {
    std::string name;
    TAKT_RETURN_IF_ERROR(read_text_field(value, "datatype", name));
    const auto type = find_data_type(name);
    if (!type) {
      return bad_json("datatype '" + name + "' is unknown",
                      "FP32, INT64, BYTES, ... as the protocol names them");
    }
    out_.tensor.type = *type;
    return {};
  }

  Status read_parameters(json::value value) {
    json::object parameters;
    if (value.get_object().get(parameters)) {
      return bad_json("field 'parameters' must be an object");
    }
    for (auto item : parameters) {
      json::field field;
      if (const auto error = std::move(item).get(field)) return syntax_error(error);
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return syntax_error(error);
      if (key == "shared_memory_region") return no_shared_memory();
      if (key != "binary_data_size") continue;
      std::uint64_t size = 0;
      if (field.value().get_uint64().get(size)) {
        return bad_json("parameter 'binary_data_size' must be a count of bytes");
      }
      out_.binary_bytes = size;
    }
    return {};
  }

  Status read_data(json::value value) {
    json::array array;
    if (value.get_array().get(array)) return bad_json("field 'data' must be an array");
    return read_array(array);
  }

  Status keep_data(json::value value) {
    if (const auto error = value.raw_json().get(kept_data_)) return syntax_error(error);
    return {};
  }

  /// Parses the kept text where it stands: what follows it in the body is its padding.
  Status read_kept_data() {
    static thread_local json::parser parser;
    const simdjson::padded_string_view padded(kept_data_.data(), kept_data_.size(),
                                              kept_data_.size() + kJsonPadding);
    json::document document;
    if (const auto error = parser.iterate(padded).get(document)) return syntax_error(error);
    json::array array;
    if (document.get_array().get(array)) return bad_json("field 'data' must be an array");
    return read_array(array);
  }

  Status read_array(json::array array) {
    TAKT_ASSIGN(const std::int64_t count, count_elements(out_.tensor.shape));
    DataReader reader(out_.tensor.type, count, json_size_);
    Status read = reader.read(array);
    if (read && reader.elements() != count) {
      read = bad_json(std::to_string(reader.elements()) + " values given");
    }
    if (!read) {
      Error error = std::move(read).error();
      if (error.message.ends_with("values given")) {
        error.message +=
            ", shape " + shape_text(out_.tensor.shape) + " needs " + std::to_string(count);
      }
      return fail(std::move(error));
    }
    out_.tensor = Tensor::own(out_.tensor.type, std::move(out_.tensor.shape), reader.take());
    return {};
  }

  Status finish() {
    if (!has(kName)) return bad_json("field 'name' is missing");
    if (!has(kType)) return bad_json("field 'datatype' is missing");
    if (!has(kShape)) return bad_json("field 'shape' is missing");
    if (has(kData) && out_.binary_bytes) {
      return bad_json("both 'data' and 'binary_data_size' are given, exactly one is expected");
    }
    if (!has(kData) && !out_.binary_bytes) {
      return bad_json("neither 'data' nor 'binary_data_size' is given, one is expected");
    }
    if (out_.binary_bytes) {
      return count_elements(out_.tensor.shape).transform([](std::int64_t) {});
    }
    return kept_data_.empty() ? Status() : read_kept_data();
  }

  std::size_t json_size_;
  NamedTensor& out_;
  unsigned seen_ = 0;
  std::string_view kept_data_;
};

Status read_inputs(json::value value, std::size_t json_size, InferRequest& request) {
  json::array array;
  if (value.get_array().get(array)) return bad_json("field 'inputs' must be an array");
  for (auto item : array) {
    const std::string place = "inputs[" + std::to_string(request.inputs.size()) + "]";
    if (request.inputs.size() == kTensorsMax)
      return bad_json("more than " + std::to_string(kTensorsMax) + " inputs given");
    json::object object;
    if (const auto error = item.get_object().get(object))
      return error == simdjson::INCORRECT_TYPE ? bad_json(place + " must be an object")
                                               : syntax_error(error);
    NamedTensor& input = request.inputs.emplace_back();
    if (Status read = InputReader(json_size, input).read(object); !read) {
      return std::move(read).transform_error(
          while_(input.name.empty() ? place : "input '" + input.name + "'"));
    }
  }
  return {};
}

Status read_output_parameters(json::value value, OutputWish& wish) {
  json::object parameters;
  if (value.get_object().get(parameters)) return bad_json("field 'parameters' must be an object");
  for (auto item : parameters) {
    json::field field;
    if (const auto error = std::move(item).get(field)) return syntax_error(error);
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return syntax_error(error);
    if (key == "shared_memory_region") return no_shared_memory();
    if (key == "classification")
      return bad_json("parameter 'classification' is not supported",
                      "take the whole output and pick its best classes");
    if (key != "binary_data") continue;
    bool is_binary = false;
    if (field.value().get_bool().get(is_binary))
      return bad_json("parameter 'binary_data' must be true or false");
    wish.is_binary = is_binary;
  }
  return {};
}

Status read_output(json::object object, OutputWish& wish) {
  bool has_name = false;
  for (auto item : object) {
    json::field field;
    if (const auto error = std::move(item).get(field)) return syntax_error(error);
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return syntax_error(error);
    if (key == "name") {
      has_name = true;
      TAKT_RETURN_IF_ERROR(read_text_field(field.value(), key, wish.name));
    } else if (key == "parameters") {
      TAKT_RETURN_IF_ERROR(read_output_parameters(field.value(), wish));
    }
  }
  return has_name ? Status() : bad_json("field 'name' is missing");
}

Status read_outputs(json::value value, InferRequest& request) {
  json::array array;
  if (value.get_array().get(array)) return bad_json("field 'outputs' must be an array");
  for (auto item : array) {
    const std::string place = "outputs[" + std::to_string(request.outputs.size()) + "]";
    if (request.outputs.size() == kTensorsMax)
      return bad_json("more than " + std::to_string(kTensorsMax) + " outputs asked for");
    json::object object;
    if (const auto error = item.get_object().get(object))
      return error == simdjson::INCORRECT_TYPE ? bad_json(place + " must be an object")
                                               : syntax_error(error);
    OutputWish& wish = request.outputs.emplace_back();
    if (Status read = read_output(object, wish); !read) {
      return std::move(read).transform_error(
          while_(wish.name.empty() ? place : "output '" + wish.name + "'"));
    }
  }
  return {};
}

/// The request's parameters: `timeout` and `binary_data_output`; others are the client's own
/// business.
Status read_parameters(json::value value, InferRequest& request) {
  json::object parameters;
  if (value.get_object().get(parameters)) return bad_json("field 'parameters' must be an object");
  for (auto item : parameters) {
    json::field field;
    if (const auto error = std::move(item).get(field)) return syntax_error(error);
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return syntax_error(error);
    if (key == "timeout") {
      if (field.value().get_int64().get(request.timeout_us) || request.timeout_us < 0)
        return bad_json("parameter 'timeout' must be a count of microseconds");
    } else if (key == "binary_data_output") {
      bool is_binary = false;
      if (field.value().get_bool().get(is_binary))
        return bad_json("parameter 'binary_data_output' must be true or false");
      request.is_binary = is_binary;
    }
  }
  return {};
}

Status read_root_field(json::field& field, std::size_t json_size, InferRequest& request,
                       bool& has_inputs) {
  std::string_view key;
  if (const auto error = field.unescaped_key().get(key)) return syntax_error(error);
  if (key == "inputs") {
    if (has_inputs) return bad_json("field 'inputs' is given twice");
    has_inputs = true;
    return read_inputs(field.value(), json_size, request);
  }
  if (key == "outputs") return read_outputs(field.value(), request);
  if (key == "parameters") return read_parameters(field.value(), request);
  if (key == "id") {
    std::string_view id;
    if (field.value().get_string().get(id)) return bad_json("field 'id' must be a string");
    request.id = id;
  }
  return {};
}

}  // namespace

Result<InferRequest> parse_infer_json(std::string_view text) {
  // Kept per thread: its buffers grow to the largest request once.
  static thread_local json::parser parser;
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + kJsonPadding);
  json::document document;
  if (const auto error = parser.iterate(padded).get(document)) return syntax_error(error);
  json::object root;
  if (const auto error = document.get_object().get(root))
    return error == simdjson::INCORRECT_TYPE ? bad_json("request body must be a JSON object")
                                             : syntax_error(error);
  InferRequest request;
  bool has_inputs = false;
  for (auto item : root) {
    json::field field;
    if (const auto error = std::move(item).get(field)) return syntax_error(error);
    TAKT_RETURN_IF_ERROR(read_root_field(field, text.size(), request, has_inputs));
  }
  if (!document.at_end())
    return bad_json("request body is not valid JSON: text after the end of the object");
  if (!has_inputs) return bad_json("field 'inputs' is missing");
  return request;
}

}  // namespace takt::serve
