// SPDX-License-Identifier: Apache-2.0
#include "takt/base/testing/temp_dir.h"

#include <cerrno>
#include <cstdlib>
#include <string>

#include "takt/base/file.h"

namespace takt::testing {

TempDir::TempDir() {
  const char* parent = std::getenv("TMPDIR");
  std::string name = std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp");
  name += "/takt-test-XXXXXX";
  TAKT_CHECK(::mkdtemp(name.data()) != nullptr, errno_error("creating " + name, errno).message);
  path_ = name;
}

TempDir::~TempDir() { (void)remove_tree(path_); }

}  // namespace takt::testing
