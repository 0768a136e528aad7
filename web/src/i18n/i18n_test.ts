// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest'
import { fill } from '.'
import { en } from './en'
import { zh } from './zh'

test('places are filled and plurals chosen by the language', () => {
  expect(fill('{n|# row|# rows} of {name}', { n: 1, name: 'digits' }, 'en-GB')).toBe('1 row of digits')
  expect(fill('{n|# row|# rows}', { n: 1797 }, 'en-GB')).toBe('1,797 rows')
  expect(fill('{n} 行', { n: 1797 }, 'zh-Hans-CN')).toBe('1,797 行')
})

test('a place without a value stays visible', () => {
  expect(fill('by {user}', {}, 'en-GB')).toBe('by {user}')
})

test('both catalogues hold the same keys', () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
})

test('Chinese texts have a space between Chinese and Latin letters', () => {
  const tight = Object.entries(zh).filter(([, text]) => /[\u4e00-\u9fff][A-Za-z]|[A-Za-z][\u4e00-\u9fff]/.test(text.replace(/\{[^}]*\}|<\/?b>/g, '')))
  expect(tight).toEqual([])
})
