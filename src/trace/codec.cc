// Descriptions and side events as bytes; docs/trace-format.md describes the result.
//
// Each record type has one function, fields(), that lists its fields in the order of the file. The encoder and the
// decoder are two archives that are handed to it, so the two cannot disagree about the layout. These records are few
// compared with events (code is static, side events are calls and not instructions), so plain varints do; zstd takes
// care of what repeats. Decoding is exact: every field comes back as it was, or the payload is refused.
#include "trace/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "trace/format.h"

namespace loopfold::trace {
namespace {

/// Lists in a description are counted in 16 bits.
constexpr std::size_t kMaxList = 0xffff;

enum class Tag : std::uint8_t { kModule = 1, kBlock = 2, kExit = 3, kStack = 4 };

class Encoder {
 public:
  template <typename T>
  using Ref = const T&;

  explicit Encoder(ByteWriter& out) : out_(out) {}
  template <std::unsigned_integral T>
  void operator()(const T& value) {
    out_.varint(value);
  }
  void operator()(const std::int64_t& value) { out_.signed_varint(static_cast<std::uint64_t>(value)); }
  void operator()(const std::string& value) { out_.string(value); }
  template <typename E>
  void enumerator(const E& value, E /*last*/) {
    out_.byte(static_cast<std::uint8_t>(value));
  }
  void optional(const std::optional<std::uint64_t>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  void stack_id(const StackId& value) { out_.varint(value == kNoStack ? 0 : std::uint64_t{value} + 1); }
  void bytes(const std::vector<std::uint8_t>& value) {
    out_.varint(value.size());
    out_.raw(value);
  }
  template <typename T>
  void list(const std::vector<T>& values) {
    out_.varint(values.size());
    for (const T& value : values) fields(*this, value);
  }

 private:
  ByteWriter& out_;
};

class Decoder {
 public:
  template <typename T>
  using Ref = T&;

  explicit Decoder(ByteReader& in) : in_(in) {}
  template <std::unsigned_integral T>
  void operator()(T& value) {
    value = static_cast<T>(in_.bounded(std::numeric_limits<T>::max()));
  }
  void operator()(std::int64_t& value) { value = static_cast<std::int64_t>(in_.signed_varint()); }
  void operator()(std::string& value) { value = in_.string(); }
  template <typename E>
  void enumerator(E& value, E last) {
    const std::uint8_t code = in_.byte();
    if (code > static_cast<std::uint8_t>(last)) return in_.fail();
    value = static_cast<E>(code);
  }
  void optional(std::optional<std::uint64_t>& value) {
    bool present = false;
    (*this)(present);
    value = present ? std::optional(in_.varint()) : std::nullopt;
  }
  void stack_id(StackId& value) {
    const std::uint64_t code = in_.bounded(kNoStack);
    value = code == 0 ? kNoStack : static_cast<StackId>(code - 1);
  }
  void bytes(std::vector<std::uint8_t>& value) {
    const std::span<const std::uint8_t> found = in_.raw(in_.count(1));
    value.assign(found.begin(), found.end());
  }
  template <typename T>
  void list(std::vector<T>& values) {
    values.resize(std::min<std::size_t>(in_.count(1), kMaxList + 1));
    if (values.size() > kMaxList) return in_.fail();
    for (T& value : values) fields(*this, value);
  }

 private:
  ByteReader& in_;
};

// ---- The layouts -----------------------------------------------------------------------------------------------

template <typename A>
void fields(A& a, typename A::template Ref<std::uint64_t> x) {
  a(x);
}

template <typename A>
void fields(A& a, typename A::template Ref<Value> x) {
  a.enumerator(x.kind, Value::Kind::kExpression);
  if (x.kind != Value::Kind::kNone) a(x.data);
}

template <typename A>
void fields(A& a, typename A::template Ref<Expression::Term> x) {
  fields(a, x.operand);
  a(x.coefficient);
}

template <typename A>
void fields(A& a, typename A::template Ref<Expression> x) {
  a.list(x.terms);
  a(x.constant);
  a.enumerator(x.extend, Expression::Extend::kSign32);
}

template <typename A>
void fields(A& a, typename A::template Ref<Module> x) {
  a(x.path);
  a(x.build_id);
  a(x.start);
  a(x.size);
  a(x.load_bias);
  a(x.main_program);
}

template <typename A>
void fields(A& a, typename A::template Ref<Access> x) {
  a(x.instruction);
  a.enumerator(x.kind, Access::Kind::kStore);
  a(x.guarded);
  a(x.atomic);
  a(x.size);
  fields(a, x.address);
}

template <typename A>
void fields(A& a, typename A::template Ref<IntegerResult> x) {
  a(x.instruction);
  a(x.reg);
  a(x.byte);
  a(x.width);
  fields(a, x.value);
}

template <typename A>
void fields(A& a, typename A::template Ref<Exit> x) {
  a(x.block);
  a.enumerator(x.kind, ExitKind::kOther);
  a(x.instructions);
  a(x.accesses);
  a(x.results);
  a(x.slots);
  a.optional(x.target);
  fields(a, x.stack_pointer);
}

template <typename A>
void fields(A& a, typename A::template Ref<Block> x) {
  a(x.address);
  a.bytes(x.bytes);
  a.bytes(x.lengths);
  a.list(x.accesses);
  a.list(x.results);
  a.list(x.expressions);
  fields(a, x.ftop);
}

template <typename A>
void fields(A& a, typename A::template Ref<ThreadStart> x) {
  a(x.parent);
  a(x.kernel_id);
}

template <typename A>
void fields(A&, typename A::template Ref<ThreadEnd>) {}

template <typename A>
void fields(A& a, typename A::template Ref<Recording> x) {
  a(x.on);
}

template <typename A>
void fields(A& a, typename A::template Ref<Allocation> x) {
  a.enumerator(x.function, Allocation::Function::kDelete);
  a(x.address);
  a(x.size);
  a(x.alignment);
  a(x.old_address);
  a.stack_id(x.stack);
  a(x.hidden_instructions);
}

template <typename A>
void fields(A& a, typename A::template Ref<Hidden> x) {
  a.enumerator(x.reason, Hidden::Reason::kLibrary);
  a(x.instructions);
}

template <typename A>
void fields(A& a, typename A::template Ref<SyscallEnter> x) {
  a(x.number);
  for (auto& argument : x.arguments) a(argument);
}

template <typename A>
void fields(A& a, typename A::template Ref<SyscallReturn> x) {
  a(x.number);
  a(x.result);
}

template <typename A>
void fields(A& a, typename A::template Ref<KernelAccess> x) {
  a(x.write);
  a.enumerator(x.cause, KernelAccess::Cause::kOther);
  a(x.address);
  a(x.size);
}

template <typename A>
void fields(A& a, typename A::template Ref<Mapping> x) {
  a.enumerator(x.operation, Mapping::Operation::kBreak);
  a(x.address);
  a(x.size);
  a(x.old_address);
  a(x.old_size);
  a(x.protection);
  a.stack_id(x.stack);
}

template <typename A>
void fields(A& a, typename A::template Ref<Mark> x) {
  a(x.begin);
  a(x.name);
}

template <typename A>
void fields(A& a, typename A::template Ref<Signal> x) {
  a(x.enter);
  a(x.number);
  a(x.alternate_stack);
}

template <typename A>
void fields(A& a, typename A::template Ref<Fork> x) {
  a(x.child);
}

template <typename A>
void fields(A& a, typename A::template Ref<Exec> x) {
  a(x.path);
}

template <typename T>
void encode_tagged(Tag tag, const T& value, ByteWriter& out) {
  out.byte(static_cast<std::uint8_t>(tag));
  Encoder encoder(out);
  fields(encoder, value);
}

tl::unexpected<Error> malformed(std::string reason) { return fail(ErrorKind::kBadInput, std::move(reason)); }

/// A side event of the kind with this number, fields at their defaults.
template <std::size_t I = 0>
SideData alternative(std::size_t index) {
  if constexpr (I + 1 < std::variant_size_v<SideData>) {
    if (index != I) return alternative<I + 1>(index);
  }
  return SideData(std::in_place_index<I>);
}

}  // namespace

void encode_module(const Module& module, ByteWriter& out) { encode_tagged(Tag::kModule, module, out); }
void encode_block(const Block& block, ByteWriter& out) { encode_tagged(Tag::kBlock, block, out); }
void encode_exit(const Exit& exit, ByteWriter& out) { encode_tagged(Tag::kExit, exit, out); }

void encode_stack(const CallStack& stack, ByteWriter& out) {
  out.byte(static_cast<std::uint8_t>(Tag::kStack));
  Encoder(out).list(stack);
}

Result<void> decode_descriptions(std::span<const std::uint8_t> payload, std::uint64_t items, Descriptions& to,
                                 Shapes& shapes) {
  ByteReader in(payload);
  Decoder decoder(in);
  for (std::uint64_t i = 0; i < items && in.ok(); ++i) {
    Result<void> sound;
    switch (static_cast<Tag>(in.byte())) {
      case Tag::kModule:
        fields(decoder, to.modules.emplace_back());
        break;
      case Tag::kBlock: {
        Block& block = to.blocks.emplace_back();
        block.id = static_cast<BlockId>(to.blocks.size() - 1);
        fields(decoder, block);
        if (in.ok()) sound = shapes.add_block(block);
        break;
      }
      case Tag::kExit: {
        Exit& exit = to.exits.emplace_back();
        exit.id = static_cast<ExitId>(to.exits.size() - 1);
        fields(decoder, exit);
        if (in.ok()) sound = shapes.add_exit(exit);
        break;
      }
      case Tag::kStack:
        decoder.list(to.stacks.emplace_back());
        if (to.stacks.back().size() > kMaxStackDepth) return malformed("a call stack is too deep");
        break;
      default:
        return malformed("a description of an unknown kind");
    }
    if (!sound) return sound;
  }
  if (!in.ok() || !in.at_end()) return malformed("descriptions do not fill their chunk");
  return {};
}

Result<void> check_side(const SideEvent& side, std::size_t stacks) {
  const StackId* stack = nullptr;
  if (const Allocation* allocation = std::get_if<Allocation>(&side.data)) stack = &allocation->stack;
  if (const Mapping* mapping = std::get_if<Mapping>(&side.data)) stack = &mapping->stack;
  if (stack != nullptr && *stack != kNoStack && *stack >= stacks)
    return malformed(fmt::format("a side event names call stack {} of {}", *stack, stacks));
  if (side.thread >= kMaxThreads) return malformed(fmt::format("a side event of thread {}", side.thread));
  return {};
}

void encode_side(const PlacedSide& placed, SideContext& context, ByteWriter& out) {
  const SideEvent& side = placed.side;
  out.byte(static_cast<std::uint8_t>(side.data.index()));
  out.varint(side.thread);
  out.varint(placed.ordinal - context.ordinal);
  out.varint(side.slice - context.slice);
  out.signed_varint(side.position - context.position);
  Encoder encoder(out);
  std::visit([&](const auto& data) { fields(encoder, data); }, side.data);
  context = {placed.ordinal, side.slice, side.position};
}

Result<void> decode_sides(std::span<const std::uint8_t> payload, std::uint64_t items, std::size_t stacks,
                          std::vector<PlacedSide>& to) {
  constexpr std::size_t kSmallest = 5;  // kind, thread, ordinal, slice, position
  to.clear();
  if (items > payload.size() / kSmallest) return malformed("more side events than their chunk can hold");
  to.reserve(items);
  ByteReader in(payload);
  Decoder decoder(in);
  SideContext context;
  for (std::uint64_t i = 0; i < items && in.ok(); ++i) {
    PlacedSide& placed = to.emplace_back();
    const std::uint8_t kind = in.byte();
    if (kind >= std::variant_size_v<SideData>) return malformed("a side event of an unknown kind");
    decoder(placed.side.thread);
    const std::uint64_t ordinal_step = in.bounded(kMaxGroupEvents);
    const std::uint64_t slice_step = in.bounded(std::numeric_limits<std::uint64_t>::max() - context.slice);
    context.ordinal += ordinal_step;
    context.slice += slice_step;
    context.position += in.signed_varint();
    placed.ordinal = context.ordinal;
    placed.side.slice = context.slice;
    placed.side.position = context.position;
    placed.side.data = alternative(kind);
    std::visit([&](auto& data) { fields(decoder, data); }, placed.side.data);
    if (Result<void> sound = check_side(placed.side, stacks); !sound) return sound;
  }
  if (!in.ok() || !in.at_end()) return malformed("side events do not fill their chunk");
  return {};
}

}  // namespace loopfold::trace
