#include "policy/secret_variables.hpp"

#include <doctest/doctest.h>

using namespace gatehouse::policy;

TEST_CASE("BR-202 credentials are known by name or by value, and only those") {
  for (const auto* entry : {"OPENAI_API_KEY=x",
                            "GH_TOKEN=x",
                            "AWS_SECRET_ACCESS_KEY=x",
                            "AWS_ACCESS_KEY_ID=x",
                            "MY_PASSWORD=x",
                            "PGPASSWORD=x",
                            "MYSQL_PWD=x",
                            "SENTRY_TOKEN=x",
                            "npm_config__authToken=x",
                            "GITHUB_PAT=x",
                            "DATABASE_URL=postgres://u:p@h/d",
                            "HTTPS_PROXY=http://u:p@proxy:8080",
                            "GOOGLE_APPLICATION_CREDENTIALS=/a",
                            "SESSION_SECRET=",
                            "HF_TOKEN=",
                            "GH_TOKEN1=x",
                            "ACCESSKEY=x",
                            "PRIVATEKEY=x",
                            "SECRETKEY=x",
                            "X_AUTHORIZATION=Bearer x",
                            "NPM_CONFIG__AUTH=x",
                            "NPM_AUTH=x",
                            "DOCKER_AUTH_CONFIG={}",
                            "MY_TOKENS2=x",
                            "DB_PASS=x",
                            "aws_secret_access=s",
                            "MYTOKENS=1",
                            "SSH_KEYS3=x",
                            "MYSECRETVALUE=x",
                            "TOKENFILE=x",
                            "DSN=see http://h/ and postgres://u:p@h/d"}) {
    CAPTURE(entry);
    CHECK(holds_secret(entry));
  }
  for (const auto* entry : {"KEYBOARD=us",
                            "GIT_CONFIG_KEY_0=core.hooksPath",
                            "TOKENIZERS_PARALLELISM=1",
                            "PATH=/bin",
                            "PWD=/ws",
                            "OLDPWD=/",
                            "HOME=/h",
                            "LESSKEY=x",
                            "KEYTIMEOUT=1",
                            "PASSENGER_APP_ENV=x",
                            "PATTERN=x",
                            "XAUTHORITY=/x",
                            "URL=http://h/a:b@c",
                            "DATABASE_URL=postgres://h/d",
                            "GIT_URL=ssh://git@h:22/x",
                            "VIRTUAL_ENV=/v",
                            "MONKEY=1",
                            "HTTP_PROXY=http://proxy:8080",
                            "COMPASS=1",
                            "HOTKEYS=x",
                            "TOKENIZER2=x",
                            "GIT_AUTHOR_NAME=x",
                            "AUTH_URL=https://h/",
                            "GIT_ASKPASS=/bin/ask",
                            ""}) {
    CAPTURE(entry);
    CHECK_FALSE(holds_secret(entry));
  }
}
