// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest'
import type { Curve, Run } from '../../api/runs'
import { ColumnGatherer, columns_of, default_columns, expand_columns, narrowed } from './columns_model'
import { axis_over, clauses_of, inside, parse_brushes, place_on, value_on, write_brushes } from './compare_model'
import { band_of, curve_of, parse_zoom, value_at, write_zoom } from './curve_data'
import { RunGrouper } from './groups'
import { pictures_of, step_at, steps_of } from './picture_model'
import { RunPatches } from './run_list'

function run(id: string, params: Record<string, string>, metrics: Record<string, number | string> = {}, extra: Partial<Run> = {}): Run {
  return {
    id, ref: `run/${id}`, name: id, experiment: 'e', experiment_id: '1', status: 'finished', is_deleted: false, user: 'u', started_at: '2026-01-01T00:00:00Z', params, tags: {},
    metrics: Object.fromEntries(Object.entries(metrics).map(([key, value]) => [key, { value: value as number, step: 1, at: '2026-01-01T00:00:00Z' }])),
    ...extra,
  }
}

test('a star stands for all columns that begin so, each once', () => {
  const columns = ['metrics.val_loss', 'metrics.val_acc', 'metrics.loss', 'params.lr'].map((name) => ({ name, kind: 'metric' as const, key: name, runs: 1 }))
  expect(expand_columns(['params.lr', 'metrics.val_*', 'metrics.val_acc'], columns)).toEqual(['params.lr', 'metrics.val_loss', 'metrics.val_acc'])
})

test('a first visit shows what most of the newest runs have, metrics first', () => {
  const columns = columns_of([run('a', { lr: '1' }, { loss: 1, 'system/cpu': 1 }), run('b', { lr: '2', seed: '7' }, { loss: 2, accuracy: 1 })])
  expect(columns.find((column) => column.name === 'params.lr')?.runs).toBe(2)
  expect(default_columns(columns)).toEqual(['metrics.loss', 'metrics.accuracy', 'params.lr', 'params.seed'])
})

test('facts of a column grow with the rows and begin anew with another list', () => {
  const gatherer = new ColumnGatherer()
  const rows = [run('a', { lr: '1', seed: '7' }, { acc: 0.5 }), run('b', { lr: '1', seed: '8' }, { acc: 0.9 })]
  expect(gatherer.facts(rows.slice(0, 1), 'params.seed').varies).toBe(false)
  expect(gatherer.facts(rows, 'params.seed').varies).toBe(true)
  expect(gatherer.facts(rows, 'params.lr').varies).toBe(false)
  expect(gatherer.facts(rows, 'metrics.acc')).toMatchObject({ low: 0.5, high: 0.9, varies: true })
  expect(gatherer.facts([run('c', {}, { acc: 0.7 })], 'metrics.acc')).toMatchObject({ low: 0.7, high: 0.7 })
})

test('a column that some rows lack varies', () => {
  expect(new ColumnGatherer().facts([run('a', {}), run('b', { x: '1' })], 'params.x').varies).toBe(true)
})

test('a filter is narrowed with quoted names and values', () => {
  expect(narrowed('', 'params.lr', "it's")).toBe("params.lr = 'it''s'")
  expect(narrowed('metrics.a > 1', 'params.my key', '2')).toBe("metrics.a > 1 AND params.`my key` = '2'")
  expect(narrowed('', 'tags.team', undefined)).toBe('tags.team IS NULL')
})

test('groups have mean and band, page by page, NaN left out', () => {
  const grouper = new RunGrouper('params.lr', ['metrics.acc'])
  grouper.add([run('a', { lr: '0.1' }, { acc: 0.6 }), run('b', { lr: '0.2' }, { acc: 0.9 })])
  grouper.add([run('c', { lr: '0.1' }, { acc: 0.8 }), run('d', { lr: '0.1' }, { acc: 'NaN' }), run('e', {})])
  const groups = grouper.sorted('-metrics.acc')
  expect(groups.map((group) => [group.value, group.runs])).toEqual([['0.2', 1], ['0.1', 3], [undefined, 1]])
  const band = groups[1]!.metrics.get('metrics.acc')!
  expect(band).toMatchObject({ n: 2, low: 0.6, high: 0.8 })
  expect(band.mean).toBeCloseTo(0.7)
  expect(grouper.sorted('').map((group) => group.value)).toEqual(['0.1', '0.2', undefined])
})

test('newer values of a row keep what was not asked for, and a tag that did not come is gone', () => {
  const patches = new RunPatches()
  const base = run('a', { lr: '1' }, { acc: 0.1 }, { tags: { team: 'x', keep: 'y' } })
  patches.put(run('a', {}, { loss: 2 }, { status: 'running' }), ['metrics.loss', 'tags.team'], base)
  const newest = patches.newest(base)
  expect(newest.params).toEqual({ lr: '1' })
  expect(Object.keys(newest.metrics).sort()).toEqual(['acc', 'loss'])
  expect(newest.tags).toEqual({ keep: 'y' })
  expect(newest.status).toBe('running')
  expect(patches.knows('a', 'metrics.loss')).toBe(true)
  expect(patches.knows('a', 'metrics.acc')).toBe(false)
})

const start = Date.parse('2026-01-01T00:00:00Z')
const buckets = (x: number[], last: (number | string)[], extra: Partial<Curve> = {}): Curve => ({ run: 'r', total: x.length, is_thinned: false, x, count: x.map(() => 1), min: last as number[], max: last as number[], last: last as number[], ...extra })

test('a curve stands on steps, on seconds since the start, or on epochs', () => {
  expect(curve_of(buckets([10, 20], [1, 'NaN']), 'step', 0)).toEqual({ x: [10, 20], y: [1, null] })
  expect(curve_of(buckets([start + 5000, start + 10_000], [1, 2]), 'time', start).x).toEqual([5, 10])
  expect(curve_of(buckets([10, 20], [1, 2]), 'epoch', 0, { x: [0, 40], y: [0, 4] }).x).toEqual([1, 2])
  expect(curve_of(buckets([10, 20], [1, 2]), 'epoch', 0, undefined).x).toEqual([])
})

test('what was put together has an envelope', () => {
  expect(curve_of(buckets([8, 16], [2, 3], { is_thinned: true, min: [1, 'NaN' as never], max: [4, 5] }), 'step', 0)).toEqual({ x: [8, 16], y: [2, 3], low: [1, null], high: [4, 5] })
})

test('a band is drawn where at least one curve is known', () => {
  expect(value_at({ x: [0, 10], y: [0, 1] }, 5)).toBeCloseTo(0.5)
  expect(value_at({ x: [0, 10], y: [0, 1] }, 11)).toBeNull()
  const band = band_of([{ x: [0, 10], y: [0, 1] }, { x: [5], y: [2.5] }])
  expect(band).toEqual({ x: [0, 5, 10], mean: [0, 1.5, 1], low: [0, 0.5, 1], high: [0, 2.5, 1] })
})

test('a zoom survives the address; anything else is no zoom', () => {
  expect(parse_zoom(write_zoom([1.5, 40]))).toEqual([1.5, 40])
  for (const text of ['', 'a..b', '5..1', '1', null]) expect(parse_zoom(text)).toBeUndefined()
})

test('axes are numbers, logarithms or words', () => {
  const runs = [run('a', { lr: '0.001', opt: 'adam' }), run('b', { lr: '0.1', opt: 'sgd' }), run('c', { lr: '1', opt: 'adam' })]
  const lr = axis_over(runs, 'params.lr')
  expect(lr.is_log).toBe(true)
  expect(place_on(lr, runs[1]!)).toBeCloseTo(2 / 3)
  expect(value_on(lr, 2 / 3)).toBeCloseTo(0.1)
  const opt = axis_over(runs, 'params.opt')
  expect(opt.words).toEqual(['adam', 'sgd'])
  expect(place_on(opt, runs[1]!)).toBe(1)
  expect(place_on(opt, run('d', {}))).toBeNull()
  expect(place_on(axis_over([runs[0]!], 'params.lr'), runs[0]!)).toBe(0.5)
})

test('brushes leave the runs between, live in the address, and become clauses for metrics', () => {
  const runs = [run('a', {}, { acc: 0 }), run('b', {}, { acc: 0.5 }), run('c', {}, { acc: 1 }), run('d', {})]
  const axes = [axis_over(runs, 'metrics.acc')]
  const brushes = parse_brushes('metrics.acc~0.4~1')
  expect(runs.filter((item) => inside(item, axes, brushes)).map((item) => item.id)).toEqual(['b', 'c'])
  expect(write_brushes(brushes)).toBe('metrics.acc~0.4~1')
  expect(clauses_of(axes, brushes)).toEqual(['metrics.acc >= 0.4'])
  expect(clauses_of(axes, parse_brushes('params.lr~0~0.5'))).toBeUndefined()
  expect(parse_brushes('x~1~0,y~a~b').size).toBe(0)
})

test('pictures of mlflow.log_image are rows by name with steps, a copy stands for the large one', () => {
  const file = (path: string) => ({ path, name: path, is_folder: false, size_bytes: 1 })
  const files = new Map([
    ['a', [file('images/seen#x%step%1%timestamp%5%u.png'), file('images/seen#x%step%1%timestamp%5%u%compressed.webp'), file('images/seen#x+step+3+timestamp+9+v.png'), file('plot.png')]],
    ['b', [file('plot.png')]],
  ])
  const rows = pictures_of(files, (path) => /\.(png|webp)$/.test(path))
  expect(rows.map((row) => row.name)).toEqual(['plot.png', 'seen/x'])
  const seen = rows[1]!.runs.get('a')!
  expect(seen.map((picture) => picture.path)).toEqual(['images/seen#x%step%1%timestamp%5%u%compressed.webp', 'images/seen#x+step+3+timestamp+9+v.png'])
  expect(steps_of(rows)).toEqual([1, 3])
  expect(step_at(seen, 2)?.step).toBe(1)
  expect(step_at(seen, undefined)?.step).toBe(3)
})
