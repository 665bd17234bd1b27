#include "advise/layout/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "advise/layout/clang.h"

namespace loopfold::layout {

namespace {

struct Spot {
  std::string file;
  std::size_t offset = 0;
  unsigned line = 0;
  unsigned column = 0;
};

struct Unsaved {
  std::string path;
  std::string text;
};

/// One parsed unit, with the questions that are asked of it.
class Unit {
 public:
  static Result<std::unique_ptr<Unit>> parse(const std::string& file, const std::vector<Unsaved>& unsaved,
                                             const std::vector<std::string>& options) {
    const Result<const ClangTable*> clang = load_clang();
    if (!clang) return tl::unexpected<Error>(clang.error());
    std::vector<const char*> arguments;
    for (const std::string& option : options) arguments.push_back(option.c_str());
    std::vector<CXUnsavedFile> files;
    for (const Unsaved& one : unsaved)
      files.push_back({one.path.c_str(), one.text.data(), static_cast<unsigned long>(one.text.size())});
    CXIndex index = (*clang)->createIndex(0, 0);
    CXTranslationUnit unit = nullptr;
    const CXErrorCode code = (*clang)->parseTranslationUnit2(
        index, file.c_str(), arguments.data(), static_cast<int>(arguments.size()), files.data(),
        static_cast<unsigned>(files.size()),
        CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing, &unit);
    auto result = std::unique_ptr<Unit>(new Unit(**clang, index, unit, file));
    if (code != CXError_Success || unit == nullptr)
      return fail(ErrorKind::kBadInput, fmt::format("{}: libclang cannot parse it", file));
    return result;
  }

  const ClangTable& clang() const { return clang_; }
  CXCursor root() const { return clang_.getTranslationUnitCursor(unit_.get()); }
  CXTranslationUnit get() const { return unit_.get(); }

  Spot spot(CXSourceLocation location) const {
    Spot result;
    CXFile file = nullptr;
    unsigned offset = 0;
    clang_.getSpellingLocation(location, &file, &result.line, &result.column, &offset);
    if (file != nullptr) result.file = take_text(clang_, clang_.getFileName(file));
    result.offset = offset;
    return result;
  }
  bool in_main_file(CXCursor cursor) const { return spot(clang_.getCursorLocation(cursor)).file == file_; }
  std::string spelling(CXCursor cursor) const { return take_text(clang_, clang_.getCursorSpelling(cursor)); }
  std::string spelling(CXType type) const { return take_text(clang_, clang_.getTypeSpelling(type)); }

  /// What identifies a declaration in any unit that has the same text up to there.
  std::string key(CXCursor declaration) const {
    if (clang_.Cursor_isNull(declaration) != 0) return "";
    const Spot where = spot(clang_.getCursorLocation(declaration));
    return fmt::format("{}:{}", where.file, where.offset);
  }

  using Visit = std::function<void(CXCursor)>;
  void each_child(CXCursor cursor, const Visit& visit) const {
    const auto call = [](CXCursor child, CXCursor, CXClientData data) {
      (*static_cast<const Visit*>(data))(child);
      return CXChildVisit_Continue;
    };
    clang_.visitChildren(cursor, call, const_cast<Visit*>(&visit));
  }

  struct Complaint {
    Spot where;
    std::string text;
  };
  std::vector<Complaint> errors() const {
    std::vector<Complaint> result;
    for (unsigned i = 0; i < clang_.getNumDiagnostics(unit_.get()); i++) {
      CXDiagnostic diagnostic = clang_.getDiagnostic(unit_.get(), i);
      if (clang_.getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error)
        result.push_back({spot(clang_.getDiagnosticLocation(diagnostic)),
                          take_text(clang_, clang_.getDiagnosticSpelling(diagnostic))});
      clang_.disposeDiagnostic(diagnostic);
    }
    return result;
  }

 private:
  Unit(const ClangTable& clang, CXIndex index, CXTranslationUnit unit, std::string file)
      : clang_(clang), unit_(clang, index, unit), file_(std::move(file)) {}

  const ClangTable& clang_;
  ClangUnit unit_;
  std::string file_;
};

SyntaxKind kind_of(CXCursorKind kind) {
  switch (kind) {
    case CXCursor_FunctionDecl:
      return SyntaxKind::kFunction;
    case CXCursor_VarDecl:
    case CXCursor_ParmDecl:
      return SyntaxKind::kVariable;
    case CXCursor_CompoundStmt:
      return SyntaxKind::kBlock;
    case CXCursor_ForStmt:
      return SyntaxKind::kFor;
    case CXCursor_WhileStmt:
      return SyntaxKind::kWhile;
    case CXCursor_DoStmt:
      return SyntaxKind::kDo;
    case CXCursor_IfStmt:
      return SyntaxKind::kIf;
    case CXCursor_SwitchStmt:
      return SyntaxKind::kSwitch;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
      return SyntaxKind::kCase;
    case CXCursor_LabelStmt:
      return SyntaxKind::kLabel;
    case CXCursor_GotoStmt:
      return SyntaxKind::kGoto;
    case CXCursor_IndirectGotoStmt:
      return SyntaxKind::kIndirectGoto;
    case CXCursor_BreakStmt:
      return SyntaxKind::kBreak;
    case CXCursor_ContinueStmt:
      return SyntaxKind::kContinue;
    case CXCursor_ReturnStmt:
      return SyntaxKind::kReturn;
    case CXCursor_DeclStmt:
      return SyntaxKind::kDeclarations;
    case CXCursor_NullStmt:
      return SyntaxKind::kNull;
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
      return SyntaxKind::kAssembly;
    case CXCursor_DeclRefExpr:
      return SyntaxKind::kName;
    case CXCursor_ArraySubscriptExpr:
      return SyntaxKind::kSubscript;
    case CXCursor_MemberRefExpr:
      return SyntaxKind::kMember;
    case CXCursor_CallExpr:
      return SyntaxKind::kCall;
    case CXCursor_UnaryOperator:
      return SyntaxKind::kUnary;
    case CXCursor_UnaryExpr:
      return SyntaxKind::kSizeof;
    case CXCursor_BinaryOperator:
      return SyntaxKind::kBinary;
    case CXCursor_CompoundAssignOperator:
      return SyntaxKind::kAssignment;
    case CXCursor_ParenExpr:
      return SyntaxKind::kParentheses;
    case CXCursor_UnexposedExpr:
      return SyntaxKind::kImplicit;
    case CXCursor_CStyleCastExpr:
      return SyntaxKind::kCast;
    default:
      return SyntaxKind::kOther;
  }
}

bool is_array_type(CXTypeKind kind) {
  return kind == CXType_ConstantArray || kind == CXType_VariableArray || kind == CXType_IncompleteArray;
}

bool is_address_type(CXTypeKind kind) {
  switch (kind) {
    case CXType_Pointer:
    case CXType_Record:
    case CXType_Long:
    case CXType_ULong:
    case CXType_LongLong:
    case CXType_ULongLong:
    case CXType_Int128:
    case CXType_UInt128:
    case CXType_Unexposed:
    case CXType_Invalid:
      return true;
    default:
      return is_array_type(kind);
  }
}

/// What a pointer or an array leads to in the end is a pointer, a structure, or nothing in particular.
bool leads_to_addresses(const ClangTable& clang, CXType type) {
  CXType inner = clang.getCanonicalType(type);
  if (inner.kind != CXType_Pointer && !is_array_type(inner.kind)) return false;
  const bool pointer = inner.kind == CXType_Pointer;
  inner = clang.getCanonicalType(pointer ? clang.getPointeeType(inner) : clang.getArrayElementType(inner));
  while (is_array_type(inner.kind)) inner = clang.getCanonicalType(clang.getArrayElementType(inner));
  return inner.kind == CXType_Pointer || inner.kind == CXType_Record || inner.kind == CXType_Void;
}

std::string label_of(const Unit& unit, CXCursor go_to) {
  std::string key;
  unit.each_child(go_to, [&](CXCursor child) { key = unit.key(unit.clang().getCursorReferenced(child)); });
  return key;
}

Syntax tree_of(const Unit& unit, CXCursor cursor) {
  const ClangTable& clang = unit.clang();
  const CXCursorKind kind = clang.getCursorKind(cursor);
  const CXSourceRange extent = clang.getCursorExtent(cursor);
  Syntax node;
  node.kind = kind_of(kind);
  node.begin = unit.spot(clang.getRangeStart(extent)).offset;
  node.end = unit.spot(clang.getRangeEnd(extent)).offset;
  node.is_statement = clang.isStatement(kind) != 0;
  node.name = unit.spelling(cursor);
  const CXTypeKind type = clang.getCanonicalType(clang.getCursorType(cursor)).kind;
  node.is_array = is_array_type(type);
  node.is_pointer = node.is_array || type == CXType_Pointer;
  node.may_be_address = is_address_type(type);
  node.leads_to_addresses = node.is_pointer && leads_to_addresses(clang, clang.getCursorType(cursor));
  if (node.kind == SyntaxKind::kName || node.kind == SyntaxKind::kCall)
    node.declaration = unit.key(clang.getCursorReferenced(cursor));
  if (node.kind == SyntaxKind::kVariable || node.kind == SyntaxKind::kFunction || node.kind == SyntaxKind::kLabel)
    node.declaration = unit.key(cursor);
  if (node.kind == SyntaxKind::kVariable || node.kind == SyntaxKind::kFunction)
    node.is_static = clang.Cursor_getStorageClass(cursor) == CX_SC_Static;
  if (node.kind == SyntaxKind::kGoto) node.declaration = label_of(unit, cursor);
  unit.each_child(cursor, [&](CXCursor child) { node.children.push_back(tree_of(unit, child)); });
  return node;
}

bool is_definition(const Unit& unit, CXCursor function) {
  bool body = false;
  unit.each_child(function,
                  [&](CXCursor child) { body |= unit.clang().getCursorKind(child) == CXCursor_CompoundStmt; });
  return body;
}

std::vector<std::pair<std::size_t, std::size_t>> skipped_ranges(const Unit& unit, const std::string& file) {
  std::vector<std::pair<std::size_t, std::size_t>> result;
  const ClangTable& clang = unit.clang();
  CXSourceRangeList* const list = clang.getSkippedRanges(unit.get(), clang.getFile(unit.get(), file.c_str()));
  if (list == nullptr) return result;
  for (unsigned i = 0; i < list->count; i++)
    result.emplace_back(unit.spot(clang.getRangeStart(list->ranges[i])).offset,
                        unit.spot(clang.getRangeEnd(list->ranges[i])).offset);
  clang.disposeSourceRangeList(list);
  return result;
}

// ---- macros ----

/// What the bodies of macros say, looked at when one is used.
class MacroReader {
 public:
  MacroReader(const Unit& unit, std::map<std::string, CXCursor> definitions)
      : unit_(unit), definitions_(std::move(definitions)) {}

  MacroUse use(CXCursor expansion) {
    const CXSourceRange extent = unit_.clang().getCursorExtent(expansion);
    MacroUse use;
    use.begin = unit_.spot(unit_.clang().getRangeStart(extent)).offset;
    use.end = unit_.spot(unit_.clang().getRangeEnd(extent)).offset;
    use.name = unit_.spelling(expansion);
    std::set<std::string> seen;
    look(use.name, use, seen);
    return use;
  }

 private:
  /// Words and signs of a macro's definition, its name first.
  std::vector<std::string> words(CXCursor definition) const {
    const ClangTable& clang = unit_.clang();
    CXToken* tokens = nullptr;
    unsigned count = 0;
    clang.tokenize(unit_.get(), clang.getCursorExtent(definition), &tokens, &count);
    std::vector<std::string> result;
    for (unsigned i = 0; i < count; i++)
      result.push_back(take_text(clang, clang.getTokenSpelling(unit_.get(), tokens[i])));
    if (tokens != nullptr) clang.disposeTokens(unit_.get(), tokens, count);
    return result;
  }

  void look(const std::string& name, MacroUse& use, std::set<std::string>& seen) {
    const auto definition = definitions_.find(name);
    if (definition == definitions_.end() || !seen.insert(name).second) return;
    static const std::set<std::string> kAssigning = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "<<=", ">>="};
    for (const std::string& word : words(definition->second)) {
      use.assigns = use.assigns || kAssigning.count(word) != 0;
      use.stringifies = use.stringifies || word == "#";
      look(word, use, seen);
    }
  }

  const Unit& unit_;
  std::map<std::string, CXCursor> definitions_;
};

// ---- probes ----

std::string probe_name(std::size_t probe) { return fmt::format("lf{}", probe); }

/// One line for each question, so that a complaint's line says which it is about.
std::string probe_text(const Probe& probe) {
  std::string text = "{\n";
  for (std::size_t i = 0; i < probe.arrays.size(); i++) {
    const Probe::Array& array = probe.arrays[i];
    std::string element = array.name;
    for (std::size_t d = 0; d < array.dimensions; d++) element += "[0]";
    if (!array.field.empty()) element += "." + array.field;
    text += fmt::format("typedef {} loopfold_probe_type_{};\n", array.type, i);
    text += fmt::format("(void)sizeof({});\n", array.name);
    text += fmt::format("typedef __typeof__({}) loopfold_probe_element_{};\n", element, i);
  }
  for (std::size_t i = 0; i < probe.sizes.size(); i++)
    text += fmt::format("const long loopfold_probe_size_{0} = (long)({1}) + 0 * (({1}) % 1);\n", i, probe.sizes[i]);
  return text + "}\n";
}

/// The file with each directive replaced by the inclusion of its probe: the same number of bytes and lines.
std::string with_probes(std::string_view text, const std::vector<Probe>& probes) {
  std::string result(text);
  for (std::size_t i = 0; i < probes.size(); i++) {
    for (std::size_t at = probes[i].begin; at < probes[i].end; at++)
      if (result[at] != '\n' && result[at] != '\r') result[at] = ' ';
    const std::string line = fmt::format("#include \"{}\"", probe_name(i));
    result.replace(probes[i].begin, line.size(), line);
  }
  return result;
}

/// A directive is longer than the include that stands for it, but its first line may be short: `#pragma \`.
bool fits(std::string_view text, const Probe& probe) {
  const std::size_t line = text.substr(probe.begin, probe.end - probe.begin).find('\n');
  return std::min(line, probe.end - probe.begin) >= 20;
}

std::string without_const(std::string type) {
  if (type.rfind("const ", 0) == 0 && type.find('*') == std::string::npos) type = type.substr(6);
  if (type.size() > 6 && type.compare(type.size() - 6, 6, " const") == 0) type.resize(type.size() - 6);
  if (type.size() > 6 && type.compare(type.size() - 6, 6, "*const") == 0) type.resize(type.size() - 5);
  return type;
}

class ProbeReader {
 public:
  ProbeReader(const Unit& unit, const std::string& directory, std::vector<Probe>& probes)
      : unit_(unit), directory_(directory), probes_(probes) {}

  void read() {
    for (Probe& probe : probes_) {
      probe.found.assign(probe.arrays.size(), {});
      probe.found_sizes.assign(probe.sizes.size(), {});
    }
    visit(unit_.root());
    for (const Unit::Complaint& complaint : unit_.errors()) blame(complaint);
  }

 private:
  std::optional<std::size_t> probe_of(const std::string& file) const {
    for (std::size_t i = 0; i < probes_.size(); i++)
      if (file == directory_ + probe_name(i)) return i;
    return std::nullopt;
  }

  static std::size_t number_behind(const std::string& name) {
    return static_cast<std::size_t>(std::stoul(name.substr(name.rfind('_') + 1)));
  }

  void visit(CXCursor cursor) {
    unit_.each_child(cursor, [&](CXCursor child) {
      const Spot where = unit_.spot(unit_.clang().getCursorLocation(child));
      if (const std::optional<std::size_t> probe = probe_of(where.file)) take(probes_[*probe], where, child);
      visit(child);
    });
  }

  void take(Probe& probe, const Spot& where, CXCursor cursor) {
    const ClangTable& clang = unit_.clang();
    const CXCursorKind kind = clang.getCursorKind(cursor);
    const std::string name = unit_.spelling(cursor);
    if (kind == CXCursor_TypedefDecl) {
      const CXType type = clang.getCanonicalType(clang.getTypedefDeclUnderlyingType(cursor));
      ProbedArray& array = probe.found.at(number_behind(name));
      if (name.rfind("loopfold_probe_type_", 0) == 0) {
        array.type = without_const(unit_.spelling(type));
        array.type_size = clang.Type_getSizeOf(type);
        array.type_alignment = clang.Type_getAlignOf(type);
      } else {
        array.element = without_const(unit_.spelling(type));
        array.is_const = clang.isConstQualifiedType(type) != 0;
        array.is_volatile = clang.isVolatileQualifiedType(type) != 0;
      }
    } else if (kind == CXCursor_VarDecl) {
      ProbedSize& size = probe.found_sizes.at(number_behind(name));
      size.exists = true;
      CXEvalResult value = clang.Cursor_Evaluate(cursor);
      size.known = value != nullptr && clang.EvalResult_getKind(value) == CXEval_Int;
      if (size.known) size.value = clang.EvalResult_getAsLongLong(value);
      if (value != nullptr) clang.EvalResult_dispose(value);
    } else if (kind == CXCursor_MemberRefExpr && (where.line - 2) / 3 < probe.arrays.size()) {
      ProbedArray& array = probe.found[(where.line - 2) / 3];
      array.in_union = array.in_union || is_in_union(clang.getCursorReferenced(cursor));
    } else if (kind == CXCursor_DeclRefExpr && (where.line - 2) % 3 == 1 &&
               (where.line - 2) / 3 < probe.arrays.size()) {
      declare(probe.found[(where.line - 2) / 3], clang.getCursorReferenced(cursor),
              probe.arrays[(where.line - 2) / 3].dimensions);
    }
  }

  /// The field's structure, or one that it is a nameless part of, is a union.
  bool is_in_union(CXCursor field) const {
    const ClangTable& clang = unit_.clang();
    for (CXCursor at = clang.getCursorSemanticParent(field); clang.Cursor_isNull(at) == 0;
         at = clang.getCursorSemanticParent(at)) {
      if (clang.getCursorKind(at) == CXCursor_UnionDecl) return true;
      if (clang.getCursorKind(at) != CXCursor_StructDecl) return false;
    }
    return false;
  }

  void declare(ProbedArray& array, CXCursor declaration, std::size_t dimensions) const {
    const ClangTable& clang = unit_.clang();
    array.declaration = unit_.key(declaration);
    array.declared_at =
        unit_.in_main_file(declaration) ? unit_.spot(clang.getCursorLocation(declaration)).offset : kElsewhere;
    CXType type = clang.getCanonicalType(clang.getCursorType(declaration));
    while (array.dimensions.size() < dimensions) {
      const bool pointer = type.kind == CXType_Pointer;
      if (!pointer && !is_array_type(type.kind)) return;
      array.dimensions.push_back(type.kind == CXType_ConstantArray ? clang.getArraySize(type) : -1);
      type = clang.getCanonicalType(pointer ? clang.getPointeeType(type) : clang.getArrayElementType(type));
    }
  }

  /// A complaint about a line of a probe is an answer.
  void blame(const Unit::Complaint& complaint) {
    const std::optional<std::size_t> number = probe_of(complaint.where.file);
    if (!number || complaint.where.line < 2) return;
    Probe& probe = probes_[*number];
    const std::size_t line = complaint.where.line - 2;
    if (line < 3 * probe.arrays.size()) {
      const Probe::Array& asked = probe.arrays[line / 3];
      ProbedArray& array = probe.found[line / 3];
      if (!array.error.empty()) return;
      if (line % 3 == 0)
        array.error = fmt::format("'{}' is not a type here ({})", asked.type, complaint.text);
      else if (line % 3 == 1)
        array.error = fmt::format("no array '{}' is known here", asked.name);
      else
        array.error = asked.field.empty()
                          ? fmt::format("'{}' does not have {} dimensions", asked.name, asked.dimensions)
                          : fmt::format("'{}' has no field '{}'", asked.name, asked.field);
    } else if (line - 3 * probe.arrays.size() < probe.sizes.size()) {
      probe.found_sizes[line - 3 * probe.arrays.size()].exists = false;
    }
  }

  const Unit& unit_;
  const std::string& directory_;
  std::vector<Probe>& probes_;
};

}  // namespace

Result<Source> parse_source(const std::string& file, std::string_view text, const std::vector<std::string>& options) {
  const Result<std::unique_ptr<Unit>> parsed = Unit::parse(file, {{file, std::string(text)}}, options);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  const Unit& unit = **parsed;
  const std::vector<Unit::Complaint> errors = unit.errors();
  if (!errors.empty())
    return fail(ErrorKind::kBadInput, fmt::format("{}:{}:{}: it does not compile: {}", errors[0].where.file,
                                                  errors[0].where.line, errors[0].where.column, errors[0].text));
  Source source;
  source.file = file;
  source.skipped = skipped_ranges(unit, file);
  std::map<std::string, CXCursor> definitions;
  std::vector<CXCursor> expansions;
  unit.each_child(unit.root(), [&](CXCursor cursor) {
    const CXCursorKind kind = unit.clang().getCursorKind(cursor);
    if (kind == CXCursor_MacroDefinition) definitions[unit.spelling(cursor)] = cursor;
    if (kind == CXCursor_MacroExpansion && unit.in_main_file(cursor)) expansions.push_back(cursor);
    if (kind == CXCursor_VarDecl && unit.in_main_file(cursor)) source.variables.push_back(tree_of(unit, cursor));
    if (kind != CXCursor_FunctionDecl) return;
    source.declared.insert(unit.spelling(cursor));
    source.function_keys.insert(unit.key(cursor));
    if (unit.in_main_file(cursor) && is_definition(unit, cursor)) source.functions.push_back(tree_of(unit, cursor));
  });
  for (const auto& [name, cursor] : definitions) source.macros.insert(name);
  MacroReader macros(unit, std::move(definitions));
  for (const CXCursor expansion : expansions) source.uses.push_back(macros.use(expansion));
  return source;
}

Result<void> probe_source(const std::string& file, std::string_view text, const std::vector<std::string>& options,
                          std::vector<Probe>& probes) {
  const std::size_t slash = file.rfind('/');
  const std::string directory = slash == std::string::npos ? "./" : file.substr(0, slash + 1);
  for (const Probe& probe : probes)
    if (!fits(text, probe))
      return fail(ErrorKind::kBadInput, fmt::format("{}: the first line of a layout directive ends too early; put the "
                                                    "first map on it",
                                                    file));
  std::vector<Unsaved> unsaved = {{file, with_probes(text, probes)}};
  for (std::size_t i = 0; i < probes.size(); i++) unsaved.push_back({directory + probe_name(i), probe_text(probes[i])});
  const Result<std::unique_ptr<Unit>> parsed = Unit::parse(file, unsaved, options);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  ProbeReader(**parsed, directory, probes).read();
  return {};
}

}  // namespace loopfold::layout
