// SPDX-License-Identifier: Apache-2.0
// axe over pages of the mock server. node dev/axe.mjs URL PATH…
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'
import { flags } from '../e2e/browser.mjs'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const [url, ...paths] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags })
for (const theme of ['light', 'dark']) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  await context.addInitScript((chosen) => localStorage.setItem('takt-theme', chosen), theme)
  const page = await context.newPage()
  for (const path of paths) {
    await page.goto(url + path)
    await page.waitForTimeout(700)
    await page.evaluate(axe)
    const result = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }))
    for (const item of result.violations) for (const node of item.nodes.slice(0, 4)) console.log(theme, path, item.id, node.target.join(' '), '|', (node.any[0] ?? node.all[0] ?? node.none[0])?.message?.slice(0, 140))
  }
}
await browser.close()
