// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest'
import { parse_csv, table_of_json } from './csv'
import { blocks_of } from './markdown'
import { accuracy_of, parse_matrix } from './matrix'
import { path_beside } from './preview'
import { kind_of } from './read'

test('a file is looked at by its name; what could run is text', () => {
  expect(['a/plot.PNG', 'x.csv', 'x.json', 'README.md', 'confusion_matrix.json', 'model/MLmodel', 'page.html', 'w.bin'].map(kind_of)).toEqual(['image', 'table', 'json', 'markdown', 'matrix', 'text', 'text', 'none'])
})

test('CSV: quotes, doubled quotes, line breaks in cells, no last line break', () => {
  expect(parse_csv('a,b\r\n"x, ""y""","two\nlines"\n,\n1,2')).toEqual([['a', 'b'], ['x, "y"', 'two\nlines'], ['', ''], ['1', '2']])
  expect(parse_csv('a\tb\n', '\t')).toEqual([['a', 'b']])
  expect(parse_csv('a\nb\nc', ',', 2)).toEqual([['a'], ['b']])
})

test('tables written as JSON', () => {
  expect(table_of_json({ columns: ['a'], data: [[1], [null]] })).toEqual([['a'], ['1'], ['']])
  expect(table_of_json([{ a: 1 }, { b: [2] }])).toEqual([['a', 'b'], ['1', ''], ['', '[2]']])
  expect(table_of_json({ a: 1 })).toBeUndefined()
  expect(table_of_json([])).toBeUndefined()
})

test('confusion matrices in every documented shape', () => {
  const wanted = { labels: ['cat', 'dog'], counts: [[48, 2], [5, 45]] }
  expect(parse_matrix('m.json', '{"labels":["cat","dog"],"matrix":[[48,2],[5,45]]}')).toEqual(wanted)
  expect(parse_matrix('m.json', '[[48,2],[5,45]]')).toEqual({ ...wanted, labels: ['0', '1'] })
  expect(parse_matrix('m.json', '{"columns":["true","cat","dog"],"data":[["cat",48,2],["dog",5,45]]}')).toEqual(wanted)
  expect(parse_matrix('m.csv', 'true,cat,dog\ncat,48,2\ndog,5,45\n')).toEqual(wanted)
  expect(parse_matrix('m.csv', 'cat,dog\n48,2\n5,45\n')).toEqual(wanted)
  expect(accuracy_of(wanted)).toBeCloseTo(0.93)
})

test('what is no square matrix of counts is none', () => {
  for (const text of ['{', '[[1,2]]', '[[1,"x"],[2,3]]', '{"matrix":[[1]],"labels":["a","b"]}', '[]', 'null', '[[-1]]']) expect(parse_matrix('m.json', text)).toBeUndefined()
})

test('Markdown: blocks; HTML stays text', () => {
  expect(blocks_of('# T #\n\ntext\nmore\n\n- a\n  b\n- c\n\n```py\n# x\n```\n> q\n\n---\n| a | b |\n|---|--:|\n| 1 | 2 |\n<script>x</script>')).toEqual([
    { kind: 'heading', level: 1, text: 'T' },
    { kind: 'paragraph', text: 'text\nmore' },
    { kind: 'list', is_numbered: false, items: ['a b', 'c'] },
    { kind: 'code', text: '# x' },
    { kind: 'quote', text: 'q' },
    { kind: 'rule' },
    { kind: 'table', rows: [['a', 'b'], ['1', '2']] },
    { kind: 'paragraph', text: '<script>x</script>' },
  ])
})

test('Markdown ends on any text', () => {
  for (const text of ['#', '```', '|', '|\n|--', '> ', '-', '1.', '   x', '- \n   \n', '#x\n#', '|a\n--|']) expect(blocks_of(text)).toBeInstanceOf(Array)
})

test('pictures beside a file never lead out of the run', () => {
  expect(path_beside('docs/a.md', './img/x.png')).toBe('docs/img/x.png')
  expect(path_beside('docs/a.md', '../x.png')).toBe('x.png')
  expect(path_beside('a.md', '../../x.png')).toBeUndefined()
})
