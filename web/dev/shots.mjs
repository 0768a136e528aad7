// SPDX-License-Identifier: Apache-2.0
// Pictures of pages for looking at while developing. node dev/shots.mjs URL FOLDER [NAME=PATH …] [--zh] [--dark] [--narrow]
import { mkdirSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { flags } from '../e2e/browser.mjs'

const [url, folder, ...rest] = process.argv.slice(2)
const has = (flag) => rest.includes(flag)
mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags })
const context = await browser.newContext({ viewport: has('--narrow') ? { width: 500, height: 1100 } : { width: 1440, height: 900 }, reducedMotion: 'reduce' })
await context.addInitScript(([theme, language]) => {
  localStorage.setItem('takt-theme', theme)
  localStorage.setItem('takt-language', language)
}, [has('--dark') ? 'dark' : 'light', has('--zh') ? 'zh' : 'en'])
if (has('--pseudo')) await context.addInitScript(() => localStorage.setItem('takt-pseudo', 'on'))
const page = await context.newPage()
page.on('console', (message) => ['error', 'warning'].includes(message.type()) && console.log(`  ${message.type()}: ${message.text()}`))
page.on('pageerror', (error) => console.log(`  thrown: ${error.message}`))
for (const item of rest.filter((word) => word.includes('='))) {
  const name = item.slice(0, item.indexOf('='))
  await page.goto(url + item.slice(name.length + 1))
  await page.waitForTimeout(900)
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: has('--full') })
  console.log(name)
}
await browser.close()
