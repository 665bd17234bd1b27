// Demangles the names that rustc gives to functions. Its legacy mangling looks like C++: `_ZN`, the parts of a path,
// each behind its length, a hash as the last part, `E`. What a C++ name cannot contain is escaped: `$LT$` is <. The one
// called v0 (RFC 2603, and "v0 Symbol Format" in the rustc book) is a prefix code: a letter says what follows, up to
// whole types and constants, so that a recursive descent reads it, and writes the name as it goes. A back reference,
// `B` and an offset, stands for what is at the offset.
//
//     _ZN1r12Foo$LT$T$GT$2go17h967a83d386b00eb7E      r::Foo<T>::go
//     _RINvNtCs1_1r3geo4areaNtB2_3BoxKj4_E            r::geo::area::<r::geo::Box, 4>
//
// The result is what `rustfilt` prints, and `c++filt -i` where that knows the construct: no hash, no disambiguators of
// crates, no types of integer constants. `.llvm.123`, which only makes a name unique, goes; other suffixes (`.cold`)
// stay. Unlike there, constants that are made of others (unstable Rust: strings, structures) are `_`. Exactness: two
// functions may get one name: instances of legacy generics, implementations in two modules, crates of one name.
//
// A symbol may be made to do harm: back references can double the name with each few bytes, or nest it deeply. Depth,
// size and steps are bounded, far above what compilers emit, and a symbol that exceeds a bound counts as none. Within
// the bounds, the time is linear in the symbol and the name.
#include "symbols/rust_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "support/utf8.h"

namespace loopfold::symbols {
namespace {

constexpr std::size_t kMaxSize = 1 << 16;  // of a symbol and of a name
constexpr std::size_t kMaxPunycodeSize = 256;
constexpr unsigned kMaxDepth = 400;
constexpr unsigned kMaxSteps = 1 << 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_in(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
bool is_all_hex(std::string_view text) { return std::all_of(text.begin(), text.end(), is_hex); }

/// The value of hexadecimal digits, none being 0; nothing if it has more than 64 bits.
std::optional<std::uint64_t> hex_value(std::string_view digits) {
  std::uint64_t value = 0;
  if (digits.empty()) return value;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// Whether a number stands for a character (surrogates do not), and for one that can be shown (no control character).
bool is_character(std::uint64_t point) { return point <= 0x10ffff && (point < 0xd800 || point > 0xdfff); }
bool is_shown(std::uint64_t point) { return is_character(point) && point >= 0x20 && (point < 0x7f || point >= 0xa0); }

/// The value of a key in a table `key:value key:value `, or nothing if the key is not there.
std::string_view look_up(std::string_view table, std::string_view key) {
  const std::size_t at = table.find(fmt::format(" {}:", key));
  if (at == std::string_view::npos || is_in(':', key)) return {};
  const std::string_view value = table.substr(at + key.size() + 2);
  return value.substr(0, value.find(' '));
}

/// What follows the mangled name, without LLVM's number.
std::string readable_suffix(std::string_view suffix) {
  std::string text(suffix);
  const std::size_t start = suffix.find(".llvm.");
  if (start != std::string::npos) text.erase(start, suffix.find_first_not_of("0123456789ABCDEF", start + 6) - start);
  return text;
}

/// The text that the escape `$code$` stands for, or nothing if there is no such escape.
std::string escaped_text(std::string_view code) {
  std::string text(look_up(" SP:@ BP:* RF:& LT:< GT:> LP:( RP:) C:, ", code));
  if (code.size() < 2 || code.front() != 'u' || !is_all_hex(code.substr(1))) return text;
  const std::optional<std::uint64_t> value = hex_value(code.substr(1));
  if (value && is_shown(*value)) append_utf8(text, static_cast<char32_t>(*value));
  return text;
}

/// Appends a part of a legacy path. Behind what looks like an escape and is none, all is as it stands.
void append_legacy_part(std::string& text, std::string_view part) {
  if (!text.empty()) text += "::";
  if (part.starts_with("_$")) part.remove_prefix(1);
  while (!part.empty()) {
    if (part.starts_with("..")) {
      text += "::";
      part.remove_prefix(2);
    } else if (part.front() == '$') {
      const std::size_t end = std::min(part.find('$', 1), part.size());
      const std::string escaped = end < part.size() ? escaped_text(part.substr(1, end - 1)) : "";
      if (escaped.empty()) break;
      text += escaped;
      part.remove_prefix(end + 1);
    } else {
      text += part.front();
      part.remove_prefix(1);
    }
  }
  text += part;
}

/// The name behind `_ZN`.
std::optional<std::string> legacy_name(std::string_view symbol) {
  std::string text;
  std::string_view part;
  while (!symbol.empty() && is_digit(symbol.front())) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(symbol.data(), symbol.data() + symbol.size(), size);
    symbol.remove_prefix(static_cast<std::size_t>(end - symbol.data()));
    if (error != std::errc() || size == 0 || size > symbol.size()) return std::nullopt;
    if (!part.empty()) append_legacy_part(text, part);
    part = symbol.substr(0, size);
    symbol.remove_prefix(size);
  }
  const bool has_hash = part.size() == 17 && part.front() == 'h' && is_all_hex(part.substr(1));
  if (text.empty() || !has_hash || (symbol != "E" && !symbol.starts_with("E."))) return std::nullopt;
  return text + readable_suffix(symbol.substr(1));
}

/// Punycode's bias (RFC 3492, 6.1) after a step of `delta` that made the text `size` long.
std::uint64_t punycode_bias(std::uint64_t delta, std::uint64_t size, bool is_first) {
  delta /= is_first ? 700 : 2;
  delta += delta / size;
  std::uint64_t bias = 0;
  for (; delta > 455; bias += 36) delta /= 35;
  return bias + 36 * delta / (delta + 38);
}

/// Takes one of Punycode's numbers off `digits`. Nothing if there is none, or if it is far too large.
std::optional<std::uint64_t> take_punycode_number(std::string_view& digits, std::uint64_t bias) {
  std::uint64_t value = 0;
  std::uint64_t weight = 1;
  for (std::uint64_t k = 36; !digits.empty() && weight < 1ull << 32; k += 36) {
    const char c = digits.front();
    if (!is_digit(c) && !is_lower(c)) return std::nullopt;
    digits.remove_prefix(1);
    const auto digit = static_cast<std::uint64_t>(is_digit(c) ? c - '0' + 26 : c - 'a');
    const std::uint64_t threshold = k <= bias ? 1 : std::min<std::uint64_t>(k - bias, 26);
    value += digit * weight;
    if (digit < threshold) return value;
    weight *= 36 - threshold;
  }
  return std::nullopt;
}

/// Decodes Punycode, in which rustc writes `_` for `-`. Nothing if it is not well-formed.
std::optional<std::string> decode_punycode(std::string_view code) {
  const std::size_t start = code.rfind('_') + 1;  // 0 if there is none
  const std::string_view ascii = code.substr(0, start == 0 ? 0 : start - 1);
  std::string_view digits = code.substr(start);
  if (digits.empty() || code.size() > kMaxPunycodeSize) return std::nullopt;

  std::u32string text(ascii.begin(), ascii.end());
  std::uint64_t point = 0x80;
  std::uint64_t at = 0;
  for (std::uint64_t bias = 72; !digits.empty();) {
    const std::optional<std::uint64_t> delta = take_punycode_number(digits, bias);
    if (!delta) return std::nullopt;
    bias = punycode_bias(*delta, text.size() + 1, text.size() == ascii.size());
    point += (at + *delta) / (text.size() + 1);
    at = (at + *delta) % (text.size() + 1);
    if (!is_shown(point)) return std::nullopt;
    text.insert(at++, 1, static_cast<char32_t>(point));
  }
  std::string result;
  for (const char32_t c : text) append_utf8(result, c);
  return result;
}

/// What small letters stand for.
constexpr std::string_view kBasicTypes =
    " a:i8 b:bool c:char d:f64 e:str f:f32 h:u8 i:isize j:usize l:i32 m:u32 n:i128 o:u128"
    " p:_ s:i16 t:u16 u:() v:... x:i64 y:u64 z:! ";

/// A character as it stands in source text.
std::string quoted(char32_t point) {
  const std::size_t escape = std::u32string_view(U"\t\r\n\\'\0", 6).find(point);
  if (escape != std::u32string_view::npos) return {'\'', '\\', "trn\\'0"[escape], '\''};
  if (!is_shown(point)) return fmt::format("'\\u{{{:x}}}'", static_cast<std::uint32_t>(point));
  std::string text = "'";
  append_utf8(text, point);
  return text + "'";
}

/// Reads one v0 name and writes it down at the same time, a function for each production of the grammar. After a
/// failure nothing is left to read, lists end and forms are not filled in: all that has begun comes to its end.
class V0Name {
 public:
  /// `symbol`: what stands between `_R` and a suffix. It holds letters, digits and `_` only.
  explicit V0Name(std::string_view symbol) : symbol_(symbol) {}

  /// symbol-name = path [instantiating-crate]
  std::optional<std::string> demangled() {
    path(true);
    if (is_upper(peek())) silently([&] { path(false); });
    if (failed_ || at_ != symbol_.size() || text_.empty()) return std::nullopt;
    return std::move(text_);
  }

 private:
  /// Counts the nesting of the productions that can nest.
  struct Level {
    explicit Level(V0Name& the_name) : name(the_name) { name.require(++name.depth_ <= kMaxDepth); }
    ~Level() { --name.depth_; }
    V0Name& name;
  };

  bool require(bool condition) {
    failed_ = failed_ || !condition || ++steps_ > kMaxSteps;
    return !failed_;
  }

  char peek() const { return failed_ || at_ == symbol_.size() ? '\0' : symbol_[at_]; }
  bool eat(char c) { return peek() == c && ++at_ != 0; }

  char next() {
    const char c = peek();
    if (require(c != '\0')) ++at_;
    return c;
  }

  void put(std::string_view text) {
    if (require(is_silent_ || text_.size() + text.size() <= kMaxSize) && !is_silent_) text_ += text;
  }

  /// Reads what the letters behind % stand for, and writes it with what is around it.
  void write(std::string_view form) {
    for (std::size_t percent = form.find('%'); percent < form.size() && !failed_; percent = form.find('%')) {
      put(form.substr(0, percent));
      const char what = form[percent + 1];
      if (what == 'a') list(", ", "%g");
      if (what == 'c') constant();
      if (what == 'd') dynamic_trait();
      if (what == 'g') generic_argument();
      if (what == 'n') put(identifier());
      if (what == 'p') path(false);
      if (what == 's') optional_number('s');
      if (what == 't') type();
      if (what == 'y') list(", ", "%t");
      form.remove_prefix(percent + 2);
    }
    put(form);
  }

  template <typename Production>
  void silently(Production production) {
    const bool was_silent = std::exchange(is_silent_, true);
    production();
    is_silent_ = was_silent;
  }

  /// Items up to an `E`. Returns how many there are.
  std::size_t list(std::string_view separator, std::string_view item) {
    std::size_t count = 0;
    for (; !failed_ && !eat('E'); ++count) {
      if (count > 0) put(separator);
      write(item);
    }
    return count;
  }

  /// backref = "B" base-62-number, of which the `B` has been read. It must point to something before it.
  template <typename Production>
  void back_reference(Production production) {
    const std::size_t start = at_ - 1;
    const std::uint64_t target = base_62_number();
    if (!require(target < start) || is_silent_) return;
    const std::size_t behind = std::exchange(at_, static_cast<std::size_t>(target));
    production();
    at_ = behind;
  }

  /// base-62-number = {0-9a-zA-Z} "_": no digits are 0, the digit 0 is 1, and so on.
  std::uint64_t base_62_number() {
    if (eat('_')) return 0;
    std::uint64_t value = 0;
    for (char c = next(); !failed_ && c != '_'; c = next()) {
      const int digit = is_digit(c) ? c - '0' : is_lower(c) ? c - 'a' + 10 : c - 'A' + 36;
      require(!__builtin_mul_overflow(value, 62u, &value) && !__builtin_add_overflow(value, digit, &value));
    }
    require(!__builtin_add_overflow(value, 1u, &value));
    return value;
  }

  /// A number behind a letter, plus 1; 0 if there is no such letter.
  std::uint64_t optional_number(char letter) {
    std::uint64_t value = 0;
    if (eat(letter)) require(!__builtin_add_overflow(base_62_number(), 1u, &value));
    return value;
  }

  /// undisambiguated-identifier = ["u"] decimal-number ["_"] bytes
  std::string identifier() {
    const bool is_punycode = eat('u');
    std::size_t size = 0;
    if (require(is_digit(peek())) && !eat('0')) {
      while (is_digit(peek()) && size <= symbol_.size()) size = 10 * size + static_cast<std::size_t>(next() - '0');
    }
    eat('_');
    if (!require(size <= symbol_.size() - at_)) return {};
    const std::string_view bytes = symbol_.substr(at_, size);
    at_ += size;
    const std::optional<std::string> name = is_punycode ? decode_punycode(bytes) : std::string(bytes);
    return require(name.has_value()) ? *name : std::string();
  }

  /// `in_value`: `::` stands in front of generic arguments. Where an implementation (M, X) stands is not shown.
  void path(bool in_value) {
    const Level level(*this);
    const char tag = next();
    if (tag == 'B') return back_reference([&] { path(in_value); });
    if (tag == 'C') return write("%s%n");
    if (tag == 'N') return nested_path(in_value);
    if (tag == 'I') {
      path(in_value);
      return write(in_value ? "::<%a>" : "<%a>");
    }
    require(is_in(tag, "MXY"));
    if (tag != 'Y') silently([&] { write("%s%p"); });
    write(tag == 'M' ? "<%t>" : "<%t as %p>");
  }

  /// nested-path = "N" namespace path identifier. Capitals are the namespaces of what has no name of its own.
  void nested_path(bool in_value) {
    const char space = next();
    require(is_lower(space) || is_upper(space));
    path(in_value);
    const std::uint64_t number = optional_number('s');
    const std::string name = identifier();
    if (is_upper(space)) {
      const std::string kind = space == 'C' ? "closure" : space == 'S' ? "shim" : std::string(1, space);
      put(fmt::format("::{{{}{}{}#{}}}", kind, name.empty() ? "" : ":", name, number));
    } else if (!name.empty()) {
      put("::" + name);
    }
  }

  void generic_argument() {
    if (eat('L')) return put(lifetime(base_62_number()));
    if (eat('K')) return constant();
    type();
  }

  /// Lifetimes are numbered from the innermost one outwards; 0 is one without a name.
  std::string lifetime(std::uint64_t number) {
    if (number == 0 || !require(number <= bound_lifetimes_)) return "'_";
    const std::uint64_t index = bound_lifetimes_ - number;
    return index < 26 ? std::string{'\'', static_cast<char>('a' + index)} : fmt::format("'_{}", index);
  }

  /// binder = "G" base-62-number, and a list or a signature in which it binds lifetimes.
  template <typename Production>
  void in_binder(Production production) {
    const std::uint64_t count = optional_number('G');
    for (std::uint64_t i = 0; i < count && !failed_; ++i) {
      ++bound_lifetimes_;
      put((i == 0 ? "for<" : ", ") + lifetime(1));
    }
    if (count > 0) put("> ");
    production();
    bound_lifetimes_ -= count;
  }

  void type() {
    const Level level(*this);
    if (is_in(peek(), "CMXYNI")) return path(false);
    const char tag = next();
    if (const std::string_view name = look_up(kBasicTypes, {&tag, 1}); !name.empty()) return put(name);
    if (tag == 'B') return back_reference([&] { type(); });
    if (tag == 'S') return write("[%t]");
    if (tag == 'A') return write("[%t; %c]");
    if (tag == 'P') return write("*const %t");
    if (tag == 'O') return write("*mut %t");
    if (tag == 'T') {
      put("(");
      return put(list(", ", "%t") == 1 ? ",)" : ")");
    }
    if (tag == 'F') return in_binder([&] { function_signature(); });
    if (tag == 'D') return dynamic_type();
    require(tag == 'R' || tag == 'Q');
    const std::uint64_t number = eat('L') ? base_62_number() : 0;
    put(number > 0 ? "&" + lifetime(number) + " " : "&");
    write(tag == 'R' ? "%t" : "mut %t");
  }

  /// fn-sig = ["U"] ["K" abi] {type} "E" type
  void function_signature() {
    if (eat('U')) put("unsafe ");
    if (eat('K')) {
      std::string abi = eat('C') ? "C" : identifier();
      std::replace(abi.begin(), abi.end(), '_', '-');
      put("extern \"" + abi + "\" ");
    }
    write("fn(%y)");
    if (!eat('u')) write(" -> %t");
  }

  /// dyn-trait-type = "D" [binder] {dyn-trait} "E" lifetime
  void dynamic_type() {
    put("dyn ");
    in_binder([&] { list(" + ", "%d"); });
    require(eat('L'));
    const std::uint64_t number = base_62_number();
    if (number > 0) put(" + " + lifetime(number));
  }

  /// dyn-trait = path {"p" identifier type}: associated types stand among the generic arguments of the path.
  void dynamic_trait() {
    bool is_open = open_path();
    while (eat('p')) {
      put((std::exchange(is_open, true) ? ", " : "<") + identifier());
      write(" = %t");
    }
    if (is_open) put(">");
  }

  /// A path without the `>` of its generic arguments. Returns whether there are any.
  bool open_path() {
    const Level level(*this);
    bool is_open = peek() == 'I';
    if (eat('B')) {
      back_reference([&] { is_open = open_path(); });
    } else {
      write(eat('I') ? "%p<%a" : "%p");
    }
    return is_open;
  }

  void constant() {
    const Level level(*this);
    const char tag = next();
    if (tag == 'B') return back_reference([&] { constant(); });
    if (is_in(tag, "aslxnihtmyojbc")) return number(tag);
    if (tag != 'p') silently([&] { composite(tag); });
    put("_");
  }

  /// {hex-digit} "_"
  std::string_view hex_digits() {
    const std::size_t start = at_;
    while (is_hex(peek())) ++at_;
    const std::string_view digits = symbol_.substr(start, at_ - start);
    require(eat('_'));
    return digits;
  }

  /// An integer, a boolean or a character. Integers of more than 64 bits stay hexadecimal.
  void number(char type) {
    if (is_in(type, "aslxni") && eat('n')) put("-");
    const std::string_view digits = hex_digits();
    const std::optional<std::uint64_t> value = hex_value(digits);
    if (type == 'b' && require(value && *value <= 1)) return put(*value == 1 ? "true" : "false");
    if (type == 'c' && require(value && is_character(*value))) return put(quoted(static_cast<char32_t>(*value)));
    put(value ? std::to_string(*value) : fmt::format("0x{}", digits));
  }

  /// Constants that are made of others: strings, references, arrays, tuples; structures and variants with their fields.
  void composite(char tag) {
    if (tag == 'V') path(true);
    const char kind = tag == 'V' ? next() : tag;
    require(is_in(kind, tag == 'V' ? "UTS" : "eRQAT"));
    if (kind == 'e') hex_digits();
    if (kind == 'R' || kind == 'Q') constant();
    if (is_in(kind, "ATS")) list("", kind == 'S' ? "%s%n%c" : "%c");
  }

  std::string_view symbol_;
  std::size_t at_ = 0;
  std::string text_;
  bool is_silent_ = false;  // what is read is not part of the name
  bool failed_ = false;
  unsigned depth_ = 0;
  unsigned steps_ = 0;
  std::uint64_t bound_lifetimes_ = 0;
};

/// The name behind `_R`. A digit there would be the number of a version that is not known yet.
std::optional<std::string> v0_name(std::string_view symbol) {
  const auto is_mangled = [](char c) { return is_digit(c) || is_lower(c) || is_upper(c) || c == '_'; };
  const auto end = std::find_if_not(symbol.begin(), symbol.end(), is_mangled);
  const std::string_view suffix = symbol.substr(static_cast<std::size_t>(end - symbol.begin()));
  if (!suffix.empty() && suffix.front() != '.' && suffix.front() != '$') return std::nullopt;
  std::optional<std::string> name = V0Name(symbol.substr(0, symbol.size() - suffix.size())).demangled();
  if (name) *name += readable_suffix(suffix);
  return name;
}

}  // namespace

std::optional<std::string> rust_name(std::string_view symbol) {
  if (symbol.size() > kMaxSize) return std::nullopt;
  if (symbol.starts_with("_ZN")) return legacy_name(symbol.substr(3));
  return symbol.starts_with("_R") ? v0_name(symbol.substr(2)) : std::nullopt;
}

}  // namespace loopfold::symbols
