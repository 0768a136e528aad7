// SPDX-License-Identifier: Apache-2.0
// Runs by the thousand: what stands in the document stays bounded, whatever is scrolled through, compared or opened.
import assert from 'node:assert/strict'
import { axe_problems, pages_of } from './pages.mjs'
import { RunSeeds } from './seed_runs.mjs'
import { until } from './server.mjs'

const many = Number(process.env.TAKT_MANY_RUNS ?? 5000)
const wide = 1000
const rows_most = 60
const nodes_most = 4000
/** Charts that are drawn at one time, whatever the page holds. */
const charts_most = 24
/** A task that takes longer is felt as a freeze; what it took is printed. */
const task_ms_most = 250

export function collect_runs({ browser, server, pictures }) {
  const tests = []
  const test = (name, run) => tests.push({ name, run })
  const { with_page, open } = pages_of({ browser, server, pictures })
  const seeds = new RunSeeds(server)
  const seeded = {}
  const once = (name, make) => (seeded[name] ??= make())

  const rows = (page) => page.locator('.rt tbody:not(.held) tr[data-row]')
  const nodes = (page) => page.evaluate(() => document.querySelectorAll('*').length)

  test('runs: thousands of rows scroll to the end with few of them in the document', () => with_page({}, async (page) => {
    await once('many', () => seeds.many(many))
    await watch_tasks(page)
    await open(page, '/p/default/runs?exp=many&sort=attributes.start_time')
    await rows(page).nth(5).waitFor()
    await page.screenshot({ path: `${pictures}runs-many.png` })
    await begin_tasks(page)
    const seen = await page.evaluate(scroll_through, { selector: '.rt.virtual', step: 1400, until_text: `run-${String(many - 1).padStart(6, '0')}` })
    assert.ok(seen.found, `the last run was not reached, at ${seen.last}`)
    assert.ok(seen.rows_most <= rows_most, `${seen.rows_most} rows in the document`)
    assert.ok(seen.nodes_most <= nodes_most, `${seen.nodes_most} nodes in the document`)
    const longest = await longest_task(page)
    console.log(`     ${many} runs: at most ${seen.rows_most} rows and ${seen.nodes_most} nodes, ${seen.frames} frames, longest task ${longest} ms`)
    assert.ok(longest <= task_ms_most, `a task of ${longest} ms`)
    assert.equal(await page.locator('.rt table').getAttribute('aria-rowcount'), String(many + 1))
  }))

  test('runs: sort by the server, keys walk the rows, the baseline stays', () => with_page({}, async (page) => {
    await once('many', () => seeds.many(many))
    await open(page, '/p/default/runs?exp=many&sort=-metrics.accuracy')
    await until('the best first', 10, async () => (await rows(page).first().innerText()).includes(`run-${String(many - 1).padStart(6, '0')}`))
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('b')
    const base = page.locator('.rt tbody.held tr.base')
    await base.waitFor()
    const name = await base.locator('td.name a').innerText()
    await page.locator('.rt.virtual').evaluate((box) => box.scrollTo({ top: 9000 }))
    await until('other rows', 10, async () => !(await rows(page).first().innerText()).includes(name))
    const [head, held] = await Promise.all([page.locator('.rt thead th.name').boundingBox(), base.locator('td').first().boundingBox()])
    assert.ok(Math.abs(held.y - (head.y + head.height)) < 4, `the baseline stands at ${held.y}, the head ends at ${head.y + head.height}`)
    await page.locator('.rt.virtual').focus()
    for (const key of ['j', 'j', 'x']) await page.keyboard.press(key)
    await page.locator('.rt tr.sel').waitFor()
    assert.match(page.url(), /sel=[0-9a-f]{32}/)
  }))

  test('runs: differences only, groups with mean and band, a saved view', () => with_page({}, async (page) => {
    await once('many', () => seeds.many(many))
    await open(page, '/p/default/runs?exp=many')
    const head = (name) => page.locator('.rt thead').getByRole('button', { name, exact: true })
    await head('fixed').waitFor()
    await page.getByRole('switch', { name: 'Differences only' }).check()
    await until('the column to go', 10, async () => (await head('fixed').count()) === 0)
    await head('lr').waitFor()
    await page.keyboard.press('u')
    await page.getByRole('menuitem', { name: 'params.lr' }).click()
    const groups = page.getByRole('table', { name: 'Grouped by lr' })
    await groups.locator('tbody tr').nth(2).waitFor({ timeout: 60_000 })
    assert.equal(await groups.locator('tbody tr').count(), 3)
    const counts = await groups.locator('tbody tr td:nth-child(2)').allInnerTexts()
    assert.equal(counts.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0), many)
    await page.locator('.dock', { hasText: '3 groups' }).waitFor()
    await page.screenshot({ path: `${pictures}runs-groups.png` })
    assert.deepEqual(await axe_problems(page), [])
    await page.getByRole('button', { name: 'Save view…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('by-rate')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'All', exact: true }).waitFor()
    await page.goto(`${server.url}/p/default/runs?view=@by-rate`)
    await groups.locator('tbody tr').nth(2).waitFor({ timeout: 60_000 })
    assert.match(page.url(), /group=params\.lr/)
    await groups.getByRole('button', { name: '0.01', exact: true }).click()
    await rows(page).first().waitFor()
    assert.equal(new URL(page.url()).searchParams.get('q'), "params.lr = '0.01'")
  }))

  test('runs: a run that logs changes in place, a new one waits until it is asked for', () => with_page({}, async (page) => {
    const experiment = await seeds.experiment('growing')
    const run = await seeds.run(experiment, 'steady-yak', { metrics: { loss: 0.5 }, end: false })
    await open(page, '/p/default/runs?exp=growing&cols=metrics.loss')
    const row = page.locator(`tr[data-row="${run}"]`)
    await row.waitFor()
    await page.locator('.live', { hasText: 'Live' }).waitFor()
    await seeds.mlflow('runs/log-metric', { run_id: run, key: 'loss', value: 0.25, timestamp: Date.now(), step: 1 })
    await until('the new value', 10, async () => (await row.innerText()).includes('0.25'))
    const next = await seeds.run(experiment, 'eager-elk', { metrics: { loss: 0.4 } })
    const more = page.getByRole('button', { name: '1 new' })
    await more.waitFor()
    assert.equal(await page.locator(`tr[data-row="${next}"]`).count(), 0)
    await more.click()
    await page.locator(`tr[data-row="${next}"]`).waitFor()
  }))

  test('runs: a thousand columns, of which a few are in the document', () => with_page({}, async (page) => {
    await once('wide', () => seeds.wide(wide, 8))
    await open(page, '/p/default/runs?exp=wide&cols=metrics.*')
    await rows(page).first().locator('td').nth(5).waitFor()
    assert.equal(await page.locator('.rt table').getAttribute('aria-colcount'), String(3 + 3 + wide + 1))
    const cells = async () => rows(page).first().locator('td').count()
    assert.ok((await cells()) <= 30, `${await cells()} cells in a row`)
    await page.locator('.rt.virtual').evaluate((box) => box.scrollTo({ left: box.scrollWidth }))
    await page.locator('.rt thead').getByRole('button', { name: `layer_0${wide - 1}/norm` }).waitFor()
    await until('a value in the last column', 10, async () => /^\d/.test(await rows(page).first().locator('td:not(.gap)').last().innerText()))
    assert.ok((await cells()) <= 30, `${await cells()} cells in a row`)
    assert.ok((await rows(page).first().locator('td.name a').boundingBox()).x > 0)
  }))

  test('compare: a thousand charts, only those in sight are drawn', () => with_page({}, async (page) => {
    const ids = await once('wide', () => seeds.wide(wide, 8))
    await watch_tasks(page)
    await page.goto(`${server.url}/p/default/runs/compare?ids=${ids.join(',')}`)
    await page.locator('.curve-cell canvas').first().waitFor()
    await page.waitForTimeout(1500)
    const opened = await longest_task(page)
    assert.match(await page.locator('.curve-find').innerText(), /1,001 of 1,001/)
    await begin_tasks(page)
    const seen = await page.evaluate(scroll_through, { selector: 'main', step: 700, until_text: '', pause_every: 12 })
    await page.waitForTimeout(800)
    const longest = await longest_task(page)
    console.log(`     ${wide} charts: longest task ${opened} ms on opening, ${longest} ms on scrolling through all; at most ${seen.charts_most} charts and ${seen.nodes_most} nodes`)
    assert.ok(seen.charts_most > 0 && seen.charts_most <= charts_most, `${seen.charts_most} charts drawn at once`)
    assert.ok(Math.max(opened, longest) <= task_ms_most, `tasks of ${opened} and ${longest} ms`)
    await page.locator('.curve-cell canvas').first().waitFor()
    assert.ok((await page.locator('.curve-cell canvas').count()) <= charts_most)
  }))

  test('compare: linked cursors, one zoom in the address, epochs, smoothing', () => with_page({}, async (page) => {
    const ids = await once('wide', () => seeds.wide(wide, 8))
    await page.goto(`${server.url}/p/default/runs/compare?ids=${ids.join(',')}`)
    const charts = page.locator('.curve-cell .u-over')
    await charts.nth(1).waitFor()
    const box = await charts.first().boundingBox()
    await page.mouse.move(box.x + box.width / 2, box.y + 60)
    await until('a tip on each chart', 10, async () => (await page.locator('.curve-cell .tip').count()) >= 2)
    await page.mouse.move(box.x + box.width * 0.25, box.y + 60)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/zoom=/)
    await page.getByRole('button', { name: 'Whole range', exact: true }).click()
    await until('no zoom', 5, () => !page.url().includes('zoom='))
    await page.getByRole('button', { name: 'Epoch', exact: true }).click()
    await page.waitForURL(/x=epoch/)
    await page.locator('.curve-cell canvas').first().waitFor()
    await page.getByLabel('Smoothing').fill('0.6')
    await page.waitForURL(/smooth=0\.6/)
    await page.getByLabel('Find a metric').fill('layer_0007')
    await until('one chart', 10, async () => (await page.locator('.curve-cell').count()) === 1)
  }))

  test('run: a long history is drawn from buckets and says how many points they hold; a zoom asks for its stretch', () => with_page({}, async (page) => {
    const run = await seeds.run(await seeds.experiment('long'), 'slow-newt')
    for (let from = 0; from < 3000; from += 1000) await seeds.mlflow('runs/log-batch', { run_id: run, params: [], tags: [], metrics: Array.from({ length: 1000 }, (_, index) => ({ key: 'loss', value: 1 / (1 + (from + index) / 500) + Math.sin((from + index) * 7) / 40, timestamp: Date.now(), step: from + index })) })
    await open(page, `/p/default/runs/${run}`)
    const note = page.locator('.curve-cell .ct')
    await until('the count', 10, async () => /\b\d{2,3} of 3,000 points/.test(await note.innerText()))
    await page.screenshot({ path: `${pictures}run-long.png` })
    await open(page, `/p/default/runs/${run}?zoom=100..200`)
    await page.locator('.curve-cell canvas').waitFor()
    await until('every point of the stretch', 10, async () => !/points/.test(await note.innerText()))
  }))

  test('compare: parallel coordinates are brushed by keys and by drag, and become a filter', () => with_page({}, async (page) => {
    await once('many', () => seeds.many(many))
    await open(page, '/p/default/runs?exp=many&sort=attributes.start_time&tab=parallel')
    const status = page.locator('.parallel [role=status]')
    await status.waitFor()
    const all = await status.innerText()
    const low = page.getByRole('slider', { name: 'accuracy, lower end' })
    await low.focus()
    await low.press('PageUp')
    await low.press('PageUp')
    await until('fewer runs', 10, async () => (await status.innerText()) !== all)
    assert.match(decodeURIComponent(page.url()), /brush=metrics\.accuracy~0\.2~1/)
    await page.screenshot({ path: `${pictures}runs-parallel.png` })
    assert.deepEqual(await axe_problems(page), [])
    await page.getByRole('button', { name: 'Use as filter' }).click()
    await until('the filter', 10, () => /^metrics\.accuracy >= /.test(new URL(page.url()).searchParams.get('q') ?? ''))
    await rows(page).first().waitFor()
    const strip = page.locator('.axis .rail').first()
    const box = await strip.boundingBox()
    await page.mouse.move(box.x + 14, box.y + 60)
    await page.mouse.down()
    await page.mouse.move(box.x + 14, box.y + 160, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/brush=/)
    await page.getByRole('tab', { name: 'Scatter' }).click()
    await page.locator('.scatter circle').first().waitFor()
    await page.locator('.scatter figure').focus()
    await page.keyboard.press('ArrowRight')
    await page.locator('.scatter .tip').waitFor()
    await page.screenshot({ path: `${pictures}runs-scatter.png` })
  }))

  test('artifacts: text, table, JSON, Markdown, picture and matrix are looked at; nothing in them runs', () => with_page({}, async (page) => {
    const [run] = await once('looks', () => seeds.with_artifacts())
    await open(page, `/p/default/runs/${run}`)
    const look = page.locator('.art-look')
    const choose = async (name) => page.getByRole('button', { name, exact: true }).click()
    await choose('notes.md')
    await look.locator('.md h3', { hasText: 'Notes' }).waitFor()
    await look.getByText('<script>window.broken = 1</script>').waitFor()
    assert.equal(await look.locator('.md img').count(), 1)
    await choose('page.html')
    await look.locator('pre', { hasText: '<h1>hello</h1>' }).waitFor()
    await choose('drawing.svg')
    await until('the drawing', 10, () => look.locator('img').evaluate((image) => image.complete && image.naturalWidth === 40))
    await choose('table.csv')
    await look.locator('td', { hasText: 'row 7, quoted' }).waitFor()
    assert.equal(await look.locator('tbody tr').count(), 200)
    await choose('config.json')
    await look.locator('.jt', { hasText: 'layers' }).waitFor()
    await choose('long.log')
    await look.getByText('Download the file for the rest.').waitFor()
    await choose('confusion_matrix.json')
    await look.locator('.cmx td.right', { hasText: '48' }).waitFor()
    assert.equal(await look.locator('.cmx td.wrong').count(), 3)
    await page.screenshot({ path: `${pictures}run-artifacts.png`, fullPage: true })
    assert.deepEqual(await axe_problems(page), [])
    assert.equal(await page.evaluate(() => window.broken), undefined)
    await page.reload()
    await look.locator('.cmx td.right').first().waitFor()
  }))

  test('compare: confusion matrices and pictures side by side', () => with_page({}, async (page) => {
    const ids = await once('looks', () => seeds.with_artifacts())
    await open(page, `/p/default/runs/compare?ids=${ids.join(',')}&tab=matrix`)
    await until('two matrices', 10, async () => (await page.locator('.cmx').count()) === 2)
    await page.getByRole('tab', { name: 'Pictures' }).click()
    const row = page.locator('.pics tbody tr', { hasText: 'samples' })
    await until('two pictures', 10, async () => (await row.locator('img').count()) === 2)
    const last = await row.locator('img').first().getAttribute('src')
    await page.getByLabel('Step').fill('0')
    await until('the first step', 10, async () => (await row.locator('img').first().getAttribute('src')) !== last)
    await page.screenshot({ path: `${pictures}compare-pictures.png` })
    assert.deepEqual(await axe_problems(page), [])
  }))

  test('compare: what two runs were made of', () => with_page({}, async (page) => {
    const ids = await once('looks', () => seeds.with_artifacts())
    await open(page, `/p/default/runs/compare?ids=${ids.join(',')}&tab=made`)
    await page.getByText('The first thing that differs: parameter lr was 0.01, is 0.1').waitFor()
    const row = page.getByRole('table', { name: 'Parameters' }).locator('tbody tr', { hasText: 'lr' })
    assert.deepEqual(await row.locator('td').allInnerTexts(), ['lr', '0.01', '0.1'])
    await page.getByRole('region', { name: 'Code' }).waitFor()
    // Runs of jobs have their code and environment on record.
    const jobs = (await server.api('GET', '/api/v1/runs?page_size=200')).items.filter((run) => run.job && run.status === 'finished')
    if (jobs.length >= 2) {
      await open(page, `/p/default/runs/compare?ids=${jobs[0].id},${jobs[1].id}&tab=made`)
      await page.locator('.diff-verdict').waitFor()
      await page.screenshot({ path: `${pictures}compare-made.png`, fullPage: true })
      assert.deepEqual(await axe_problems(page), [])
    }
  }))

  test('run: a job\'s run is run again from its record', () => with_page({ token: server.token }, async (page) => {
    const made = (await server.api('GET', '/api/v1/runs?page_size=200')).items.find((run) => run.job && run.status === 'finished' && run.name === 'evaluate')
    await open(page, `/p/default/runs/${made.id}`)
    await page.getByRole('button', { name: 'Reproduce…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reproduce' }).click()
    await page.waitForURL(/\/jobs\/\d+$/)
    assert.notEqual(`job/${/\d+$/.exec(page.url())[0]}`, made.job)
  }))

  for (const [language, theme] of [['zh', 'dark'], ['en', 'dark'], ['zh', 'light']]) {
    test(`runs and comparison in ${language}, ${theme}`, () => with_page({ language, theme }, async (page) => {
      await once('many', () => seeds.many(many))
      const [one, other] = await once('looks', () => seeds.with_artifacts())
      const [broad, vast] = await once('wide', () => seeds.wide(wide, 8))
      const problems = []
      for (const [name, path] of Object.entries({
        'runs-many': '/p/default/runs?exp=many&sort=-metrics.accuracy', 'runs-groups': '/p/default/runs?exp=many&group=params.lr', 'runs-parallel': '/p/default/runs?exp=many&tab=parallel',
        'runs-scatter': '/p/default/runs?exp=many&tab=scatter', compare: `/p/default/runs/compare?ids=${broad},${vast}&base=${broad}`, 'compare-table': `/p/default/runs/compare?ids=${one},${other}&tab=table`,
        'compare-matrix': `/p/default/runs/compare?ids=${one},${other}&tab=matrix`, 'compare-pictures': `/p/default/runs/compare?ids=${one},${other}&tab=pictures`, artifacts: `/p/default/runs/${one}?file=notes.md`,
      })) {
        await page.goto(server.url + path)
        await page.locator('h1').first().waitFor()
        await page.waitForTimeout(1200)
        await page.screenshot({ path: `${pictures}${name}-${language}-${theme}.png` })
        problems.push(...(await axe_problems(page)).map((problem) => `${name}: ${problem}`))
        const cut = await page.evaluate(() => (document.querySelector('main')?.scrollWidth ?? 0) > (document.querySelector('main')?.clientWidth ?? 0) + 1)
        if (cut) problems.push(`${name}: wider than the window`)
      }
      assert.deepEqual(problems, [])
    }))
  }
  return tests
}

async function watch_tasks(page) {
  await page.addInitScript(() => {
    window.long_tasks = []
    new PerformanceObserver((list) => window.long_tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ entryTypes: ['longtask'] })
  })
}

const begin_tasks = (page) => page.evaluate(() => { window.long_tasks = [] })
const longest_task = async (page) => Math.round(await page.evaluate(() => Math.max(0, ...window.long_tasks)))

/** In the page: scrolls down frame by frame until the end (or until a text appears) and counts what exists on the way. */
async function scroll_through({ selector, step, until_text, pause_every }) {
  const box = document.querySelector(selector)
  const seen = { rows_most: 0, nodes_most: 0, charts_most: 0, frames: 0, found: false, last: '' }
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  const end = Date.now() + 60_000
  let still = 0
  while (Date.now() < end && still < 60) {
    const before = box.scrollTop
    box.scrollTop += step
    await frame()
    if (pause_every && seen.frames % pause_every === 0) await new Promise((done) => setTimeout(done, 250))
    seen.frames++
    seen.rows_most = Math.max(seen.rows_most, document.querySelectorAll('.rt tbody tr:not(.spacer)').length)
    seen.nodes_most = Math.max(seen.nodes_most, document.querySelectorAll('*').length)
    seen.charts_most = Math.max(seen.charts_most, document.querySelectorAll('.curve-cell canvas').length)
    const text = until_text ? box.textContent : ''
    seen.last = text.slice(-40)
    if (until_text && text.includes(until_text)) {
      seen.found = true
      return seen
    }
    still = box.scrollTop === before ? still + 1 : 0
    if (still) await new Promise((done) => setTimeout(done, 50))
  }
  return seen
}
