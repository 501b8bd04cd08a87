#include "cli/serve_listeners.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;

TEST_SUITE("cli.serve_listeners") {
  TEST_CASE("§201 an origin that no browser sends is refused, instead of never matching") {
    for (const char* text : {"https://ide.example", "http://127.0.0.1:8080", "http://[::1]:3000",
                             "vscode-webview://0kq3", "https://ide.example:80"}) {
      CAPTURE(text);
      CHECK(cli::read_origin(text));
    }
    for (const char* text :
         {"", "null", "*", "https://*.example", "ide.example", "://x", "https://",
          "https://ide.example/", "https://ide.example/page", "https://IDE.example",
          "HTTPS://ide.example", "https://ide.example:443", "http://ide.example:80",
          "https://user@ide.example", "https://ide.example?x", "https://ide .example"}) {
      CAPTURE(text);
      const auto read = cli::read_origin(text);
      REQUIRE_FALSE(read);
      CHECK(read.error().message.find(text) != std::string::npos);
      CHECK_FALSE(read.error().remedy.empty());
    }
  }
}
