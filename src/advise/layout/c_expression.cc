#include "advise/layout/c_expression.h"

#include <fmt/format.h>
#include <isl/ast.h>
#include <isl/ast_build.h>

namespace loopfold::poly {

template <>
struct IslType<isl_ast_expr> {
  static isl_ast_expr* copy(isl_ast_expr* p) { return isl_ast_expr_copy(p); }
  static void free(isl_ast_expr* p) { isl_ast_expr_free(p); }
};
template <>
struct IslType<isl_ast_build> {
  static isl_ast_build* copy(isl_ast_build* p) { return isl_ast_build_copy(p); }
  static void free(isl_ast_build* p) { isl_ast_build_free(p); }
};
template <>
struct IslType<isl_id> {
  static isl_id* copy(isl_id* p) { return isl_id_copy(p); }
  static void free(isl_id* p) { isl_id_free(p); }
};

}  // namespace loopfold::poly

namespace loopfold::layout {

namespace {

using poly::Isl;

class Writer {
 public:
  explicit Writer(const NameInC& name) : name_(name) {}

  std::string text(const Isl<isl_ast_expr>& expression) {
    switch (isl_ast_expr_get_type(expression.get())) {
      case isl_ast_expr_id: {
        const Isl<isl_id> id(isl_ast_expr_id_get_id(expression.get()));
        return name_(isl_id_get_name(id.get()));
      }
      case isl_ast_expr_int: {
        const Isl<isl_val> value(isl_ast_expr_int_get_val(expression.get()));
        return poly::take_text(isl_val_to_str(value.get()));
      }
      case isl_ast_expr_op:
        return operation(expression);
      default:
        failed_ = true;
        return "";
    }
  }
  bool failed() const { return failed_; }

 private:
  std::string argument(const Isl<isl_ast_expr>& expression, int number) {
    const Isl<isl_ast_expr> one(isl_ast_expr_op_get_arg(expression.get(), number));
    const std::string inner = text(one);
    return isl_ast_expr_get_type(one.get()) == isl_ast_expr_op ? "(" + inner + ")" : inner;
  }

  std::string infix(const Isl<isl_ast_expr>& e, std::string_view sign) {
    return fmt::format("{} {} {}", argument(e, 0), sign, argument(e, 1));
  }

  std::string extreme(const Isl<isl_ast_expr>& e, std::string_view sign) {
    std::string result = argument(e, 0);
    for (int i = 1; i < isl_ast_expr_op_get_n_arg(e.get()); i++) {
      const std::string other = argument(e, i);
      if (other != result) result = fmt::format("({0} {2} {1} ? {0} : {1})", result, other, sign);
    }
    return result;
  }

  std::string operation(const Isl<isl_ast_expr>& e) {
    switch (isl_ast_expr_op_get_type(e.get())) {
      case isl_ast_expr_op_add:
        return infix(e, "+");
      case isl_ast_expr_op_sub:
        return infix(e, "-");
      case isl_ast_expr_op_mul:
        return infix(e, "*");
      case isl_ast_expr_op_minus:
        return "-" + argument(e, 0);
      case isl_ast_expr_op_div:
      case isl_ast_expr_op_pdiv_q:
        return infix(e, "/");
      case isl_ast_expr_op_pdiv_r:
      case isl_ast_expr_op_zdiv_r:
        return infix(e, "%");
      case isl_ast_expr_op_fdiv_q:
        return fmt::format("{0} / {1} - ({0} % {1} < 0)", argument(e, 0), argument(e, 1));
      case isl_ast_expr_op_max:
        return extreme(e, ">");
      case isl_ast_expr_op_min:
        return extreme(e, "<");
      case isl_ast_expr_op_cond:
      case isl_ast_expr_op_select:
        return fmt::format("{} ? {} : {}", argument(e, 0), argument(e, 1), argument(e, 2));
      case isl_ast_expr_op_eq:
        return infix(e, "==");
      case isl_ast_expr_op_le:
        return infix(e, "<=");
      case isl_ast_expr_op_lt:
        return infix(e, "<");
      case isl_ast_expr_op_ge:
        return infix(e, ">=");
      case isl_ast_expr_op_gt:
        return infix(e, ">");
      case isl_ast_expr_op_and:
      case isl_ast_expr_op_and_then:
        return infix(e, "&&");
      case isl_ast_expr_op_or:
      case isl_ast_expr_op_or_else:
        return infix(e, "||");
      default:
        failed_ = true;
        return "";
    }
  }

  const NameInC& name_;
  bool failed_ = false;
};

}  // namespace

Result<std::string> c_expression(const Isl<isl_pw_aff>& function, const Isl<isl_set>& context, const NameInC& name) {
  const Isl<isl_ast_build> build(isl_ast_build_from_context(context.copy()));
  const Isl<isl_ast_expr> expression(isl_ast_build_expr_from_pw_aff(build.get(), function.copy()));
  if (!expression) return fail(ErrorKind::kBadInput, "isl gave up on the length of a dimension");
  Writer writer(name);
  std::string text = writer.text(expression);
  if (writer.failed()) return fail(ErrorKind::kInternal, "isl gave an expression of an unknown kind");
  return text;
}

}  // namespace loopfold::layout
