// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/asio.h"
// The bodies of Boost.Asio, compiled once.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
