// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace takt::cli {

/// A completion script for the shell, made from the parser itself.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace takt::cli
