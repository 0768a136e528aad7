// SPDX-License-Identifier: Apache-2.0
// The units that specs are written in: 512MiB, 2GB, 500m, 10m.

const sizes: Record<string, number> = {
  '': 1, B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4,
  K: 1e3, M: 1e6, G: 1e9, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3,
}

export function parse_size(text: string | number | undefined): number | undefined {
  if (typeof text === 'number') return text
  const match = /^\s*([\d.]+)\s*([A-Za-z]*)\s*$/.exec(text ?? '')
  const unit = match ? sizes[match[2] ?? ''] : undefined
  return match && unit !== undefined ? Number(match[1]) * unit : undefined
}

export function parse_duration_ms(text: string | number | undefined): number | undefined {
  if (typeof text === 'number') return text * 1000
  if (!text) return undefined
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 }
  let sum = 0
  let rest = text.trim()
  while (rest) {
    const match = /^([\d.]+)\s*(ms|s|min|m|h|d)\s*/.exec(rest)
    if (!match) return undefined
    sum += Number(match[1]) * units[match[2]!]!
    rest = rest.slice(match[0].length)
  }
  return sum
}

/** Bytes in the largest binary unit that holds them whole, as specs are written. */
export function write_memory(bytes: number): string {
  for (const [unit, size] of [['GiB', 1024 ** 3], ['MiB', 1024 ** 2], ['KiB', 1024]] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`
  }
  return `${Math.ceil(bytes / 1024 ** 2)}MiB`
}

/** A time in the largest unit that holds it whole. */
export function write_duration(ms: number): string {
  const s = Math.ceil(ms / 1000)
  return s % 3600 === 0 ? `${s / 3600}h` : s % 60 === 0 ? `${s / 60}m` : `${s}s`
}
