// SPDX-License-Identifier: Apache-2.0
// The slider's scale: the stops stand at equal steps, any value between is allowed.

export const stops = [0, 1, 5, 10, 25, 50, 100] as const

/** Where a share of traffic stands on the track, 0 to 1. */
export function place_of_share(share: number): number {
  const clamped = Math.min(100, Math.max(0, share))
  for (let index = 1; index < stops.length; index++) {
    const low = stops[index - 1]!
    const high = stops[index]!
    if (clamped <= high) return (index - 1 + (clamped - low) / (high - low)) / (stops.length - 1)
  }
  return 1
}

/** The share at a place on the track, drawn to a stop when it is near one. */
export function share_at_place(place: number): number {
  const along = Math.min(1, Math.max(0, place)) * (stops.length - 1)
  const nearest = Math.round(along)
  if (Math.abs(along - nearest) < 0.16) return stops[nearest]!
  const low = stops[Math.floor(along)]!
  const high = stops[Math.min(stops.length - 1, Math.ceil(along))]!
  return Math.round(low + (high - low) * (along - Math.floor(along)))
}

export function next_stop(share: number, direction: 1 | -1): number {
  if (direction > 0) return stops.find((stop) => stop > share) ?? 100
  return [...stops].reverse().find((stop) => stop < share) ?? 0
}
