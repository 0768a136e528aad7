// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/access/audit.h"
#include "takt/net/http.h"

namespace takt::access {

/// whoami, sign-in, sign-out, users, projects and their members, tokens (api/openapi/access.yaml).
void register_routes(net::Router& router, AccessService& access);
/// /api/v1/audit, for admins.
void register_audit_routes(net::Router& router, AuditService& audit, Policy& policy);

}  // namespace takt::access
