// SPDX-License-Identifier: Apache-2.0
// What runs can be compared by: their common metrics, and axes on which any column of them finds its place.
import type { Run } from '../../api/runs'
import { key_of_column, kind_of_column, number_in, value_in } from './columns_model'

/** Metrics that at least one of the runs has, those of most runs first, curves before single values. */
export function common_metrics(runs: Run[]): string[] {
  const count = new Map<string, number>()
  for (const run of runs) for (const key of Object.keys(run.metrics)) if (!key.startsWith('system/')) count.set(key, (count.get(key) ?? 0) + 1 + (run.metrics[key]!.step > 0 ? runs.length : 0))
  return [...count].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([key]) => key)
}

const words_most = 24
/** From this ratio on a positive axis is logarithmic, as learning rates want it. */
const log_from = 100

export interface CompareAxis {
  name: string
  key: string
  is_log: boolean
  /** Of an axis of words; undefined on one of numbers. */
  words: string[] | undefined
  low: number
  high: number
}

/** An axis over the runs' values of a column: of numbers when all are, of words otherwise. */
export function axis_over(runs: Run[], name: string): CompareAxis {
  const present = runs.filter((run) => value_in(run, name) !== undefined)
  const numbers = present.map((run) => number_in(run, name)).filter((value): value is number => value !== null)
  const is_numeric = numbers.length > 0 && (kind_of_column(name) === 'metric' || numbers.length === present.length)
  if (!is_numeric) {
    const words = [...new Set(present.map((run) => String(value_in(run, name))))].sort().slice(0, words_most)
    return { name, key: key_of_column(name), is_log: false, words, low: 0, high: Math.max(1, words.length - 1) }
  }
  const low = numbers.reduce((a, b) => Math.min(a, b))
  const high = numbers.reduce((a, b) => Math.max(a, b))
  return { name, key: key_of_column(name), is_log: low > 0 && high / low >= log_from, words: undefined, low, high }
}

/** Where the run stands on the axis, 0 to 1; null when it has no value there. */
export function place_on(axis: CompareAxis, run: Run): number | null {
  if (axis.words) {
    const value = value_in(run, axis.name)
    const index = value === undefined ? -1 : axis.words.indexOf(String(value))
    return index < 0 ? null : axis.words.length === 1 ? 0.5 : index / (axis.words.length - 1)
  }
  const value = number_in(run, axis.name)
  if (value === null) return null
  if (axis.high === axis.low) return 0.5
  return axis.is_log ? Math.log(value / axis.low) / Math.log(axis.high / axis.low) : (value - axis.low) / (axis.high - axis.low)
}

/** The value at a place; a word when the axis has words. */
export function value_on(axis: CompareAxis, place: number): number | string {
  if (axis.words) return axis.words[Math.round(place * (axis.words.length - 1))] ?? ''
  return axis.is_log ? axis.low * (axis.high / axis.low) ** place : axis.low + place * (axis.high - axis.low)
}

/** Places to label: the ends and what lies evenly between, or the words. */
export function ticks_of(axis: CompareAxis, count: number): number[] {
  if (!axis.words) return axis.high === axis.low ? [0.5] : Array.from({ length: count }, (_, index) => index / (count - 1))
  const all = axis.words.map((_, index) => (axis.words!.length === 1 ? 0.5 : index / (axis.words!.length - 1)))
  const step = Math.ceil(all.length / 8)
  return all.filter((_, index) => index % step === 0)
}

/** What to compare by without a choice: parameters that differ, then the first metrics. */
export function default_axes(runs: Run[]): string[] {
  const params = [...new Set(runs.flatMap((run) => Object.keys(run.params)))].sort()
  const differing = params.filter((key) => new Set(runs.map((run) => run.params[key])).size > 1)
  return [...differing.slice(0, 5).map((key) => `params.${key}`), ...common_metrics(runs).slice(0, 2).map((key) => `metrics.${key}`)]
}

export function comparable_names(runs: Run[]): string[] {
  const params = [...new Set(runs.flatMap((run) => Object.keys(run.params)))].sort().map((key) => `params.${key}`)
  return [...common_metrics(runs).map((key) => `metrics.${key}`), ...params]
}

export type Brushes = Map<string, [number, number]>

/** `metrics.accuracy~0.8~1,params.lr~0~0.25`: places on axes, in the URL. */
export function parse_brushes(text: string | null): Brushes {
  const brushes: Brushes = new Map()
  for (const part of (text ?? '').split(',')) {
    const [name, from, to] = part.split('~')
    const range: [number, number] = [Number(from), Number(to)]
    if (name && to !== undefined && range.every(Number.isFinite) && range[0] < range[1]) brushes.set(name, range)
  }
  return brushes
}

export function write_brushes(brushes: Brushes): string | null {
  const parts = [...brushes].filter(([, [from, to]]) => from > 0 || to < 1).map(([name, range]) => [name, ...range.map((value) => Number(value.toFixed(3)))].join('~'))
  return parts.length ? parts.join(',') : null
}

/** Whether a run lies inside all brushes; without a value on a brushed axis it does not. */
export function inside(run: Run, axes: CompareAxis[], brushes: Brushes): boolean {
  for (const axis of axes) {
    const brush = brushes.get(axis.name)
    if (!brush) continue
    const place = place_on(axis, run)
    if (place === null || place < brush[0] - 1e-9 || place > brush[1] + 1e-9) return false
  }
  return true
}

/** The filter's clauses for brushes on metrics; undefined when a brush is on what the filter cannot compare. */
export function clauses_of(axes: CompareAxis[], brushes: Brushes): string[] | undefined {
  const clauses: string[] = []
  for (const [name, [from, to]] of brushes) {
    const axis = axes.find((item) => item.name === name)
    if (!axis || kind_of_column(name) !== 'metric') return undefined
    const said = /[^\w./:@$-]/.test(axis.key) ? `metrics.\`${axis.key}\`` : name
    if (from > 0) clauses.push(`${said} >= ${Number((value_on(axis, from) as number).toPrecision(6))}`)
    if (to < 1) clauses.push(`${said} <= ${Number((value_on(axis, to) as number).toPrecision(6))}`)
  }
  return clauses
}
