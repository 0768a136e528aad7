// SPDX-License-Identifier: Apache-2.0
// Runs with the same value of a column, put together: how many, and of each metric the mean and the band. Runs are
// added page by page and not kept, so that a group may have any number of them.
import { value_in, key_of_column } from './columns_model'
import type { Run } from '../../api/runs'

export interface Band {
  n: number
  mean: number
  low: number
  high: number
}

export interface RunGroup {
  /** Undefined: runs without the column. */
  value: string | undefined
  runs: number
  running: number
  metrics: Map<string, Band>
  /** Some of them, for curves. */
  sample: string[]
}

const sample_most = 8

export class RunGrouper {
  private readonly groups = new Map<string | undefined, RunGroup>()
  runs = 0

  constructor(
    private readonly by: string,
    private readonly metrics: string[],
  ) {}

  add(runs: Run[]): void {
    for (const run of runs) this.add_one(run)
    this.runs += runs.length
  }

  private add_one(run: Run): void {
    const value = value_in(run, this.by)
    const name = value === undefined ? undefined : String(value)
    let group = this.groups.get(name)
    if (!group) {
      group = { value: name, runs: 0, running: 0, metrics: new Map(), sample: [] }
      this.groups.set(name, group)
    }
    group.runs++
    if (run.status === 'running') group.running++
    if (group.sample.length < sample_most) group.sample.push(run.id)
    for (const column of this.metrics) {
      const point = run.metrics[key_of_column(column)]?.value
      if (typeof point === 'number') widen(group.metrics, column, point)
    }
  }

  /** By the mean of a metric (a leading - means largest first), else by size. */
  sorted(sort: string): RunGroup[] {
    const column = sort.replace(/^-/, '')
    const sign = sort.startsWith('-') ? -1 : 1
    const all = [...this.groups.values()]
    if (!this.metrics.includes(column)) return all.sort((a, b) => b.runs - a.runs || compare_values(a.value, b.value))
    const mean = (group: RunGroup) => group.metrics.get(column)?.mean
    return all.sort((a, b) => {
      const x = mean(a)
      const y = mean(b)
      if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined)
      return (x - y) * sign
    })
  }
}

function widen(bands: Map<string, Band>, column: string, value: number): void {
  const band = bands.get(column)
  if (!band) {
    bands.set(column, { n: 1, mean: value, low: value, high: value })
    return
  }
  band.n++
  band.mean += (value - band.mean) / band.n
  if (value < band.low) band.low = value
  if (value > band.high) band.high = value
}

/** Numbers by size, words by letter, what is missing last. */
function compare_values(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  const difference = Number(a) - Number(b)
  return Number.isNaN(difference) ? a.localeCompare(b) : difference
}
