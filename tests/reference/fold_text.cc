// Streams, folded streams and complaints as text for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reference/fold_reference.h"
#include "reference/fold_shrink.h"

namespace loopfold::fold::reference {

namespace {

using Kind = Complaint::Kind;

std::string text(const Affine& function) {
  std::string text;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k)
    if (function.coefficients[k] != 0) text += fmt::format("{} i{} + ", function.coefficients[k], k);
  return text + fmt::format("{}", function.constant);
}

std::string text(const Output& output) {
  std::string text;
  for (std::size_t k = 0; k < output.top.size(); ++k)
    if (output.top[k])
      text += fmt::format("TOP i{} + ", k);
    else if (output.value.coefficients[k] != 0)
      text += fmt::format("{} i{} + ", output.value.coefficients[k], k);
  text += fmt::format("{}", output.value.constant);
  if (output.divisor != 1) text = fmt::format("({}) / {}", text, output.divisor);
  if (output.modulus != 0) text = fmt::format("{} + ({} - {}) mod {}", output.base, text, output.base, output.modulus);
  return fmt::format("{} in {}..{}, distance {}..{}", text, output.minimum, output.maximum, output.distance_minimum,
                     output.distance_maximum);
}

}  // namespace

std::string_view kind_name(Complaint::Kind kind) {
  switch (kind) {
    case Kind::kForm:
      return "form";
    case Kind::kExtra:
      return "extra point";
    case Kind::kOverlap:
      return "overlap";
    case Kind::kMissing:
      return "missing point";
    case Kind::kCount:
      return "count";
    case Kind::kLabel:
      return "label";
    case Kind::kClaim:
      return "claim beside a TOP";
    case Kind::kBounds:
      return "bounds";
    case Kind::kFlags:
      return "flags";
    case Kind::kVariant:
      return "variant";
    case Kind::kOrder:
      return "order of pieces";
    case Kind::kTight:
      return "upper bound not tight";
    case Kind::kFunction:
      return "function";
  }
  return "";
}

std::string literal(const Stream& stream) {
  std::string points;
  for (const Labelled& labelled : stream.points)
    points += fmt::format("{}{{{{{}}}, {{{}}}}}", points.empty() ? "" : ", ", fmt::join(labelled.point, ", "),
                          fmt::join(labelled.labels, ", "));
  return fmt::format("{{{{{}, {}, {}}}, {{{}}}, \"{}\"}}", stream.shape.dimensions, stream.shape.outputs,
                     stream.shape.shared, points, stream.what);
}

std::string text(const Folded& folded) {
  std::string all = fmt::format("{} pieces, {} points{}{}{}{}\n", folded.pieces.size(), folded.points,
                                folded.widened ? ", widened" : "", folded.gave_up ? ", gave up: " : "", folded.why,
                                folded.pieces.size() > 20 ? ", the first of them:" : "");
  for (std::size_t i = 0; i < std::min<std::size_t>(folded.pieces.size(), 20); ++i) {
    const Piece& piece = folded.pieces[i];
    all += fmt::format("  {}: ", i);
    for (const Range& range : piece.ranges)
      all += fmt::format("[{}..{}{}{}]", text(range.lower), text(range.upper),
                         range.divisor == 1 ? "" : fmt::format(" over {}", range.divisor),
                         range.stride == 1 ? "" : fmt::format(" step {}", range.stride));
    for (const Output& output : piece.outputs) all += "; " + text(output);
    all += fmt::format("; {} points{}\n", piece.points, piece.exact_domain ? "" : ", inexact");
  }
  return all;
}

}  // namespace loopfold::fold::reference
