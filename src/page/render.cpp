// SPDX-License-Identifier: Apache-2.0
#include "page/render.h"

#include "base/file.h"
#include "base/text.h"
#include "page/assets.h"
#include "page/escape.h"

namespace ebb::page {
namespace {

// A wave: what the tab shows.
constexpr const char* kIcon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Crect width='32' height='32' rx='7' fill='%230b6e99'/%3E"
    "%3Cpath d='M4 13q6-8 12 0t12 0M4 22q6-8 12 0t12 0' fill='none' stroke='white' "
    "stroke-width='3' stroke-linecap='round'/%3E%3C/svg%3E";

}  // namespace

std::string content_security_policy(bool asks) {
  const Assets bundle = assets();
  std::string text = "default-src 'none'; script-src '";
  text += bundle.script_hash;
  text += "'; style-src '";
  text += bundle.style_hash;
  text += "'; img-src data:; base-uri 'none'; form-action 'none'";
  if (asks) text += "; connect-src 'self'";
  return text;
}

std::string render(const Document& document) {
  return render(document.title, to_json(document).text(), asks_server(document));
}

std::string render(const std::string& plain_title, const std::string& document_json, bool asks) {
  const Assets bundle = assets();
  const std::string title = html_text(plain_title.empty() ? "Ebb" : plain_title);
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"";
  html += content_security_policy(asks);
  html +=
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<meta name=\"generator\" content=\"ebb " EBB_VERSION "\">\n<link rel=\"icon\" href=\"";
  html += kIcon;
  html += "\">\n<title>";
  html += title;
  html += "</title>\n<style>";
  html += bundle.style;
  html += "</style>\n</head>\n<body>\n<noscript><h1>";
  html += title;
  html +=
      "</h1><p>This page draws its data with a script that it carries inside; "
      "scripts are switched off here.</p></noscript>\n"
      "<script type=\"application/json\" id=\"document\">";
  html += script_json(document_json);
  html += "</script>\n<script>";
  html += bundle.script;
  html += "</script>\n</body>\n</html>\n";
  return html;
}

base::Status write(const Document& document, const std::string& path) {
  return base::write_file_atomically(path, render(document));
}

base::Result<std::vector<std::string>> write_all(const std::vector<Document>& documents,
                                                 const std::string& path) {
  if (documents.size() > 1 && !base::is_place_of_file(path))
    return base::error(base::Code::bad_input,
                       "--html '%s': %zu pages, one for each device: expected the name of a file, "
                       "or --device",
                       path.c_str(), documents.size());
  std::vector<std::string> written;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    std::string file = path;
    if (documents.size() > 1) {
      const std::size_t dot = path.rfind(".html");
      const std::string stem = dot == std::string::npos ? path : path.substr(0, dot);
      file = stem + base::format_text("-%zu.html", i);
    }
    if (const auto done = write(documents[i], file); !done) return done.error();
    written.push_back(std::move(file));
  }
  return written;
}

}  // namespace ebb::page
