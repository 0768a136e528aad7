// SPDX-License-Identifier: Apache-2.0
// The takt program: which process this one is.
#include <string>
#include <vector>

#include "takt/app/commands.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  return takt::app::run_command(words);
}
