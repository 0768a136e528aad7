// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/net/http.h"

namespace takt::access {

/// whoami, sign-in, sign-out, users, projects, tokens (api/openapi/access.yaml).
void register_routes(net::Router& router, AccessService& access);

}  // namespace takt::access
