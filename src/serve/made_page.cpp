// SPDX-License-Identifier: Apache-2.0
#include "serve/made_page.h"

#include "page/render.h"

namespace ebb::serve {

Answer html_of(const MadePage& page, int status) {
  Answer html{status, "text/html; charset=utf-8", page::render(page.title, page.json, page.live)};
  html.headers = {{"Content-Security-Policy",
                   page::content_security_policy(page.live) + "; frame-ancestors 'none'"}};
  return html;
}

}  // namespace ebb::serve
