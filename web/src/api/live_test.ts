// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest'
import { retry_delay_ms, stations_touched, StreamParser } from './live'

test('messages survive any cut of the stream', () => {
  const text = ': hello\r\n\r\nid: 7\nevent: job.ended\ndata: {"subject":\ndata: "job/7"}\n\nid: 8\nevent: run.ended\ndata: {}\n\n'
  for (let cut = 0; cut <= text.length; cut++) {
    const parser = new StreamParser()
    const messages = [...parser.feed(text.slice(0, cut)), ...parser.feed(text.slice(cut))]
    expect(messages).toEqual([
      { id: '7', event: 'job.ended', data: '{"subject":\n"job/7"}' },
      { id: '8', event: 'run.ended', data: '{}' },
    ])
  }
})

test('an event makes its stations and what shows all of them old', () => {
  expect(stations_touched('dataset/digits@3')).toEqual(['data', 'line', 'events', 'why'])
  expect(stations_touched('node/digits-line/42/promote')).toContain('pipelines')
  expect(stations_touched('something-new/1')).toEqual(['line', 'events', 'why'])
})

test('a lost stream is tried again after 1, 2, 4 … 30 s', () => {
  expect([0, 1, 2, 3, 4, 5, 9].map(retry_delay_ms)).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000])
})
