#include "views/html_page.h"

#include <zlib.h>

#include <cstdint>
#include <span>
#include <stdexcept>

#include "views/page_template.h"
#include "views/text.h"

namespace loopfold::views {

namespace {

constexpr std::string_view kTitlePlace = "<!--loopfold:title-->";
constexpr std::string_view kDataPlace = "<!--loopfold:data-->";
constexpr int kGzipWindow = 15 + 16;  // zlib's way to ask for a gzip header

/// With a header that names no time and no system, so that it depends on nothing but the text.
std::string gzipped(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib cannot be initialised");
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("zlib cannot compress");
  return packed;
}

std::string data_elements(const std::vector<PagePart>& parts) {
  std::string text;
  for (const PagePart& part : parts)
    text += "<script type=\"application/gzip\" id=\"part-" + part.name + "\">" + part.packed + "</script>\n";
  return text;
}

void replace(std::string& text, std::string_view place, std::string_view by) {
  if (const std::size_t at = text.find(place); at != std::string::npos) text.replace(at, place.size(), by);
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; j++) group = group << 8 | (j < have ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; j++) text += j <= have ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

PagePart page_part(std::string name, std::string_view json) { return {std::move(name), base64(gzipped(json))}; }

std::string page_template() {
  std::string text;
  for (const std::string_view piece : template_pieces()) text += piece;
  return text;
}

Result<std::string> html_page(std::string_view title, const std::vector<PagePart>& parts, std::string page) {
  if (page.empty())
    return fail(
        ErrorKind::kEnvironment,
        "--html: this loopfold was built without the report page, which needs Node.js and npm when it is built; "
        "run scripts/setup (or install nodejs and npm), then cmake --preset default, and build again");
  replace(page, kDataPlace, data_elements(parts));
  replace(page, kTitlePlace, xml_escaped(inert(title)));
  return page;
}

}  // namespace loopfold::views
