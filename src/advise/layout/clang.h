// libclang, loaded when it is needed.
//
// The rewriter reads C with libclang's C interface. Linking it would make every command of Loopfold load a library of
// a hundred megabytes, and none would start where it is not installed; so it is opened at run time, and its functions
// are called through this table: clang().visitChildren(...) is clang_visitChildren(...). ClangText, ClangUnit and
// ClangIndex own what must be given back.
#pragma once

#include <clang-c/Index.h>

#include <string>

#include "support/result.h"

namespace loopfold::layout {

// clang-format off
#define LOOPFOLD_CLANG_FUNCTIONS(USE) \
  USE(createIndex) USE(disposeIndex) USE(parseTranslationUnit2) USE(disposeTranslationUnit) \
  USE(getTranslationUnitCursor) USE(getCString) USE(disposeString) USE(getNumDiagnostics) USE(getDiagnostic) \
  USE(disposeDiagnostic) USE(getDiagnosticSeverity) USE(getDiagnosticSpelling) USE(getDiagnosticLocation) \
  USE(getFileName) USE(getFile) USE(File_isEqual) USE(getSpellingLocation) USE(getCursorExtent) USE(getRangeStart) \
  USE(getRangeEnd) USE(getCursorLocation) USE(visitChildren) USE(getCursorKind) USE(getCursorSpelling) \
  USE(getCursorReferenced) USE(getCursorType) USE(getCanonicalType) USE(getTypeSpelling) USE(getPointeeType) \
  USE(getArrayElementType) USE(getArraySize) USE(Type_getSizeOf) USE(Type_getAlignOf) USE(isConstQualifiedType) \
  USE(isVolatileQualifiedType) USE(equalCursors) USE(getNullCursor) USE(Cursor_isNull) USE(isStatement) \
  USE(isExpression) USE(isDeclaration) USE(Cursor_Evaluate) USE(EvalResult_getKind) USE(EvalResult_getAsLongLong) \
  USE(EvalResult_dispose) USE(getTypedefDeclUnderlyingType) USE(getSkippedRanges) USE(disposeSourceRangeList) \
  USE(hashCursor) USE(getCursorDefinition) USE(Location_isInSystemHeader) USE(Cursor_getStorageClass) \
  USE(Cursor_isBitField) USE(getCursorSemanticParent) USE(tokenize) USE(disposeTokens) USE(getTokenSpelling)
// clang-format on

struct ClangTable {
#define LOOPFOLD_DECLARE(NAME) decltype(&clang_##NAME) NAME = nullptr;
  LOOPFOLD_CLANG_FUNCTIONS(LOOPFOLD_DECLARE)
#undef LOOPFOLD_DECLARE
};

/// Opens the library. An Error of kind kEnvironment, with what to do, if it is not there.
Result<const ClangTable*> load_clang();

/// The text of one of libclang's strings, which is given back.
std::string take_text(const ClangTable& clang, CXString text);

/// What was parsed of one file.
class ClangUnit {
 public:
  ClangUnit(const ClangTable& clang, CXIndex index, CXTranslationUnit unit)
      : clang_(&clang), index_(index), unit_(unit) {}
  ~ClangUnit();
  ClangUnit(const ClangUnit&) = delete;
  ClangUnit& operator=(const ClangUnit&) = delete;
  CXTranslationUnit get() const { return unit_; }

 private:
  const ClangTable* clang_;
  CXIndex index_;
  CXTranslationUnit unit_;
};

}  // namespace loopfold::layout
