// SPDX-License-Identifier: Apache-2.0
#include "support/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace ebb::bench {

base::Json measure_in_child(const std::vector<std::string>& arguments,
                            const Environment& environment) {
  int ends[2];
  if (pipe(ends) != 0) std::exit((std::perror("pipe"), 1));
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    for (const auto& [name, value] : environment)
      setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    std::string self = "/proc/self/exe";
    words.push_back(self.data());
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(self.c_str(), words.data());
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(ends[0], buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  base::Result<base::Json> answer = base::parse_json(text);
  if (status != 0 || !answer) {
    std::fprintf(stderr, "bench: a measurement failed (status %d): %s\n", status, text.c_str());
    std::exit(1);
  }
  return *std::move(answer);
}

double number(const base::Json& object, const char* key) {
  const base::Json* value = object.find(key);
  if (value == nullptr || !value->as_double()) {
    std::fprintf(stderr, "bench: no number '%s' in %s\n", key, object.text().c_str());
    std::exit(1);
  }
  return *value->as_double();
}

}  // namespace ebb::bench
