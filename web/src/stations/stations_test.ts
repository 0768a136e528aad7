// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest'
import { as_curl, as_python } from '../app/command'
import { join_points, lonely_points, smooth } from '../charts/smooth'
import { pixel_columns } from './data/preview'
import { parse_lines } from './jobs/log'
import { lines_kept, LogModel, spans_of } from './jobs/log_model'
import { pieces_of } from './line/belt'
import { lead_time_of } from './line/lead_time'
import { draw, merge_edges, node_with_turn } from './pipelines/model'
import { complete } from './runs/filter'
import { to_csv } from './runs/runs'
import { change_to } from './runs/views'
import { next_stop, place_of_share, share_at_place, stops } from './services/shares'
import { safe_target } from './signin/signin'

const bytes = (text: string) => new TextEncoder().encode(text)

test('log lines survive any cut, also inside a letter', () => {
  const text = bytes('first\nzweite ü\n第三行\nopen')
  for (let cut = 0; cut <= text.length; cut++) {
    const model = new LogModel()
    model.feed(text.subarray(0, cut))
    model.feed(text.subarray(cut))
    expect(model.all().map((line) => [line.number, line.text])).toEqual([[1, 'first'], [2, 'zweite ü'], [3, '第三行'], [4, 'open']])
    expect(model.next_offset).toBe(text.length)
  }
})

test('a long log keeps its last lines with their numbers', () => {
  const model = new LogModel()
  model.feed(bytes(Array.from({ length: lines_kept + 10 }, (_, index) => `line ${index + 1}\n`).join('')))
  expect(model.lines).toHaveLength(lines_kept)
  expect(model.lines[0]).toMatchObject({ number: 11, text: 'line 11' })
})

test('colours become tokens, progress bars their last state, control bytes visible', () => {
  expect(spans_of('\x1b[31mred\x1b[0m plain')).toEqual([{ text: 'red', color: '--red', bold: false }, { text: ' plain', color: undefined, bold: false }])
  expect(spans_of(' 10%\r 99%')).toEqual([{ text: ' 99%' }])
  expect(spans_of('a\x07b')[0]!.text).toBe('a\u2407b')
})

test('line permalinks', () => {
  expect(parse_lines('#L1200-1210')).toEqual([1200, 1210])
  expect(parse_lines('#L7')).toEqual([7, 7])
  expect(parse_lines('#x')).toBeUndefined()
})

test('the slider stands at equal steps and every stop can be reached', () => {
  expect(stops.map(place_of_share)).toEqual(stops.map((_, index) => index / (stops.length - 1)))
  for (const stop of stops) expect(share_at_place(place_of_share(stop))).toBe(stop)
  expect(next_stop(5, 1)).toBe(10)
  expect(next_stop(7, -1)).toBe(5)
  expect(next_stop(100, 1)).toBe(100)
})

test('the token never stands in a command', () => {
  const command = { cli: '', method: 'PATCH', route: '/api/v1/services/digits/traffic', body: { share: 25, note: "it's" } }
  expect(as_curl(command, 'http://h')).toBe(`curl -H "Authorization: Bearer $TAKT_TOKEN" -X PATCH -H 'Content-Type: application/json' -d '{"share":25,"note":"it'\\''s"}' http://h/api/v1/services/digits/traffic`)
  expect(as_python(command, 'http://h')).toContain('os.environ["TAKT_TOKEN"]')
})

test('sign-in leads only to pages of this console', () => {
  expect(safe_target('/p/default/jobs')).toBe('/p/default/jobs')
  for (const bad of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', null]) expect(safe_target(bad)).toBe('/')
})

test('waiting things stack in the gap, failed ones fall off, moving ones stand at their station', () => {
  const stop = (kind: 'waiting' | 'failed' | 'approval', subject: string) => ({ kind, subject, path: '/', text: '', action: '', since_at: '2026-11-30T14:00:00Z' })
  const pieces = pieces_of(
    [{ station: 'jobs', total: 9, moving: 1, lines: [], pieces: ['job/7', 'job/8'] }],
    [stop('approval', 'node/line/42/promote'), stop('failed', 'job/5'), stop('waiting', 'job/8'), stop('waiting', 'job/9')],
  )
  expect(pieces.map(({ refs, column, off, glyph, number }) => ({ refs, column, off, glyph, number }))).toEqual([
    { refs: ['node/line/42/promote'], column: 8, off: false, glyph: 'person', number: 1 },
    { refs: ['job/5'], column: 3, off: true, glyph: 'bad', number: 2 },
    { refs: ['job/8', 'job/9'], column: 2, off: false, glyph: 'wait', number: 3 },
    { refs: ['job/7'], column: 3, off: false, glyph: 'run', number: undefined },
  ])
})

const node = (name: string, y: number, extra: object = {}) => ({ name, action: 'job', state: 'done' as const, reason: '', attempt: 1, inputs: {}, outputs: {}, needs: [], x: 0, y, ...extra })

test('the node with the turn is the one that waits for a person', () => {
  const run = { pipeline: 'p', number: 1, ref: '', state: 'running' as const, reason: '', started_by: '', started_at: '2026-11-30T14:00:00Z', params: {}, trigger: 'manual', nodes: [node('a', 0, { state: 'running' }), node('b', 1, { state: 'waiting-approval' })], edges: [] }
  expect(node_with_turn(run)?.name).toBe('b')
})

test('edges between the same nodes are one; an edge over ranks goes round', () => {
  const edges = [{ from: 'a', to: 'b', label: 'x' }, { from: 'a', to: 'b', label: 'y' }, { from: 'a', to: 'c', label: 'z' }]
  expect(merge_edges(edges)).toHaveLength(2)
  const drawing = draw([node('a', 0), node('b', 1), node('c', 2)], edges)
  expect(drawing.paths.map((path) => [path.label, path.centred])).toEqual([['x, y', false], ['z', true]])
})

test('lead time sets the wait for a person apart from work', () => {
  const at = (s: number) => new Date(Date.UTC(2026, 10, 30) + s * 1000).toISOString()
  const lead = lead_time_of({
    pipeline: 'p', number: 1, ref: '', state: 'succeeded', reason: '', started_by: '', started_at: at(0), ended_at: at(1000), params: {}, trigger: 'manual', edges: [],
    nodes: [
      node('validate', 0, { action: 'validate', started_at: at(0), ended_at: at(2) }),
      node('train', 1, { outputs: { model: { kind: 'model', digest: '' } }, started_at: at(3), ended_at: at(43) }),
      node('promote', 2, { action: 'promote', started_at: at(998), ended_at: at(1000), approve: { by: 'anyone', question: '', asked_at: at(48), approver: 'maya' } }),
    ],
  })!
  expect(lead.work).toMatchObject({ data: 2000, jobs: 40_000, services: 2000 })
  expect(lead.longest).toBe('services')
  expect(lead.wait.services).toBe(955_000)
  expect(lead.by_person).toBe(true)
})

test('the filter completes the word under the caret, not inside quotes', () => {
  const columns = [{ name: 'metrics.val_accuracy' }, { name: 'params.lr' }]
  expect(complete('metrics.val', 11, columns)).toEqual({ from: 0, names: ['metrics.val_accuracy'] })
  expect(complete("params.lr = 'metr", 17, columns).names).toEqual([])
})

test('a saved view clears what it does not name', () => {
  expect(change_to({ q: "a = '1'" }, 'best')).toMatchObject({ q: "a = '1'", sort: null, view: '@best' })
})

test('exported cells cannot act as formulas, numbers stay numbers', () => {
  const run = { id: 'a', name: '=cmd()', experiment: 'x,y', status: 'finished', started_at: 't', params: { p: '-1' }, metrics: { m: { value: 0.5, step: 0, at: 't' } }, tags: {} } as never
  expect(to_csv([run], ['metrics.m', 'params.p']).split('\n')[1]).toBe(`a,'=cmd(),"x,y",finished,t,,0.5,-1`)
})

test('series with different steps share one axis, gaps stay gaps', () => {
  const { x, values } = join_points([{ x: [1, 2, 3], y: [1, null, 3] }, { x: [2, 4], y: [5, 6] }])
  expect(x).toEqual([1, 2, 3, 4])
  expect(values).toEqual([[1, null, 3, undefined], [undefined, 5, undefined, 6]])
  expect(smooth([1, 1, 1], 0.9)).toEqual([1, 1, 1].map((value) => expect.closeTo(value, 9)))
})

test('points without neighbours are drawn as points', () => {
  expect(lonely_points([1, null, 2, 3, null, 4, undefined, null, 5])).toEqual([0, 5, 8])
  expect(lonely_points([null, 1, undefined, 2, null])).toEqual([])
})

test('square sets of numbered columns are pictures', () => {
  expect(pixel_columns([...Array.from({ length: 64 }, (_, index) => `pixel_${index}`), 'label'])).toHaveLength(64)
  expect(pixel_columns(Array.from({ length: 64 }, (_, index) => `pixel_${index >> 3}_${index & 7}`))).toHaveLength(64)
  expect(pixel_columns(['a1', 'a2', 'b'])).toBeUndefined()
})
