// SPDX-License-Identifier: Apache-2.0
// Signed-in pages for the browser tests, and what axe says about them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const axe_source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const wait_ms = 15_000

export function pages_of({ browser, server, pictures }) {
  /** A page that is signed in; anything the browser complains of, or any request to elsewhere, fails the test. */
  async function with_page(options, walk) {
    const { theme = 'light', language = 'en', token = server.operator_token, width = 1440, height = 900, quiet = [] } = options
    const context = await browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'] })
    await context.addInitScript(([chosen_theme, chosen_language]) => {
      if (localStorage.getItem('takt-theme') === null) localStorage.setItem('takt-theme', chosen_theme)
      if (localStorage.getItem('takt-language') === null) localStorage.setItem('takt-language', chosen_language)
    }, [theme, language])
    if (options.pseudo) await context.addInitScript(() => localStorage.setItem('takt-pseudo', 'on'))
    const page = await context.newPage()
    page.setDefaultTimeout(wait_ms)
    const complaints = []
    page.on('console', (message) => message.type() === 'error' && !quiet.some((word) => message.text().includes(word)) && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`))
    page.on('request', (request) => !request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url()) && complaints.push(`request to ${request.url()}`))
    try {
      if (token) {
        const response = await context.request.post(`${server.url}/api/v1/sign-in`, { data: { token }, headers: { 'Content-Type': 'application/json', Origin: server.url } })
        assert.ok(response.ok(), `sign-in: ${response.status()} ${await response.text()}`)
      }
      await walk(page, context)
      assert.deepEqual(complaints, [])
    } catch (error) {
      await page.screenshot({ path: `${pictures}failed-${Date.now()}.png` }).catch(() => {})
      throw error
    } finally {
      await context.close()
    }
  }
  const open = async (page, path) => {
    await page.goto(server.url + path)
    await page.locator('h1').first().waitFor()
  }
  return { with_page, open }
}

export async function axe_problems(page) {
  // The content policy forbids added scripts; evaluate() runs in the page without one.
  await page.evaluate(axe_source)
  const result = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }))
  return result.violations.map((item) => `${item.id} (${item.impact}): ${item.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(' | ')}`)
}
