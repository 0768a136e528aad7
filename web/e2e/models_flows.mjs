// SPDX-License-Identifier: Apache-2.0
// A model version before its rules: what is missing, a person's approval, the alias that moves and goes back.
import assert from 'node:assert/strict'
import { axe_problems, pages_of } from './pages.mjs'
import { RunSeeds } from './seed_runs.mjs'
import { until } from './server.mjs'

export function collect_models({ browser, server, pictures }) {
  const tests = []
  const test = (name, run) => tests.push({ name, run })
  const { with_page, open } = pages_of({ browser, server, pictures })
  const seeds = new RunSeeds(server)
  let seeded

  /** Two versions of a model whose alias gold wants a metric and another person's word. */
  async function seed() {
    const experiment = await seeds.experiment('gated')
    for (const [index, name] of ['safe', 'risky'].entries()) {
      const run = await seeds.run(experiment, name, { metrics: { accuracy: 0.95 + index / 50 } })
      await seeds.put(experiment, run, 'model/MLmodel', 'flavors: {}\nsignature:\n  inputs: \'[{"type": "tensor", "tensor-spec": {"dtype": "float32", "shape": [-1, 4]}}]\'\n')
      await seeds.put(experiment, run, 'confusion_matrix.json', JSON.stringify({ labels: ['no', 'yes'], matrix: [[48, 2], [3, 47]] }))
      if (index) await seeds.put(experiment, run, 'model/model.pkl', "cposix\nsystem\n(S'true'\ntR.")
      await server.api('POST', '/api/v1/models/gated/versions', { run, path: 'model' })
      await server.api('POST', `/api/v1/models/gated/versions/${index + 1}/measurements`, { metrics: { accuracy: 0.95 + index / 50 }, data: 'hello-raw@1' })
    }
    await server.api('PUT', '/api/v1/models/gated/rules', { rules: [{ name: 'good', for: ['gold'], metric: 'accuracy', data: 'hello-raw@1', at_least: 0.9 }, { name: 'second-person', for: ['gold'], approval: 1 }] })
  }
  const ready = () => (seeded ??= seed())

  test('models: rules say what is missing, another person approves, the alias moves and goes back', () => with_page({}, async (page) => {
    await ready()
    await server.api('POST', '/api/v1/models/gated/versions/1/approvals', { alias: 'gold' }, server.operator_token)
    await server.api('PUT', '/api/v1/models/gated/aliases/gold', { version: 1 })
    await open(page, '/p/default/models/gated@2?alias=gold')
    const rules = page.locator('.rules li')
    await rules.nth(1).waitFor()
    assert.deepEqual(await page.locator('.rules li.passed b').allInnerTexts(), ['good'])
    await page.getByText('The alias gold cannot move to v2 until all 2 pass').waitFor()
    await page.locator('.pill', { hasText: 'Waits for approval' }).waitFor()
    await page.locator('.code-badge', { hasText: 'executes code when loaded: posix.system' }).waitFor()
    await page.locator('.cmx td.right', { hasText: '48' }).waitFor()
    await page.screenshot({ path: `${pictures}model-gated.png`, fullPage: true })
    assert.deepEqual(await axe_problems(page), [])
    await page.getByRole('button', { name: 'Approve…' }).click()
    await page.getByRole('dialog').getByLabel('Note for the record').fill('looked at it')
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await page.getByText('All passed: the alias gold may move to v2').waitFor()
    await page.getByRole('button', { name: 'Move alias…' }).click()
    await page.getByRole('dialog').getByLabel('Alias').fill('gold')
    await page.getByRole('dialog').getByRole('button', { name: 'Move gold' }).click()
    await page.locator('.head .tag', { hasText: 'gold' }).waitFor()
    await page.getByRole('button', { name: 'Roll back gold…' }).click()
    await page.getByRole('dialog').getByText('gold moves from v2 to v1').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
    await until('the holder before', 10, async () => (await server.api('GET', '/api/v1/models/gated')).aliases.gold === 1)
  }))

  test('models: an alias that rules refuse says which; who may not approve sees why', () => with_page({ token: server.viewer_token }, async (page) => {
    await ready()
    await server.api('POST', '/api/v1/models/gated/versions/2/approvals', { alias: 'gold', verdict: 'rejected', comment: 'no' }, server.operator_token)
    await open(page, '/p/default/models/gated@2?alias=gold&tab=signature')
    const approve = page.getByRole('button', { name: 'Approve…' })
    await approve.waitFor()
    assert.equal(await approve.isDisabled(), true)
    assert.match(await approve.getAttribute('title'), /operator/)
    await page.locator('td', { hasText: '[-1, 4]' }).waitFor()
  }))

  for (const [language, theme] of [['zh', 'dark'], ['zh', 'light'], ['en', 'dark']]) {
    test(`model with rules in ${language}, ${theme}`, () => with_page({ language, theme }, async (page) => {
      await ready()
      await open(page, '/p/default/models/gated@2?alias=gold')
      await page.locator('.rules li').nth(1).waitFor()
      await page.locator('.cmx').waitFor()
      await page.screenshot({ path: `${pictures}model-gated-${language}-${theme}.png`, fullPage: true })
      assert.deepEqual(await axe_problems(page), [])
    }))
  }
  return tests
}
