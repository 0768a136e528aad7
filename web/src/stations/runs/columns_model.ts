// SPDX-License-Identifier: Apache-2.0
// What a column of the runs table is: its name (metrics.KEY, params.KEY, tags.KEY or one of the run itself), its value
// in a run, and what all loaded rows say about it.
import { number_of, type Run, type RunColumn } from '../../api/runs'

export type CellKind = 'run' | 'metric' | 'param' | 'tag'

export function kind_of_column(name: string): CellKind {
  if (name.startsWith('metrics.')) return 'metric'
  if (name.startsWith('params.')) return 'param'
  return name.startsWith('tags.') ? 'tag' : 'run'
}

export const key_of_column = (name: string): string => name.slice(name.indexOf('.') + 1)

/** The value as it was logged; undefined where the run has none. */
export function value_in(run: Run, name: string): number | string | undefined {
  const key = key_of_column(name)
  switch (kind_of_column(name)) {
    case 'metric':
      return run.metrics[key]?.value as number | string | undefined
    case 'param':
      return run.params[key]
    case 'tag':
      return run.tags[key]
    default:
      return undefined
  }
}

/** A value to draw or compute with: parameters count when they are written as numbers. */
export function number_in(run: Run, name: string): number | null {
  const value = value_in(run, name)
  if (typeof value !== 'string') return number_of(value)
  return kind_of_column(name) === 'param' && value.trim() !== '' ? number_of(Number(value)) : null
}

function metric_rank(key: string): number {
  const order = ['val_accuracy', 'accuracy', 'val_loss', 'loss', 'f1']
  const index = order.findIndex((name) => key.includes(name))
  return index < 0 ? order.length : index
}

/** The columns of a first visit: what most runs have, metrics first. */
export function default_columns(columns: RunColumn[]): string[] {
  const most = (kind: RunColumn['kind'], count: number) =>
    columns.filter((column) => column.kind === kind && !column.key.startsWith('system/')).sort((a, b) => b.runs - a.runs || metric_rank(a.key) - metric_rank(b.key)).slice(0, count)
  return [...most('metric', 4), ...most('param', 6)].map((column) => column.name)
}

/** The columns that some runs have, with how many of them. */
export function columns_of(runs: Run[]): RunColumn[] {
  const found = new Map<string, RunColumn>()
  const add = (kind: RunColumn['kind'], keys: string[]) => {
    for (const key of keys) {
      const name = `${kind}s.${key}`
      const column = found.get(name) ?? { name, kind, key, runs: 0 }
      column.runs++
      found.set(name, column)
    }
  }
  for (const run of runs) {
    add('metric', Object.keys(run.metrics))
    add('param', Object.keys(run.params))
    add('tag', Object.keys(run.tags))
  }
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name))
}

/** `metrics.val_*` stands for all such columns that runs have; what follows it by name is not shown twice. */
export function expand_columns(names: string[], columns: RunColumn[]): string[] {
  const all = names.flatMap((name) => {
    if (!name.endsWith('*')) return [name]
    const begin = name.slice(0, -1)
    return columns.filter((column) => column.name.startsWith(begin)).map((column) => column.name)
  })
  return [...new Set(all)]
}

export interface ColumnFacts {
  low: number
  high: number
  varies: boolean
}

/** What the loaded rows say about a column, gathered as rows arrive so that a long list costs each row once. */
export class ColumnGatherer {
  private readonly found = new Map<string, ColumnFacts & { first: string | undefined; upto: number }>()
  private rows: Run[] = []

  /** Facts over `rows`; other rows than those gathered so far begin anew. */
  facts(rows: Run[], name: string): ColumnFacts {
    if (rows[0]?.id !== this.rows[0]?.id || rows.length < this.rows.length) this.found.clear()
    this.rows = rows
    let facts = this.found.get(name)
    if (!facts) {
      facts = { low: Infinity, high: -Infinity, varies: false, first: rows[0] && text(value_in(rows[0], name)), upto: 0 }
      this.found.set(name, facts)
    }
    for (; facts.upto < rows.length; facts.upto++) {
      const run = rows[facts.upto]!
      const value = value_in(run, name)
      if (!facts.varies && text(value) !== facts.first) facts.varies = true
      if (typeof value !== 'number') continue
      if (value < facts.low) facts.low = value
      if (value > facts.high) facts.high = value
    }
    return facts
  }
}

const text = (value: number | string | undefined) => (value === undefined ? undefined : String(value))

/** A column's name as the filter's grammar takes it. */
export function filter_name(name: string): string {
  return /[^\w./:@$-]/.test(key_of_column(name)) ? name.replace(/^(\w+)\.(.*)$/, '$1.`$2`') : name
}

/** The filter with one clause more: the runs where the column has this value. */
export function narrowed(filter: string, name: string, value: string | undefined): string {
  const clause = value === undefined ? `${filter_name(name)} IS NULL` : `${filter_name(name)} = '${value.replaceAll("'", "''")}'`
  return filter.trim() ? `${filter.trim()} AND ${clause}` : clause
}
