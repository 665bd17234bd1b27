#include "linear.h"

#include "description.h"

namespace loopfold::tool {

namespace {

constexpr UInt kMostRoots = 2048;
constexpr UInt kMostKnown = 512;
constexpr UInt kMostFormTerms = 3;
constexpr UInt kGeneralRegisters = 16;

struct FormTerm {
  UInt root;
  ULong coefficient;
};

/// constant + sum of coefficient * root, modulo 2^bits. Terms are sorted by root, coefficients are not 0.
struct Form {
  UChar bits = 0;  // 0: not an integer
  UChar terms = 0;
  ULong constant = 0;
  FormTerm term[kMostFormTerms] = {};
};

struct Root {
  UChar bits = 64;  // its value is below 2^bits
  bool derived = false;
  wire::Extend extend = wire::kExtendNone;  // of `from`, if derived
  Form from;
  UInt value = wire::kNoValue;  // how it can be had, once known
};

/// A stored value and what it says: its form without the constant has the value `slot - constant`, modulo 2^bits.
struct Known {
  Form form;
  UInt slot;
};

constinit Form* forms = nullptr;  // by temporary
constinit UInt forms_size = 0;
constinit Form registers[kGeneralRegisters];  // what each general register holds; bits 0: not known
constinit Root roots[kMostRoots];
constinit UInt root_count = 0;
constinit Known known[kMostKnown];
constinit UInt known_count = 0;
constinit const IRTypeEnv* types = nullptr;

ULong mask_of(UInt bits) { return bits >= 64 ? ~ULong{0} : (ULong{1} << bits) - 1; }

UInt bits_of(IRType type) {
  switch (type) {
    case Ity_I8:
      return 8;
    case Ity_I16:
      return 16;
    case Ity_I32:
      return 32;
    case Ity_I64:
      return 64;
    default:
      return 0;
  }
}

Form constant_form(ULong value, UInt bits) {
  Form form;
  form.bits = static_cast<UChar>(bits);
  form.constant = value & mask_of(bits);
  return form;
}

Form root_form(UInt root, UInt bits) {
  Form form;
  form.bits = static_cast<UChar>(bits);
  form.terms = 1;
  form.term[0] = {root, 1};
  return form;
}

/// A form that nothing else is known about.
Form opaque(UInt bits) {
  if (bits == 0 || root_count == kMostRoots) return Form{};
  roots[root_count] = Root{};
  roots[root_count].bits = static_cast<UChar>(bits);
  return root_form(root_count++, bits);
}

Form narrowed(const Form& form, UInt bits) {
  Form result;
  if (form.bits == 0) return result;
  result.bits = static_cast<UChar>(bits);
  result.constant = form.constant & mask_of(bits);
  for (UInt i = 0; i < form.terms; i++) {
    const ULong coefficient = form.term[i].coefficient & mask_of(bits);
    if (coefficient != 0) result.term[result.terms++] = {form.term[i].root, coefficient};
  }
  return result;
}

Form scaled(const Form& form, ULong factor) {
  Form result = form;
  result.constant *= factor;
  for (UInt i = 0; i < form.terms; i++) result.term[i].coefficient *= factor;
  return narrowed(result, form.bits);
}

/// a + b, or bits 0 if that has too many terms.
Form sum(const Form& a, const Form& b) {
  Form result;
  if (a.bits == 0 || b.bits == 0) return result;
  FormTerm merged[2 * kMostFormTerms];
  UInt count = 0;
  for (UInt i = 0, j = 0; i < a.terms || j < b.terms;) {
    if (j == b.terms || (i < a.terms && a.term[i].root < b.term[j].root)) {
      merged[count++] = a.term[i++];
    } else if (i == a.terms || b.term[j].root < a.term[i].root) {
      merged[count++] = b.term[j++];
    } else {
      const ULong coefficient = (a.term[i].coefficient + b.term[j].coefficient) & mask_of(a.bits);
      if (coefficient != 0) merged[count++] = {a.term[i].root, coefficient};
      i++;
      j++;
    }
  }
  if (count > kMostFormTerms) return result;
  result.bits = a.bits;
  result.constant = (a.constant + b.constant) & mask_of(a.bits);
  result.terms = static_cast<UChar>(count);
  for (UInt i = 0; i < count; i++) result.term[i] = merged[i];
  return result;
}

bool same_terms(const Form& a, const Form& b) {
  if (a.terms != b.terms) return false;
  for (UInt i = 0; i < a.terms; i++) {
    if (a.term[i].root != b.term[i].root || a.term[i].coefficient != b.term[i].coefficient) return false;
  }
  return true;
}

ULong extended(ULong value, wire::Extend extend) {
  switch (extend) {
    case wire::kExtendZero8:
      return static_cast<UChar>(value);
    case wire::kExtendZero16:
      return static_cast<UShort>(value);
    case wire::kExtendZero32:
      return static_cast<UInt>(value);
    case wire::kExtendSign8:
      return static_cast<ULong>(static_cast<Long>(static_cast<signed char>(value)));
    case wire::kExtendSign16:
      return static_cast<ULong>(static_cast<Long>(static_cast<Short>(value)));
    case wire::kExtendSign32:
      return static_cast<ULong>(static_cast<Long>(static_cast<Int>(value)));
    default:
      return value;
  }
}

wire::Extend zero_extend(UInt bits) {
  return bits == 8    ? wire::kExtendZero8
         : bits == 16 ? wire::kExtendZero16
         : bits == 32 ? wire::kExtendZero32
                      : wire::kExtendNone;
}

wire::Extend sign_extend(UInt bits) {
  return bits == 8    ? wire::kExtendSign8
         : bits == 16 ? wire::kExtendSign16
         : bits == 32 ? wire::kExtendSign32
                      : wire::kExtendNone;
}

/// Extending `form`, which is one root and nothing else, changes nothing: the root is small enough.
bool unchanged_by(wire::Extend extend, const Form& form) {
  const UInt root_bits = roots[form.term[0].root].bits;
  return extend >= wire::kExtendSign8 ? root_bits < form.bits : root_bits <= form.bits;
}

/// `form` extended to `bits`: itself if it is one small root or a constant, else a root of its own.
Form widened(const Form& form, bool sign, UInt bits) {
  if (form.bits == 0) return opaque(bits);
  const wire::Extend extend = sign ? sign_extend(form.bits) : zero_extend(form.bits);
  if (form.terms == 0) return constant_form(extended(form.constant, extend), bits);
  const bool plain = form.terms == 1 && form.term[0].coefficient == 1 && form.constant == 0;
  if (plain && unchanged_by(extend, form)) return root_form(form.term[0].root, bits);
  const UInt first = root_count > 64 ? root_count - 64 : 0;
  for (UInt i = first; i < root_count; i++) {
    const Root& root = roots[i];
    const bool same = root.derived && root.extend == extend && root.from.bits == form.bits &&
                      root.from.constant == form.constant && same_terms(root.from, form);
    if (same) return narrowed(root_form(i, 64), bits);
  }
  Form result = opaque(64);
  if (result.bits == 0) return result;
  Root& root = roots[result.term[0].root];
  root.derived = true;
  root.extend = extend;
  root.from = form;
  if (!sign) root.bits = form.bits;
  return narrowed(result, bits);
}

Form form_of(const IRExpr* atom) {
  if (atom->tag == Iex_RdTmp) return forms[atom->Iex.RdTmp.tmp];
  if (atom->tag != Iex_Const) return Form{};
  const IRConst* c = atom->Iex.Const.con;
  switch (c->tag) {
    case Ico_U8:
      return constant_form(c->Ico.U8, 8);
    case Ico_U16:
      return constant_form(c->Ico.U16, 16);
    case Ico_U32:
      return constant_form(c->Ico.U32, 32);
    case Ico_U64:
      return constant_form(c->Ico.U64, 64);
    default:
      return Form{};
  }
}

Form unary(IROp op, const Form& a, UInt bits) {
  switch (op) {
    case Iop_64to32:
    case Iop_64to16:
    case Iop_64to8:
    case Iop_32to16:
    case Iop_32to8:
    case Iop_16to8:
      return narrowed(a, bits);
    case Iop_8Uto16:
    case Iop_8Uto32:
    case Iop_8Uto64:
    case Iop_16Uto32:
    case Iop_16Uto64:
    case Iop_32Uto64:
      return widened(a, false, bits);
    case Iop_8Sto16:
    case Iop_8Sto32:
    case Iop_8Sto64:
    case Iop_16Sto32:
    case Iop_16Sto64:
    case Iop_32Sto64:
      return widened(a, true, bits);
    default:
      return Form{};
  }
}

Form binary(IROp op, const Form& a, const Form& b) {
  switch (op) {
    case Iop_Add8:
    case Iop_Add16:
    case Iop_Add32:
    case Iop_Add64:
      return sum(a, b);
    case Iop_Sub8:
    case Iop_Sub16:
    case Iop_Sub32:
    case Iop_Sub64:
      return sum(a, scaled(b, ~ULong{0}));
    case Iop_Mul8:
    case Iop_Mul16:
    case Iop_Mul32:
    case Iop_Mul64:
      if (a.bits != 0 && b.bits != 0 && b.terms == 0) return scaled(a, b.constant);
      if (a.bits != 0 && b.bits != 0 && a.terms == 0) return scaled(b, a.constant);
      return Form{};
    case Iop_Shl8:
    case Iop_Shl16:
    case Iop_Shl32:
    case Iop_Shl64:
      if (a.bits == 0 || b.bits == 0 || b.terms != 0 || b.constant >= a.bits) return Form{};
      return scaled(a, ULong{1} << b.constant);
    default:
      return Form{};
  }
}

Int register_at(Int offset) {
  const Int from_rax = offset - static_cast<Int>(offsetof(VexGuestAMD64State, guest_RAX));
  return from_rax >= 0 && from_rax < static_cast<Int>(8 * kGeneralRegisters) ? from_rax / 8 : -1;
}

Form read_register(Int offset, UInt bits) {
  const Int reg = register_at(offset);
  if (reg < 0) return opaque(bits);
  if (registers[reg].bits == 0) registers[reg] = opaque(64);
  const bool low_part = offset == static_cast<Int>(offsetof(VexGuestAMD64State, guest_RAX)) + 8 * reg;
  return low_part && registers[reg].bits != 0 ? narrowed(registers[reg], bits) : opaque(bits);
}

Form form_of_definition(const IRExpr* value, UInt bits) {
  switch (value->tag) {
    case Iex_RdTmp:
    case Iex_Const:
      return form_of(value);
    case Iex_Get:
      return read_register(value->Iex.Get.offset, bits);
    case Iex_Unop:
      return unary(value->Iex.Unop.op, form_of(value->Iex.Unop.arg), bits);
    case Iex_Binop:
      return binary(value->Iex.Binop.op, form_of(value->Iex.Binop.arg1), form_of(value->Iex.Binop.arg2));
    default:
      return Form{};
  }
}

UInt value_of_root(UInt root);

/// constant + sum over the form's terms as a value, if all its roots are known.
UInt value_of_form(const Form& form, wire::Extend extend) {
  if (form.terms == 0) return DescriptionBuilder::constant(extended(form.constant, extend));
  wire::DescribedExpression expression{};
  expression.constant = form.constant;
  expression.extend = extend;
  expression.terms = form.terms;
  for (UInt i = 0; i < form.terms; i++) {
    const UInt operand = value_of_root(form.term[i].root);
    if (operand == wire::kNoValue) return wire::kNoValue;
    expression.term[i] = {form.term[i].coefficient, operand, 0};
  }
  const bool plain = form.terms == 1 && form.constant == 0 && form.term[0].coefficient == 1;
  const bool itself = plain && (extend == wire::kExtendNone || unchanged_by(extend, form));
  return itself ? expression.term[0].operand : DescriptionBuilder::expression(expression);
}

UInt value_of_root(UInt index) {
  Root& root = roots[index];
  if (root.value == wire::kNoValue && root.derived) root.value = value_of_form(root.from, root.extend);
  return root.value;
}

/// The value of `form` from one stored value that has the same terms, modulo at least as many bits.
UInt value_from_stored(const Form& form) {
  for (UInt i = known_count; i-- > 0;) {
    const Known& entry = known[i];
    if (entry.form.bits < form.bits) continue;
    if (!same_terms(entry.form.bits == form.bits ? entry.form : narrowed(entry.form, form.bits), form)) continue;
    const ULong difference = (form.constant - entry.form.constant) & mask_of(form.bits);
    const UInt slot = wire::make_value(wire::kValueSlot, entry.slot);
    if (difference == 0 && entry.form.bits == form.bits) return slot;
    wire::DescribedExpression expression{};
    expression.constant = difference;
    expression.extend = zero_extend(form.bits);
    expression.terms = 1;
    expression.term[0] = {1, slot, 0};
    return DescriptionBuilder::expression(expression);
  }
  return wire::kNoValue;
}

/// If all roots of a stored form but one are known, and that one counts once, it is known now.
void solve(const Form& form, UInt slot) {
  if (form.bits != 64) {
    const bool plain = form.terms == 1 && form.constant == 0 && form.term[0].coefficient == 1;
    Root& root = roots[form.term[0].root];
    if (plain && root.bits <= form.bits && root.value == wire::kNoValue) {
      root.value = wire::make_value(wire::kValueSlot, slot);
    }
    return;
  }
  UInt unknown = kMostFormTerms;
  for (UInt i = 0; i < form.terms; i++) {
    if (value_of_root(form.term[i].root) != wire::kNoValue) continue;
    if (unknown != kMostFormTerms) return;
    unknown = i;
  }
  if (unknown == kMostFormTerms) return;
  const ULong sign = form.term[unknown].coefficient;  // 1 or -1: its own inverse
  if (sign != 1 && sign != ~ULong{0}) return;
  Root& root = roots[form.term[unknown].root];
  const UInt stored = wire::make_value(wire::kValueSlot, slot);
  if (form.terms == 1 && form.constant == 0 && sign == 1) {
    root.value = stored;
    return;
  }
  wire::DescribedExpression expression{};
  expression.constant = -form.constant * sign;
  expression.term[expression.terms++] = {sign, stored, 0};
  for (UInt i = 0; i < form.terms; i++) {
    if (i == unknown) continue;
    expression.term[expression.terms++] = {-form.term[i].coefficient * sign, value_of_root(form.term[i].root), 0};
  }
  root.value = DescriptionBuilder::expression(expression);
}

}  // namespace

void LinearForms::begin(UInt temporaries, const IRTypeEnv* type_environment) {
  if (temporaries > forms_size) {
    if (forms != nullptr) VG_(free)(forms);
    forms_size = 2 * temporaries + 64;
    forms = static_cast<Form*>(VG_(malloc)("loopfold.forms", forms_size * sizeof(Form)));
  }
  for (UInt i = 0; i < temporaries; i++) forms[i] = Form{};
  for (Form& form : registers) form = Form{};
  root_count = 0;
  known_count = 0;
  types = type_environment;
}

void LinearForms::define(IRTemp temp, const IRExpr* value) {
  const UInt bits = bits_of(typeOfIRTemp(types, temp));
  if (bits == 0) return;
  const Form form = form_of_definition(value, bits);
  forms[temp] = form.bits == bits ? form : opaque(bits);
}

void LinearForms::define_opaque(IRTemp temp) { forms[temp] = opaque(bits_of(typeOfIRTemp(types, temp))); }

void LinearForms::put_register(Int offset, const IRExpr* value) {
  const Int reg = register_at(offset);
  if (reg < 0) return;
  const Form form = form_of(value);
  registers[reg] = form.bits == 64 ? form : Form{};
}

void LinearForms::forget_register(Int offset, Int size) {
  for (Int at = offset; at < offset + size; at++) {
    const Int reg = register_at(at);
    if (reg >= 0) registers[reg] = Form{};
  }
}

UInt LinearForms::find(const IRExpr* atom) {
  const Form form = form_of(atom);
  if (form.bits == 0) return wire::kNoValue;
  if (form.terms == 0) return DescriptionBuilder::constant(form.constant);
  const UInt stored = value_from_stored(form);
  return stored != wire::kNoValue ? stored : value_of_form(form, zero_extend(form.bits));
}

UInt LinearForms::find_register(Int offset) {
  const Form form = read_register(offset, 64);
  return form.bits == 64 && form.terms > 0 ? value_from_stored(form) : UInt{wire::kNoValue};
}

void LinearForms::stored(const IRExpr* atom, UInt slot) {
  const Form form = form_of(atom);
  if (form.bits == 0 || form.terms == 0) return;
  if (known_count < kMostKnown) known[known_count++] = {form, slot};
  solve(form, slot);
}

}  // namespace loopfold::tool
