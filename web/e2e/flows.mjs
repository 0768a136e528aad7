// SPDX-License-Identifier: Apache-2.0
// The main paths through the console, as a person walks them.
import assert from 'node:assert/strict'
import { clipped_texts } from './clipped.mjs'
import { axe_problems, pages_of } from './pages.mjs'
import { until } from './server.mjs'

export function collect({ browser, server, pictures }) {
  const tests = []
  const test = (name, run) => tests.push({ name, run })

  const { with_page, open } = pages_of({ browser, server, pictures })

  test('sign-in: no way in without a token, a wrong one says so, a right one leads back', () => with_page({ token: '', quiet: ['401'] }, async (page) => {
    await page.goto(`${server.url}/p/default/jobs?state=waiting`)
    await page.waitForURL(/\/sign-in\?to=/)
    await page.getByLabel('Token').fill('takt_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    assert.ok((await page.getByRole('alert').innerText()).length > 5)
    await page.getByLabel('Token').fill(server.operator_token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(/\/p\/default\/jobs\?state=waiting/)
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor()
  }))

  test('line: stations, a person\'s turn first, pieces lead to their pages', () => with_page({}, async (page) => {
    await open(page, '/')
    await page.waitForURL(/\/p\/default\/$/)
    for (const station of ['Data', 'Jobs', 'Runs', 'Models', 'Services']) await page.locator('.stn', { hasText: station }).waitFor()
    const first = page.locator('.stops > li').first()
    await first.locator('.hd', { hasText: 'waits for approval' }).waitFor()
    await page.locator('.ho tbody tr').first().waitFor()
    await first.getByRole('link', { name: 'Review and approve' }).click()
    await page.waitForURL(/\/pipelines\/hello-line\/\d+/)
  }))

  test('data: version, change, profile, preview, users', () => with_page({}, async (page) => {
    await open(page, '/p/default/data')
    await page.getByRole('link', { name: 'hello-raw', exact: true }).click()
    await page.getByRole('heading', { name: 'hello-raw@2' }).waitFor()
    await page.getByText('rows: +3 −0').waitFor()
    await page.locator('.page-data .dl .add').first().waitFor()
    await page.getByRole('heading', { name: 'Profile' }).waitFor()
    await page.getByRole('table', { name: 'Preview' }).locator('tbody tr').first().waitFor()
    await page.keyboard.press('[')
    await page.getByRole('heading', { name: 'hello-raw@1' }).waitFor()
    await page.getByRole('region', { name: 'Used by' }).getByRole('link').first().waitFor()
  }))

  test('jobs: a waiting job says why, and what holds the machine', () => with_page({}, async (page) => {
    await open(page, '/p/default/jobs')
    const row = page.locator(`tr[data-row="${server.waiting_job}"]`)
    await row.waitFor()
    await until('the reason', 10, async () => /\d/.test(await row.locator('td').nth(2).innerText()))
    await row.click()
    await page.locator('.why').getByText('Waiting').first().waitFor()
    assert.match(await page.locator('.why .cause').innerText(), /\d/)
  }))

  test('jobs: a failed job shows cause, exit code, log with colours; a line has a link', () => with_page({}, async (page) => {
    await open(page, `/p/default/jobs/${server.failed_job}`)
    await page.locator('.why .cause', { hasText: 'exit code 3' }).waitFor()
    await page.locator('.lb .l', { hasText: 'fatal error: the input is empty' }).waitFor()
    assert.notEqual(await page.locator('.lb .l', { hasText: 'red text' }).locator('s span').first().evaluate((span) => span.style.color), '')
    await page.getByRole('button', { name: 'Link to line 1', exact: true }).click()
    assert.match(page.url(), /#L1$/)
  }))

  test('jobs: a long log stands at its end, is virtual, and is found in', () => with_page({}, async (page) => {
    await open(page, `/p/default/jobs/${server.long_job}`)
    await page.locator('.lb .l', { hasText: 'line 3000 of a long log' }).waitFor()
    assert.ok((await page.locator('.lb .l').count()) <= 200)
    await page.getByPlaceholder(/Search 3,000 lines/).fill('line 1234 ')
    await page.keyboard.press('Enter')
    await page.locator('.lb .l', { hasText: 'line 1234 of' }).waitFor()
  }))

  test('jobs: the log grows while the job writes, and Cancel ends it', () => with_page({}, async (page) => {
    const job = await server.submit('talker', ['sh', '-c', 'i=0; while :; do i=$((i+1)); echo "tick $i"; sleep 0.2; done'])
    await server.job_state(job.number, ['running'])
    await open(page, `/p/default/jobs/${job.number}`)
    await page.locator('.lb .l', { hasText: /tick 3$/ }).waitFor()
    await page.locator('.lb .l', { hasText: /tick 9$/ }).waitFor()
    await page.getByRole('button', { name: 'Cancel job…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }).click()
    await page.locator('.pill', { hasText: 'Cancelled' }).waitFor()
  }))

  test('runs: filter, its error, sort, baseline, comparison', () => with_page({ quiet: ['400'] }, async (page) => {
    await open(page, '/p/default/runs?exp=curves')
    await page.locator('tr[data-row]').nth(2).waitFor()
    await page.locator('.dock canvas').first().waitFor()
    const filter = page.getByRole('combobox', { name: 'Filter' })
    await filter.fill("params.hidden = '64'")
    await until('one row', 10, async () => (await page.locator('tr[data-row]').count()) === 1)
    await filter.fill('params.hidden = ')
    await page.locator('.q-error').waitFor()
    assert.equal(await page.locator('tr[data-row]').count(), 1)
    await filter.fill('')
    await until('all rows', 10, async () => (await page.locator('tr[data-row]').count()) === 3)
    await page.getByRole('button', { name: 'val_accuracy' }).first().click()
    await page.waitForURL(/sort=-metrics\.val_accuracy/)
    await until('the order', 10, async () => (await page.locator('tr[data-row]').first().innerText()).includes('calm-heron'))
    await page.getByRole('button', { name: 'Pin calm-heron as baseline' }).click({ force: true })
    await page.locator('tr.base', { hasText: 'calm-heron' }).waitFor()
    await page.getByRole('checkbox', { name: 'Select slate-ibis' }).check()
    await page.getByRole('heading', { name: 'Compare 2 runs' }).waitFor()
    await page.getByRole('link', { name: 'Open as page' }).click()
    await page.waitForURL(/runs\/compare/)
    await page.locator('canvas').first().waitFor()
  }))

  test('runs: a run\'s values, curves and parameters; MLflow\'s own link leads to it', () => with_page({}, async (page) => {
    await open(page, `/#/experiments/1/runs/${server.runs[0]}`)
    await page.getByRole('heading', { name: 'calm-heron' }).waitFor()
    await page.locator('.cards dt', { hasText: 'val_accuracy' }).waitFor()
    await page.locator('.curves canvas').first().waitFor()
    await page.getByText('hidden').first().waitFor()
  }))

  test('models: lineage, evaluation, an alias moves', () => with_page({}, async (page) => {
    await open(page, '/p/default/models')
    await page.getByRole('link', { name: 'hello', exact: true }).first().click()
    await page.getByRole('heading', { name: /^hello@\d+/ }).waitFor()
    await page.locator('.lin .nd.me').waitFor()
    await page.getByRole('button', { name: 'List', exact: true }).click()
    await page.getByRole('table', { name: 'Lineage' }).locator('tbody tr').first().waitFor()
    await page.getByRole('button', { name: 'Move alias…' }).click()
    await page.getByRole('dialog').getByLabel('Alias').fill('looked-at')
    await page.getByRole('dialog').getByRole('button', { name: 'Move looked-at' }).click()
    await page.locator('.head .tag', { hasText: 'looked-at' }).waitFor()
    const model = await server.api('GET', '/api/v1/models/hello')
    assert.equal(model.aliases['looked-at'], model.latest)
    await open(page, '/p/default/models/hello@looked-at')
    await page.waitForURL(new RegExp(`/models/hello@${model.latest}$`))
  }))

  test('services: nothing moves until Shift; charts show the requests', () => with_page({}, async (page) => {
    await server.infer(60)
    await open(page, '/p/default/services/hello')
    const slider = page.getByRole('slider')
    await slider.waitFor()
    const before = await server.api('GET', '/api/v1/services/hello')
    await page.keyboard.press('t')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('button', { name: 'Shift to 25%' }).waitFor()
    assert.match(await page.locator('.cmd .c').innerText(), /canary set hello --share 25%/)
    await new Promise((done) => setTimeout(done, 700))
    const same = await server.api('GET', '/api/v1/services/hello')
    assert.deepEqual(shares_of(same), shares_of(before))
    await slider.press('Enter')
    await page.keyboard.press('Enter')
    await until('25%', 20, async () => shares_of(await server.api('GET', '/api/v1/services/hello')).includes(25))
    await page.getByText('now 25%').waitFor()
    await server.infer(60)
    await page.locator('.r2 canvas').first().waitFor({ timeout: 30_000 })
  }))

  test('services: a viewer sees figures, the slider is locked and says why', () => with_page({ token: server.viewer_token }, async (page) => {
    await open(page, '/p/default/services/hello')
    await page.getByRole('slider').waitFor()
    assert.equal(await page.getByRole('slider').getAttribute('aria-disabled'), 'true')
    await page.getByText('Traffic needs the role operator').first().waitFor()
  }))

  test('pipelines: graph with states, plan, approval sends all traffic', () => with_page({}, async (page) => {
    const [{ number }] = await server.waiting_nodes()
    await open(page, `/p/default/pipelines/hello-line/${number}`)
    for (const node of ['validate', 'train', 'promote']) await page.locator(`.nd[data-node="${node}"]`).waitFor()
    await page.keyboard.press('v')
    await page.getByRole('table', { name: 'Nodes' }).waitFor()
    await page.keyboard.press('v')
    await page.getByRole('button', { name: 'Plan again' }).click()
    await page.getByRole('dialog').locator('.plan tbody tr').nth(7).waitFor()
    await page.keyboard.press('Escape')
    await page.getByLabel('Note for the record').fill('looks right')
    await page.getByRole('button', { name: 'Approve promote' }).click()
    await page.locator('.head .pill', { hasText: 'Succeeded' }).waitFor({ timeout: 60_000 })
    await until('100%', 20, async () => shares_of(await server.api('GET', '/api/v1/services/hello')).includes(100))
    await page.getByText('maya: looks right').waitFor()
  }))

  test('live: a new dataset version appears without a reload', () => with_page({}, async (page) => {
    await open(page, '/p/default/data')
    await page.locator('.live', { hasText: 'Live' }).waitFor()
    await server.cli(['data', 'add', 'fresh-data', 'data/sensors.csv'], server.example)
    await page.getByRole('link', { name: 'fresh-data', exact: true }).waitFor({ timeout: 6000 })
  }))

  test('palette, keys and command strip', () => with_page({}, async (page) => {
    await open(page, '/p/default/')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('hello@1')
    await page.getByRole('option', { name: /hello@1/ }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/models\/hello@1|data\/hello/)
    await page.keyboard.press('g')
    await page.keyboard.press('j')
    await page.waitForURL(/\/jobs$/)
    await page.locator('tr[data-row]').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/jobs\/\d+/)
    await page.getByRole('button', { name: 'curl', exact: true }).click()
    assert.match(await page.locator('.cmd .c').innerText(), /^curl .*\$TAKT_TOKEN/)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await open(page, `/go/${server.failed_job}`)
    await page.waitForURL(/\/(jobs\/\d+|go\/)/)
  }))

  test('why, events and settings', () => with_page({}, async (page) => {
    await open(page, '/p/default/why/service/hello')
    await page.locator('.lin .nd').first().waitFor()
    await open(page, '/p/default/events?subject=dataset/')
    await page.locator('tr[data-row]').first().waitFor()
    await open(page, '/settings')
    await page.getByPlaceholder('Note').fill('from the browser')
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByText('This is shown once.').waitFor()
    await page.getByRole('table', { name: 'Tokens' }).getByText('from the browser').waitFor()
    await page.getByRole('button', { name: '简体中文' }).click()
    await page.getByRole('heading', { name: '设置', level: 1 }).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-Hans')
    await page.getByRole('button', { name: '深色', exact: true }).click()
    await page.reload()
    await page.getByRole('heading', { name: '设置', level: 1 }).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark')
  }))

  test('an address with nothing behind it says so', () => with_page({ quiet: ['404'] }, async (page) => {
    await open(page, '/p/default/nowhere')
    await page.getByRole('heading', { name: 'Nothing is at this address' }).first().waitFor()
    await page.goto(`${server.url}/p/default/jobs/99999`)
    await page.getByText('Job 99999 could not be read').waitFor()
    await page.getByText('not_found').waitFor()
  }))

  const pages = async () => {
    const model = await server.api('GET', '/api/v1/models/hello')
    return {
      line: '/p/default/', data: '/p/default/data', dataset: '/p/default/data/hello-raw@2', jobs: '/p/default/jobs', 'job-failed': `/p/default/jobs/${server.failed_job}`,
      'job-waiting': `/p/default/jobs/${server.waiting_job}`, runs: '/p/default/runs?exp=curves&sort=-metrics.val_accuracy', run: `/p/default/runs/${server.runs[0]}`, models: '/p/default/models', model: `/p/default/models/hello@${model.latest}`,
      services: '/p/default/services', service: '/p/default/services/hello', pipelines: '/p/default/pipelines', pipeline: '/p/default/pipelines/hello-line', 'pipeline-run': '/p/default/pipelines/hello-line/2',
      why: `/p/default/why/model/hello@${model.latest}`, events: '/p/default/events', settings: '/settings', 'sign-in': '/sign-in',
    }
  }
  for (const language of ['en', 'zh']) {
    for (const theme of ['light', 'dark']) {
      test(`every page in ${language}, ${theme}: drawn, accessible, nothing cut`, () => with_page({ language, theme }, async (page) => {
        const problems = []
        for (const [name, path] of Object.entries(await pages())) {
          await page.goto(server.url + path)
          await page.locator('h1').first().waitFor()
          await page.waitForTimeout(700)
          await page.screenshot({ path: `${pictures}${name}-${language}-${theme}.png` })
          problems.push(...(await axe_problems(page)).map((problem) => `${name}: ${problem}`))
          const cut = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth || (document.querySelector('main')?.scrollWidth ?? 0) > (document.querySelector('main')?.clientWidth ?? 0) + 1)
          if (cut) problems.push(`${name}: wider than the window`)
          problems.push(...(await page.evaluate(clipped_texts)).map((text) => `${name}: ${text}`))
        }
        assert.deepEqual(problems, [])
      }))
    }
  }

  test('a language 40 % longer cuts nothing', () => with_page({ pseudo: true }, async (page) => {
    const problems = []
    for (const [name, path] of Object.entries(await pages())) {
      await page.goto(server.url + path)
      await page.locator('h1').first().waitFor()
      await page.waitForTimeout(400)
      problems.push(...(await page.evaluate(clipped_texts)).map((text) => `${name}: ${text}`))
      const wide = await page.evaluate(() => (document.querySelector('main')?.scrollWidth ?? 0) - (document.querySelector('main')?.clientWidth ?? 0))
      if (wide > 1) problems.push(`${name}: ${wide} px too wide`)
    }
    assert.deepEqual(problems, [])
  }))

  test('narrow: every page stays within 390 px', () => with_page({ width: 390, height: 844 }, async (page) => {
    const problems = []
    for (const [name, path] of Object.entries(await pages())) {
      await page.goto(server.url + path)
      await page.locator('h1').first().waitFor()
      await page.waitForTimeout(400)
      await page.screenshot({ path: `${pictures}${name}-narrow.png` })
      const cut = await page.evaluate(() => (document.querySelector('main')?.scrollWidth ?? 0) - (document.querySelector('main')?.clientWidth ?? 0))
      if (cut > 1) problems.push(`${name}: ${cut} px too wide`)
    }
    assert.deepEqual(problems, [])
  }))

  test('roll back is one click and one confirmation', () => with_page({}, async (page) => {
    await open(page, '/p/default/services/hello')
    await page.getByRole('button', { name: /^Roll back/ }).click()
    const before = shares_by_number(await server.api('GET', '/api/v1/services/hello'))
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
    await until('another split', 20, async () => JSON.stringify(shares_by_number(await server.api('GET', '/api/v1/services/hello'))) !== JSON.stringify(before))
  }))

  test('lost: the banner says since when; the page is live again by itself', () => with_page({ quiet: ['ERR_CONNECTION', 'ERR_INCOMPLETE', 'ERR_NETWORK', 'Failed to load', '503'] }, async (page) => {
    await open(page, '/p/default/jobs')
    await page.locator('.live', { hasText: 'Live' }).waitFor()
    await server.stop()
    await page.getByText('Live updates lost.').waitFor({ timeout: 20_000 })
    await server.start()
    await page.locator('.live.live', { hasText: 'Live' }).waitFor({ timeout: 40_000 })
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor()
  }))

  test('sign-out ends the session', () => with_page({ quiet: ['401'] }, async (page) => {
    await open(page, '/p/default/')
    await page.locator('.who').click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(/\/sign-in/)
    await page.goto(`${server.url}/p/default/jobs`)
    await page.waitForURL(/\/sign-in\?to=/)
  }))
  return tests
}

function shares_of(service) {
  return service.revisions.map((revision) => revision.share ?? revision.share_percent).filter((share) => share > 0).sort((a, b) => a - b)
}

function shares_by_number(service) {
  return service.revisions.map((revision) => [revision.number, revision.share]).sort((a, b) => a[0] - b[0])
}
