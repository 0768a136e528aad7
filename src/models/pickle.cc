// SPDX-License-Identifier: Apache-2.0
#include "takt/models/pickle.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <vector>

namespace takt::models {
namespace {

constexpr std::size_t kWindowBytes = 64 << 10;
constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kLineBytesMax = 1 << 20;
constexpr std::size_t kItemsMax = 1'000'000;
constexpr std::size_t kStackMax = 4'000'000;
constexpr std::size_t kChildrenMax = 64;
constexpr int kDepthMax = 8;
constexpr int kPicklesMax = 8;
constexpr std::string_view kUnknownName = "(a name that is computed)";

/// The file as a stream that can be skipped in.
class Source {
 public:
  Source(const ReadAt& read, std::int64_t size) : read_(read), size_(size), window_(kWindowBytes) {}
  bool is_at_end() const { return at_ >= size_; }
  std::int64_t at() const { return at_; }
  /// False behind the end, or when reading failed (`error`).
  bool byte(std::uint8_t& into) {
    if (at_ < begin_ || at_ >= end_)
      if (!fill()) return false;
    into = static_cast<std::uint8_t>(window_[static_cast<std::size_t>(at_++ - begin_)]);
    return true;
  }
  bool skip(std::uint64_t count) {
    if (count > static_cast<std::uint64_t>(size_ - at_)) return false;
    at_ += static_cast<std::int64_t>(count);
    return true;
  }
  std::optional<Error> error;

 private:
  bool fill() {
    if (is_at_end() || error) return false;
    auto got = read_(at_, window_);
    if (!got) {
      error = std::move(got).error();
      return false;
    }
    begin_ = at_;
    end_ = at_ + static_cast<std::int64_t>(*got);
    return *got > 0;
  }
  const ReadAt& read_;
  const std::int64_t size_;
  std::vector<char> window_;
  std::int64_t at_ = 0, begin_ = 0, end_ = 0;
};

/// What lies on the stack: nothing of interest, a mark, a small number, or an item of the arena.
struct Slot {
  enum Kind : std::uint8_t { kPlain, kMark, kNumber, kItem } kind = kPlain;
  std::int64_t value = 0;  // the number, or the item's index
};
struct Item {
  enum Kind : std::uint8_t { kText, kGlobal, kTuple, kDict, kObject } kind = kText;
  std::string text;  // of a text or global; of an object: the global that made it
  std::vector<Slot> children;
};

/// One pickle, from its first opcode to STOP.
class Walker {
 public:
  Walker(Source& source, std::set<std::string>& globals, int depth)
      : source_(source), globals_(globals), depth_(depth) {}

  /// False with `trouble` when it is no whole pickle.
  bool walk() {
    std::uint8_t opcode = 0;
    while (source_.byte(opcode)) {
      if (opcode == '.') return true;
      if (!step(opcode)) {
        if (trouble.empty()) trouble = "it breaks off at byte " + std::to_string(source_.at());
        return false;
      }
    }
    trouble = "it breaks off at byte " + std::to_string(source_.at());
    return false;
  }
  std::string trouble;

 private:
  bool step(std::uint8_t opcode);
  bool step_binary(std::uint8_t opcode);
  bool step_container(std::uint8_t opcode);
  bool step_object(std::uint8_t opcode);
  bool step_memo(std::uint8_t opcode);

  bool stop(std::string why) {
    trouble = std::move(why);
    return false;
  }
  bool integer(int bytes, std::uint64_t& into) {
    into = 0;
    for (int i = 0; i < bytes; ++i) {
      std::uint8_t byte = 0;
      if (!source_.byte(byte)) return false;
      into |= static_cast<std::uint64_t>(byte) << (8 * i);
    }
    return true;
  }
  bool line(std::string& into) {
    into.clear();
    std::uint8_t byte = 0;
    while (source_.byte(byte)) {
      if (byte == '\n') return true;
      if (into.size() >= kLineBytesMax) return false;
      into.push_back(static_cast<char>(byte));
    }
    return false;
  }
  /// A text of so many bytes: kept when it may be a name.
  bool text(std::uint64_t size) {
    if (size > kNameBytesMax) return source_.skip(size) && push({});
    std::string read;
    for (std::uint64_t i = 0; i < size; ++i) {
      std::uint8_t byte = 0;
      if (!source_.byte(byte)) return false;
      read.push_back(static_cast<char>(byte));
    }
    return push(item(Item::kText, std::move(read)));
  }
  bool sized_text(int bytes) {
    std::uint64_t size = 0;
    return integer(bytes, size) && text(size);
  }
  bool sized_blob(int bytes) {
    std::uint64_t size = 0;
    return integer(bytes, size) && source_.skip(size) && push({});
  }
  bool skipped(int bytes) { return source_.skip(static_cast<std::uint64_t>(bytes)) && push({}); }
  bool number(int bytes) {
    std::uint64_t value = 0;
    if (!integer(bytes, value)) return false;
    const bool is_signed = bytes == 4;
    return push({Slot::kNumber,
                 is_signed ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value)});
  }

  bool push(Slot slot) {
    if (stack_.size() >= kStackMax) return stop("it is too deep to be walked");
    stack_.push_back(slot);
    return true;
  }
  bool pop(Slot& slot) {
    if (stack_.empty() || stack_.back().kind == Slot::kMark) return false;
    slot = stack_.back();
    stack_.pop_back();
    return true;
  }
  bool drop(int count) {
    Slot slot;
    while (count-- > 0)
      if (!pop(slot)) return false;
    return true;
  }
  /// Takes what lies above the last mark, and the mark.
  bool pop_mark(std::vector<Slot>& into) {
    std::size_t at = stack_.size();
    while (at > 0 && stack_[at - 1].kind != Slot::kMark) --at;
    if (at == 0) return false;
    const std::size_t kept = std::min(stack_.size() - at, kChildrenMax);
    into.assign(stack_.begin() + static_cast<std::ptrdiff_t>(at),
                stack_.begin() + static_cast<std::ptrdiff_t>(at + kept));
    stack_.resize(at - 1);
    return true;
  }
  /// A new item; nothing of interest when there are too many: a name made of it is unknown then.
  Slot item(Item::Kind kind, std::string text, std::vector<Slot> children = {}) {
    if (items_.size() >= kItemsMax) return {};
    items_.push_back({kind, std::move(text), std::move(children)});
    return {Slot::kItem, static_cast<std::int64_t>(items_.size() - 1)};
  }
  Item* item_of(Slot slot, Item::Kind kind) {
    if (slot.kind != Slot::kItem) return nullptr;
    Item& found = items_[static_cast<std::size_t>(slot.value)];
    return found.kind == kind ? &found : nullptr;
  }
  Slot global(std::string name) {
    globals_.insert(name);
    return item(Item::kGlobal, std::move(name));
  }
  bool tuple(int count) {
    std::vector<Slot> children(static_cast<std::size_t>(count));
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      if (!pop(*child)) return false;
    return push(item(Item::kTuple, "", std::move(children)));
  }
  bool quoted_line() {
    std::string read;
    if (!line(read)) return false;
    if (read.size() >= 2 && (read.front() == '\'' || read.front() == '"'))
      read = read.substr(1, read.size() - 2);
    // An escape may hide a name: such a text is none that can be known.
    const bool is_plain = read.size() <= kNameBytesMax && read.find('\\') == std::string::npos;
    return push(is_plain ? item(Item::kText, std::move(read)) : Slot{});
  }
  bool named_line(bool has_arguments) {
    std::string module, name;
    if (!line(module) || !line(name)) return false;
    if (module.size() + name.size() > 2 * kNameBytesMax) return stop("it names something endless");
    if (has_arguments) {
      std::vector<Slot> arguments;
      if (!pop_mark(arguments)) return false;
      globals_.insert(module + " " + name);
      return push(item(Item::kObject, module + " " + name));
    }
    return push(global(module + " " + name));
  }
  bool stack_global();
  bool make_object(int arguments);
  bool build();
  bool read_array(const Item& state);
  std::int64_t item_bytes(Slot dtype);

  Source& source_;
  std::set<std::string>& globals_;
  const int depth_;
  std::vector<Slot> stack_;
  std::vector<Item> items_;
  std::unordered_map<std::uint64_t, Slot> memo_;
};

bool Walker::step(std::uint8_t opcode) {
  std::string read;
  switch (opcode) {
    case 'F':
    case 'L':
      return line(read) && push({});
    case 'I': {
      if (!line(read)) return false;
      std::int64_t value = 0;
      for (const char c : read)
        if (c < '0' || c > '9' || value > 1'000'000'000'000)
          return push({});
        else
          value = value * 10 + (c - '0');
      return push({Slot::kNumber, value});
    }
    case 'P':
      return line(read) && push({});
    case 'S':
    case 'V':
      return quoted_line();
    case 'c':
      return named_line(false);
    case 'i':
      return named_line(true);
    case 'J':
      return number(4);
    case 'K':
      return number(1);
    case 'M':
      return number(2);
    case 'G':
      return skipped(8);
    case 'N':
    case 0x88:
    case 0x89:
      return push({});
    case 0x80:
      return source_.skip(1);
    case 0x95:
      return source_.skip(8);
    default:
      return step_binary(opcode);
  }
}

bool Walker::step_binary(std::uint8_t opcode) {
  switch (opcode) {
    case 'T':
    case 'X':
      return sized_text(4);
    case 'U':
    case 0x8c:
      return sized_text(1);
    case 0x8d:
      return sized_text(8);
    case 'B':
    case 0x8b:
      return sized_blob(4);
    case 'C':
    case 0x8a:
      return sized_blob(1);
    case 0x8e:
    case 0x96:
      return sized_blob(8);
    case 0x97:
      return push({});
    case 0x98:
      return true;
    default:
      return step_container(opcode);
  }
}

bool Walker::step_container(std::uint8_t opcode) {
  std::vector<Slot> above;
  switch (opcode) {
    case '(':
      return push({Slot::kMark, 0});
    case '0':
      if (!stack_.empty() && stack_.back().kind == Slot::kMark) {
        stack_.pop_back();
        return true;
      }
      return drop(1);
    case '1':
      return pop_mark(above);
    case '2':
      return !stack_.empty() && stack_.back().kind != Slot::kMark && push(stack_.back());
    case '}':
      return push(item(Item::kDict, ""));
    case ']':
    case 0x8f:
      return push({});
    case ')':
      return push(item(Item::kTuple, ""));
    case 'd':
      return pop_mark(above) && push(item(Item::kDict, "", std::move(above)));
    case 'l':
    case 0x91:
      return pop_mark(above) && push({});
    case 't':
      return pop_mark(above) && push(item(Item::kTuple, "", std::move(above)));
    case 0x85:
      return tuple(1);
    case 0x86:
      return tuple(2);
    case 0x87:
      return tuple(3);
    case 'a':
      return drop(1);
    case 'e':
    case 0x90:
      return pop_mark(above);
    case 's': {
      Slot value, key;
      if (!pop(value) || !pop(key)) return false;
      above = {key, value};
      break;
    }
    case 'u':
      if (!pop_mark(above)) return false;
      break;
    default:
      return step_object(opcode);
  }
  if (stack_.empty()) return false;
  if (Item* dict = item_of(stack_.back(), Item::kDict);
      dict != nullptr && dict->children.size() + above.size() <= kChildrenMax)
    dict->children.insert(dict->children.end(), above.begin(), above.end());
  return true;
}

bool Walker::step_object(std::uint8_t opcode) {
  switch (opcode) {
    case 'R':
    case 0x81:
      return make_object(1);
    case 0x92:
      return make_object(2);
    case 'o': {
      std::vector<Slot> above;
      if (!pop_mark(above) || above.empty()) return false;
      const Item* made_by = item_of(above.front(), Item::kGlobal);
      return push(item(Item::kObject, made_by == nullptr ? "" : made_by->text));
    }
    case 'b':
      return build();
    case 'Q':
      return drop(1) && push({});
    case 0x93:
      return stack_global();
    case 0x82:
    case 0x83:
    case 0x84: {
      std::uint64_t number = 0;
      if (!integer(opcode == 0x82 ? 1 : opcode == 0x83 ? 2 : 4, number)) return false;
      return push(global("copyreg extension-" + std::to_string(number)));
    }
    default:
      return step_memo(opcode);
  }
}

bool Walker::step_memo(std::uint8_t opcode) {
  std::uint64_t index = 0;
  std::string read;
  const bool is_get = opcode == 'g' || opcode == 'h' || opcode == 'j';
  const bool is_put = opcode == 'p' || opcode == 'q' || opcode == 'r' || opcode == 0x94;
  if (!is_get && !is_put) return stop("it has no opcode " + std::to_string(opcode));
  if (opcode == 'g' || opcode == 'p') {
    if (!line(read) || read.empty() || read.size() > 18) return false;
    for (const char c : read) {
      if (c < '0' || c > '9') return false;
      index = index * 10 + static_cast<std::uint64_t>(c - '0');
    }
  } else if (opcode == 0x94) {
    index = memo_.size();
  } else if (!integer(opcode == 'h' || opcode == 'q' ? 1 : 4, index)) {
    return false;
  }
  if (is_get) {
    const auto found = memo_.find(index);
    return found != memo_.end() && push(found->second);
  }
  if (stack_.empty() || stack_.back().kind == Slot::kMark) return false;
  if (memo_.size() >= kStackMax) return stop("it remembers too much to be walked");
  memo_[index] = stack_.back();
  return true;
}

bool Walker::stack_global() {
  Slot name, module;
  if (!pop(name) || !pop(module)) return false;
  const Item* name_text = item_of(name, Item::kText);
  const Item* module_text = item_of(module, Item::kText);
  const bool is_known = name_text != nullptr && module_text != nullptr;
  return push(
      global(is_known ? module_text->text + " " + name_text->text : std::string(kUnknownName)));
}

bool Walker::make_object(int arguments) {
  std::vector<Slot> given(static_cast<std::size_t>(arguments));
  for (auto slot = given.rbegin(); slot != given.rend(); ++slot)
    if (!pop(*slot)) return false;
  Slot maker;
  if (!pop(maker)) return false;
  const Item* made_by = item_of(maker, Item::kGlobal);
  std::string text = made_by == nullptr ? "" : made_by->text;
  return push(item(Item::kObject, std::move(text), std::move(given)));
}

bool Walker::build() {
  Slot state;
  if (!pop(state) || stack_.empty()) return false;
  const Item* object = item_of(stack_.back(), Item::kObject);
  if (object == nullptr || object->text != "joblib.numpy_pickle NumpyArrayWrapper") return true;
  const Item* dict = item_of(state, Item::kDict);
  return dict == nullptr ? stop("an array's shape is not said") : read_array(*dict);
}

/// Bytes of one element; 0: objects, pickled; -1: not known.
std::int64_t Walker::item_bytes(Slot dtype) {
  const Item* object = item_of(dtype, Item::kObject);
  if (object == nullptr || object->text != "numpy dtype" || object->children.empty()) return -1;
  const Item* arguments = item_of(object->children.front(), Item::kTuple);
  const Item* code = arguments == nullptr || arguments->children.empty()
                         ? nullptr
                         : item_of(arguments->children.front(), Item::kText);
  if (code == nullptr || code->text.size() < 2) return -1;
  std::int64_t bytes = 0;
  for (const char c : std::string_view(code->text).substr(1)) {
    if (c < '0' || c > '9' || bytes > 1'000'000) return -1;
    bytes = bytes * 10 + (c - '0');
  }
  switch (code->text.front()) {
    case 'O':
      return 0;
    case 'U':
      return 4 * bytes;
    case 'b':
    case 'c':
    case 'f':
    case 'i':
    case 'm':
    case 'M':
    case 'S':
    case 'u':
      return bytes;
    default:
      return -1;
  }
}

// joblib writes an array's bytes into the middle of the pickle, behind its wrapper.
bool Walker::read_array(const Item& state) {
  std::int64_t count = 1, bytes = -1;
  bool is_aligned = false, has_shape = false;
  for (std::size_t i = 0; i + 1 < state.children.size(); i += 2) {
    const Item* key = item_of(state.children[i], Item::kText);
    const Slot value = state.children[i + 1];
    if (key == nullptr) continue;
    if (key->text == "dtype") bytes = item_bytes(value);
    if (key->text == "numpy_array_alignment_bytes") is_aligned = value.kind == Slot::kNumber;
    const Item* shape = key->text == "shape" ? item_of(value, Item::kTuple) : nullptr;
    if (shape == nullptr) continue;
    has_shape = true;
    for (const Slot size : shape->children) {
      constexpr std::int64_t kElementsMax = std::int64_t{1} << 40;
      if (size.kind != Slot::kNumber || size.value < 0) return stop("an array's shape is not said");
      if (size.value != 0 && count > kElementsMax / size.value)
        return stop("an array is larger than any");
      count *= size.value;
    }
  }
  if (!has_shape || bytes < 0) return stop("an array's type is not known");
  if (bytes == 0) {
    if (depth_ >= kDepthMax) return stop("it is too deep to be walked");
    Walker inner(source_, globals_, depth_ + 1);
    return inner.walk() || stop(inner.trouble);
  }
  std::uint64_t padding = 0;
  if (is_aligned && (!integer(1, padding) || !source_.skip(padding))) return false;
  if (bytes > 0 && count > INT64_MAX / bytes) return stop("an array is larger than any");
  return source_.skip(static_cast<std::uint64_t>(count * bytes));
}

}  // namespace

Result<PickleScan> scan_pickle(const ReadAt& read, std::int64_t size) {
  PickleScan scan;
  Source source(read, size);
  while (!source.is_at_end() && scan.pickles < kPicklesMax) {
    std::set<std::string> globals;
    Walker walker(source, globals, 0);
    const bool is_whole = walker.walk();
    if (source.error) return std::unexpected(std::move(*source.error));
    // What follows a whole pickle and is none is other data, which loading it does not read.
    if (!is_whole && scan.pickles > 0) break;
    scan.globals.merge(globals);
    if (!is_whole) {
      scan.trouble = walker.trouble;
      break;
    }
    ++scan.pickles;
  }
  if (size == 0) scan.trouble = "it is empty";
  return scan;
}

}  // namespace takt::models
