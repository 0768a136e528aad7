// SPDX-License-Identifier: Apache-2.0
// Both catalogues must hold the same keys with the same places and tags, every key used in the sources must exist,
// and no key may be left unused. (That zh has every key of en is also a type error.)
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../src/', import.meta.url))
function catalogue(language) {
  const entries = new Map()
  for (const file of readdirSync(`${root}i18n/${language}`)) read_catalogue(`i18n/${language}/${file}`, entries)
  return entries
}
function read_catalogue(file, entries) {
  const source = ts.createSourceFile('x.ts', readFileSync(root + file, 'utf8'), ts.ScriptTarget.Latest, true)
  const visit = (node) => {
    if (ts.isPropertyAssignment(node) && ts.isStringLiteralLike(node.initializer)) {
      const key = ts.isStringLiteralLike(node.name) || ts.isIdentifier(node.name) ? node.name.text : ''
      if (entries.has(key)) problems.push(`${file}: ${key} twice`)
      entries.set(key, node.initializer.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
}
const problems = []
const places = (text) => [...new Set([...text.matchAll(/\{(\w+)/g)].map((m) => m[1]))].filter((p) => !/^#/.test(p)).sort().join(' ')
const tags = (text) => [...text.matchAll(/<\/?b>/g)].map((m) => m[0]).sort().join('')
const en = catalogue('en')
const zh = catalogue('zh')
for (const [key, text] of en) {
  const other = zh.get(key)
  if (other === undefined) { problems.push(`zh: ${key} missing`); continue }
  if (places(text) !== places(other)) problems.push(`${key}: places differ: ${places(text)} | ${places(other)}`)
  if ((tags(text) === '') !== (tags(other) === '')) problems.push(`${key}: tags differ`)
  if (/successfully|oops|please|!$/i.test(text)) problems.push(`en: ${key} holds a word that takt does not use`)
}
for (const key of zh.keys()) if (!en.has(key)) problems.push(`en: ${key} missing`)
let sources = ''
for (const file of readdirSync(root, { recursive: true })) {
  if (/\.tsx?$/.test(file) && !/i18n[\\/](en|zh)([\\/]|\.ts)/.test(file)) sources += readFileSync(root + file, 'utf8')
}
// Keys put together from a prefix, as in t(`state.${state}`), count as used with all that begin so.
const prefixes = [...sources.matchAll(/`([\w.]+\.)\$\{/g)].map((m) => m[1])
for (const key of en.keys()) {
  if (!sources.includes(`'${key}'`) && !prefixes.some((prefix) => key.startsWith(prefix))) problems.push(`en: ${key} is used nowhere`)
}
for (const line of problems) console.error(line)
console.log(`catalogue: ${en.size} keys, ${problems.length} problems`)
process.exit(problems.length ? 1 : 0)
