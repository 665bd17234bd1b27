// Two runs side by side for a terminal: totals, the loops that changed and how, suggestions that went and came.
#pragma once

#include <string>

#include "views/diff.h"
#include "views/page.h"

namespace loopfold::views {

struct DiffTextOptions {
  std::size_t width = Page::kMostWidth;
  bool color = false;
  Charset charset = Charset::kUnicode;
  double min_percent = 1;  // of the operations on either side: loops with less are counted
};

std::string diff_text(const Diff& diff, const ReportWords& before, const ReportWords& after,
                      const DiffTextOptions& options);

}  // namespace loopfold::views
