// SPDX-License-Identifier: Apache-2.0
// Writes src/api/generated/<station>.d.ts from ../api/openapi/<station>.yaml, only where the text changed.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'

const source = fileURLToPath(new URL('../../api/openapi/', import.meta.url))
const target = fileURLToPath(new URL('../src/api/generated/', import.meta.url))
mkdirSync(target, { recursive: true })
let failed = false
for (const file of existsSync(source) ? readdirSync(source).filter((name) => name.endsWith('.yaml')) : []) {
  try {
    const text = '// Generated from api/openapi/' + file + '; do not edit.\n' +
      astToString(await openapiTS(pathToFileURL(source + file), { defaultNonNullable: false }))
    const path = target + file.replace('.yaml', '.d.ts')
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
  } catch (error) {
    console.error(`${file}: ${error.message}`)
    failed = true
  }
}
process.exit(failed ? 1 : 0)
