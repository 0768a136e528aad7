// SPDX-License-Identifier: Apache-2.0
// How Debian's Chromium is started everywhere.
export const executable = process.env.CHROMIUM ?? '/usr/bin/chromium'
export const flags = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
]
