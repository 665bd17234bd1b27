// An order in words: the loops of a nest as a simplified, annotated program, and the way there as named steps.
//
//     for nest.c:253  1024 trips   parallel, tile 32
//       for nest.c:254  16 trips   vector
//         nest.c:255, nest.c:256
//
// A loop is named by its line; a skewed one by the sum of the loops that it goes over. The text says what the order is,
// not how its bounds are computed; `loopfold ast --full` has those.
#pragma once

#include <string>
#include <vector>

#include "advise/plan.h"
#include "profile/profile.h"

namespace loopfold::advise {

/// What the marks and steps of one band member are.
struct MemberFacts {
  std::vector<profile::BandMember::Term> terms;
  profile::Loop::Parallel parallel = profile::Loop::Parallel::kUnknown;
};

class OrderText {
 public:
  OrderText(const NestPlan& nest, const poly::Context& context, const profile::Profile& profile)
      : nest_(nest), context_(context), profile_(profile) {}

  /// The groups that a reader of the source would call statements: all but those that the compiler made, in lines of
  /// loops or of what is inside them (a sum's first value and where it is stored in the end).
  std::vector<std::uint32_t> main_groups() const;

  std::string ast(const Order& order, bool transformed) const;
  std::vector<std::string> steps() const;

  /// The loops as written that a row goes over, the one that it stands for first.
  std::vector<profile::BandMember::Term> terms(const Order& order, const OrderBand& band, std::uint32_t place) const;
  /// "a.c:12", "a.c:12 + 2*a.c:10".
  std::string name(const std::vector<profile::BandMember::Term>& terms) const;
  std::string line_of(std::uint32_t node) const;

  /// Pairs of loops (nodes) that change places, the outer one as written first.
  std::vector<std::vector<std::uint32_t>> interchanged() const;
  std::vector<std::vector<std::int64_t>> skews() const;

 private:
  void print(const Order& order, const std::vector<std::uint32_t>& groups, std::size_t row, std::size_t depth,
             bool transformed, std::string& text) const;
  void print_statements(std::uint32_t group, std::size_t depth, std::string& text) const;
  std::string marks(const Order& order, const OrderBand& band, std::uint32_t place, bool transformed) const;
  std::string lines_of(std::uint32_t group) const;
  const profile::Loop* loop_at(std::uint32_t node) const;

  const NestPlan& nest_;
  const poly::Context& context_;
  const profile::Profile& profile_;
};

/// Loops of an order with no loop around them.
std::size_t components(const Order& order);
std::size_t components(const Order& order, const std::vector<std::uint32_t>& groups);

}  // namespace loopfold::advise
