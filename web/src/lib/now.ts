// SPDX-License-Identifier: Apache-2.0
// A clock that all relative times on the page share: it ticks every ten seconds, and not while the tab is hidden.
import { useSyncExternalStore } from 'react'

let now = Date.now()
const listeners = new Set<() => void>()
setInterval(() => {
  if (globalThis.document?.hidden) return
  now = Date.now()
  for (const listener of listeners) listener()
}, 10_000)

export function useNow(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => now,
  )
}
