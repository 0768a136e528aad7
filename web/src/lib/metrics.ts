// SPDX-License-Identifier: Apache-2.0
// Which direction of a metric is better, by its name, and the colour that a run keeps everywhere.

export function lower_is_better(name: string): boolean {
  return /(^|[_/.-])(loss|error|err|mse|rmse|mae|mape|latency|p50|p95|p99|perplexity|brier|time|seconds|ms|bytes|size)([_/.-]|$)/i.test(name)
}

export function knows_direction(name: string): boolean {
  return lower_is_better(name) || /(acc|accuracy|auc|f1|precision|recall|score|r2|bleu|map|iou|hit|ndcg)/i.test(name)
}

/** -1 worse, 0 the same or unknown, 1 better. */
export function judge(name: string, value: number, against: number): -1 | 0 | 1 {
  if (value === against || !knows_direction(name)) return 0
  return (value > against) !== lower_is_better(name) ? 1 : -1
}

const colors = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6', '--c7', '--c8'] as const

function hash(text: string): number {
  let value = 2166136261
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 16777619)
  // The last letters must reach all bits, or neighbours would share a colour.
  value = Math.imul(value ^ (value >>> 16), 2246822507)
  value = Math.imul(value ^ (value >>> 13), 3266489909)
  return (value ^ (value >>> 16)) >>> 0
}

export interface Look {
  color: string
  dash: number[] | undefined
}

/** The baseline is ink and dashed; a run's colour comes from its id, or is the next free one; past eight, dashed. */
export function looks_of(ids: string[], base: string | undefined): Map<string, Look> {
  const looks = new Map<string, Look>()
  const taken = new Set<string>()
  for (const id of ids) {
    if (id === base) {
      looks.set(id, { color: '--text', dash: [6, 4] })
      continue
    }
    const start = hash(id) % colors.length
    const probe = colors.findIndex((_, step) => !taken.has(colors[(start + step) % colors.length]!))
    const color = colors[(start + Math.max(0, probe)) % colors.length]!
    looks.set(id, { color, dash: probe < 0 ? [2, 3] : undefined })
    taken.add(color)
  }
  return looks
}
