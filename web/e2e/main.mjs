// SPDX-License-Identifier: Apache-2.0
// Browser tests against a real server: TAKT_BIN=…/bin npm run test:e2e [WORD: only tests whose name holds it].
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { executable, flags } from './browser.mjs'
import { collect } from './flows.mjs'
import { collect_models } from './models_flows.mjs'
import { collect_runs } from './runs_flows.mjs'
import { Server } from './server.mjs'

export const pictures = fileURLToPath(new URL('../test-results/', import.meta.url))
mkdirSync(pictures, { recursive: true })
const only = process.argv[2] ?? ''
let passed = 0
let failed = 0
const server = new Server()
let browser
try {
  await server.start()
  if (process.env.TAKT_FRONT) {
    // A server built without the console: the files come from dist/ through a front.
    const { start_front } = await import('../dev/front.mjs')
    server.url = `http://127.0.0.1:${(await start_front(server.port)).port}`
    server.has_front = true
  }
  for (const step of ['seed_people', 'seed_line', 'seed_second_data', 'seed_runs', 'seed_jobs']) {
    const begin = Date.now()
    try {
      await server[step]()
      console.log(`  ${step} ${((Date.now() - begin) / 1000).toFixed(1)} s`)
    } catch (error) {
      failed++
      console.log(`FAIL ${step}: ${error.message}`)
    }
  }
  browser = await chromium.launch({ executablePath: executable, args: flags })
  const given = { browser, server, pictures }
  for (const { name, run } of [...collect_runs(given), ...collect_models(given), ...collect(given)]) {
    if (!name.includes(only)) continue
    const begin = Date.now()
    try {
      await run()
      passed++
      console.log(`ok   ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`)
    } catch (error) {
      failed++
      console.log(`FAIL ${name}\n     ${String(error.stack ?? error).split('\n').slice(0, 6).join('\n     ')}`)
    }
  }
} catch (error) {
  failed++
  console.log(`FAIL ${error.stack}`)
  if (server.folder) console.log(server.log_tail())
} finally {
  await browser?.close()
  await server.close()
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
