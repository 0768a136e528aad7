// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest'
import { translator } from '../i18n'
import { en } from '../i18n/en'
import { zh } from '../i18n/zh'
import { make_format } from './format'
import { find_in, mark_parts } from './fuzzy'
import { place_in_layers } from './layers'
import { judge, looks_of } from './metrics'
import { parse_duration_ms, parse_size, write_duration, write_memory } from './units'
import { parse_ref, path_of_ref, short_ref } from './url'

const format = make_format(translator('en', en), 'utc')

test('durations, sizes and metrics read as the design writes them', () => {
  expect(format.duration(4)).toBe('4 ms')
  expect(format.duration(2600)).toBe('2.6 s')
  expect(format.duration(41_000)).toBe('41 s')
  expect(format.duration(1_912_000)).toBe('31 min 52 s')
  expect(format.duration(undefined)).toBe('–')
  expect(format.bytes(70_600)).toBe('70.6 KB')
  expect(format.memory(1024 ** 3)).toBe('1 GiB')
  expect(format.percent(0.05)).toBe('5%')
  expect(format.metric(0.98151)).toBe('0.9815')
  expect(format.metric(2.4e-6)).toBe('2.4e-6')
  expect(make_format(translator('zh', zh), 'utc').duration(1_912_000)).toBe('31 分 52 秒')
})

test('times are relative under a day and dates after', () => {
  const now = Date.UTC(2026, 10, 30, 14, 36)
  expect(format.ago(now - 3 * 60_000, now)).toBe('3 min ago')
  expect(format.ago(now - 3 * 86_400_000, now)).toBe('27 Nov')
  expect(format.clock(now)).toBe('14:36:00')
})

test('specs keep their units when a job is cloned', () => {
  expect(parse_size('512MiB')).toBe(512 * 1024 ** 2)
  expect(parse_size('2GB')).toBe(2e9)
  expect(write_memory(2 * 1024 ** 3)).toBe('2GiB')
  expect(parse_duration_ms('1h30m')).toBe(5_400_000)
  expect(write_duration(1_200_000)).toBe('20m')
  expect(parse_size('much')).toBeUndefined()
})

test('references lead to their pages', () => {
  expect(path_of_ref('default', 'dataset/digits raw@3')).toBe('/p/default/data/digits%20raw@3')
  expect(path_of_ref('default', 'node/digits-line/42/promote')).toBe('/p/default/pipelines/digits-line/42?node=promote')
  expect(path_of_ref('default', 'user/maya')).toBeUndefined()
  expect(parse_ref('model/digits@8')).toEqual({ kind: 'model', name: 'digits', version: '8' })
  expect(short_ref('pipeline-run/digits-line/42')).toBe('digits-line #42')
})

test('the palette finds by letters in order and marks them; Chinese only by substring', () => {
  const match = find_in('digits@8', 'dig8')
  expect(match?.marks).toEqual([0, 1, 2, 7])
  expect(mark_parts('digits@8', match!.marks)).toEqual([['dig', true], ['its@', false], ['8', true]])
  expect(find_in('服务 digits', '服务')).toBeDefined()
  expect(find_in('流水线', '水流')).toBeUndefined()
  expect(find_in('digits', 'xyz')).toBeUndefined()
})

test('a layered drawing ranks by the longest way and bends long links', () => {
  const { nodes, routes } = place_in_layers(['raw', 'train', 'job', 'model'], [['raw', 'train'], ['train', 'job'], ['job', 'model'], ['raw', 'model']])
  expect(Object.fromEntries(nodes.filter((node) => !node.is_bend).map((node) => [node.id, node.rank]))).toEqual({ raw: 0, train: 1, job: 2, model: 3 })
  expect(routes[3]).toHaveLength(4)
  const at_rank_2 = nodes.filter((node) => node.rank === 2).map((node) => node.row)
  expect(new Set(at_rank_2).size).toBe(at_rank_2.length)
})

test('a cycle in lineage does not hang the drawing', () => {
  expect(place_in_layers(['a', 'b'], [['a', 'b'], ['b', 'a']]).nodes).toHaveLength(2)
})

test('better depends on the metric, and is not guessed for unknown ones', () => {
  expect(judge('accuracy', 0.98, 0.97)).toBe(1)
  expect(judge('log_loss', 0.06, 0.09)).toBe(1)
  expect(judge('val_loss', 0.1, 0.09)).toBe(-1)
  expect(judge('rows', 3, 2)).toBe(0)
})

test('runs keep apart in colour and the baseline is ink', () => {
  const ids = Array.from({ length: 8 }, (_, index) => `run${index}`)
  const looks = looks_of(['base', ...ids], 'base')
  expect(looks.get('base')).toEqual({ color: '--text', dash: [6, 4] })
  expect(new Set(ids.map((id) => looks.get(id)!.color)).size).toBe(8)
})
