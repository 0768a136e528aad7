// SPDX-License-Identifier: Apache-2.0
// When a station's list was last looked at in this browser: what broke before needs no badge.

export function last_seen(project: string, station: string): number {
  try {
    return Number(localStorage.getItem(`takt-seen/${project}/${station}`) ?? 0)
  } catch {
    return 0
  }
}

export function mark_seen(project: string, station: string): void {
  try {
    localStorage.setItem(`takt-seen/${project}/${station}`, String(Date.now()))
  } catch {
    // Badges then stay until the next visit.
  }
}
