// SPDX-License-Identifier: Apache-2.0
// The budgets of the first view, of one page more, and of everything, in bytes of gzip.
import { readFileSync, readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const dist = new URL('../dist/', import.meta.url)
const size = (name) => gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length
const html = readFileSync(new URL('index.html', dist), 'utf8')
const assets = readdirSync(new URL('assets/', dist)).map((name) => `assets/${name}`)
const first = new Set(['index.html'])
for (const match of html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)) first.add(match[1])
// The page of the Line is part of the first view, and so is the larger catalogue.
for (const name of assets) if (/\/(line|zh)-/i.test(name)) first.add(name)
const firstBytes = [...first].reduce((sum, name) => sum + size(name), 0)
const rest = assets.filter((name) => !first.has(name)).map((name) => [name, size(name)])
const largest = Math.max(0, ...rest.map(([, bytes]) => bytes))
const all = firstBytes + rest.reduce((sum, [, bytes]) => sum + bytes, 0)
const rows = [['first view', firstBytes, 250], ['largest part loaded later', largest, 60], ['all', all, 900]]
let failed = 0
for (const [what, bytes, limit] of rows) {
  const over = bytes > limit * 1024
  failed += over ? 1 : 0
  console.log(`${over ? 'OVER' : 'ok  '} ${what}: ${(bytes / 1024).toFixed(1)} KB gzip of ${limit}`)
}
const outside = assets.filter((name) => /\.(js|css)$/.test(name)).flatMap((name) =>
  [...readFileSync(new URL(name, dist), 'utf8').matchAll(/url\(["']?(?:https?:)?\/\/[^)]*\)|@import/g)].map((m) => `${name}: ${m[0]}`))
if (/<script(?![^>]*\bsrc=)|style=|<style/.test(html)) { console.log('OVER inline script or style in index.html'); failed++ }
for (const line of outside) { console.log(`OVER outside request ${line}`); failed++ }
process.exit(failed ? 1 : 0)
