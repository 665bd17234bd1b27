// The report page: one HTML file that needs nothing else, made of a template and the data that it shows.
//
// The template (web/, bundled when Loopfold is built) holds style, script and a policy that lets neither the network
// nor any other script in. It has one place for data, and data are parts: each a JSON document, compressed with gzip
// and written in base64 into an element that no browser executes. Base64 has no character that HTML or a script could
// take for its own, so no name in a profile can do anything on its way into the page. Each part is only unpacked when
// the page needs it: what is shown first is small, whatever the size of the profile.
//
// Deterministic: the same parts give the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace loopfold::views {

/// A document of the page, by the name under which the page looks for it.
struct PagePart {
  std::string name;  // letters, digits and dashes
  std::string packed;
};

/// Compressed, and in base64.
PagePart page_part(std::string name, std::string_view json);

/// "TWFu" for "Man".
std::string base64(std::string_view bytes);

/// The template; empty if there is none.
std::string page_template();

/// The whole file. An Error (environment) if this program was built without the template.
Result<std::string> html_page(std::string_view title, const std::vector<PagePart>& parts,
                              std::string page = page_template());

}  // namespace loopfold::views
