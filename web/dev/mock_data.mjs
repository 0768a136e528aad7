// SPDX-License-Identifier: Apache-2.0
// Made-up values for dev/mock.mjs, close to the story of the design's pictures.

const now = Date.now()
const ago = (minutes) => new Date(now - minutes * 60_000).toISOString()
const hex = (seed) => Array.from({ length: 64 }, (_, i) => ((seed * 7 + i * 13 + ((seed * i) % 11)) % 16).toString(16)).join('')

const resources = (cpu, mib, gpus = 0) => ({ cpu_millicores: cpu, memory_bytes: mib * 1024 ** 2, gpus })
function job(number, name, state, extra = {}) {
  return {
    number, ref: `job/${number}`, project: 'default', name, kind: 'task', state, priority: 5, resources: resources(500, 512), submitted_by: 'lin',
    run: `${hex(number).slice(0, 32)}`, submitted_at: ago(400 - number), attempts: [],
    spec: { command: ['python', 'train.py', '--augment', 'elastic', '--epochs', '40'], code: hex(3), params: { lr: 0.002, hidden: '128,64', decay: 1e-4 }, environment: { lock: hex(9) }, seed: 7, retries: { max: 2 }, timeout: '30m', experiment: 'digits', outputs: { model: { kind: 'model' } }, limits: { memory: '1GiB' } },
    inputs: { train: { kind: 'dataset', ref: 'dataset/digits-train@3', digest: hex(5) } },
    ...extra,
  }
}
const attempt = (number, state, from, to, extra = {}) => ({ number, state, started_at: ago(from), ...(to !== undefined ? { ended_at: ago(to) } : {}), cpu_ms: 21_000, memory_bytes_peak: 300 * 1024 ** 2, ...extra })
const jobs = [
  job(323, 'sweep-c', 'waiting', { reason: '1 GPU asked, this machine has 1 and job 319 holds it; 2 jobs come before', resources: resources(500, 512, 1), submitted_at: ago(1) }),
  job(322, 'sweep-b', 'waiting', { reason: '1 GPU asked, this machine has 1 and job 319 holds it; 1 job comes before', resources: resources(500, 512, 1), submitted_at: ago(2), priority: 6 }),
  job(321, 'sweep-a', 'waiting', { reason: '1 GPU asked, this machine has 1 and job 319 holds it', resources: resources(500, 512, 1), submitted_at: ago(3) }),
  job(320, 'train-wide', 'running', { started_at: ago(4), submitted_by: 'maya', attempts: [attempt(1, 'running', 4)] }),
  job(319, 'train-shift', 'running', { started_at: ago(7), attempts: [attempt(1, 'running', 7)], resources: resources(900, 700, 1) }),
  job(318, 'train-augmented', 'failed', {
    started_at: ago(12), ended_at: ago(10), failure: 'out_of_memory', reason: 'the kernel killed pid 48213: 1.00 GiB of 1.00 GiB used in attempt 3 of 3', resources: resources(1000, 1024),
    attempts: [attempt(1, 'failed', 12, 11.5, { exit_code: 137, memory_bytes_peak: 1024 ** 3 }), attempt(2, 'failed', 11.3, 10.8, { exit_code: 137, memory_bytes_peak: 1024 ** 3 }), attempt(3, 'failed', 10.6, 10, { exit_code: 137, memory_bytes_peak: 1024 ** 3 })],
  }),
  job(317, 'evaluate', 'succeeded', { started_at: ago(14), ended_at: ago(13.9), attempts: [attempt(1, 'succeeded', 14, 13.9, { exit_code: 0 })], outputs: { metrics: { kind: 'json', ref: 'artifact/' + hex(2), digest: hex(2) } } }),
  job(316, 'train', 'succeeded', { started_at: ago(15), ended_at: ago(14.3), attempts: [attempt(1, 'succeeded', 15, 14.3, { exit_code: 0 })], outputs: { model: { kind: 'model', ref: 'artifact/' + hex(1), digest: hex(1) } } }),
  job(315, 'preprocess', 'cancelled', { started_at: ago(20), ended_at: ago(19), attempts: [attempt(1, 'cancelled', 20, 19, { signal: 15 })] }),
]
export function log_of(number) {
  const lines = [`takt attempt 3 of 3 starts on local, pid 48213, memory limit 1.00 GiB`, `takt resumes from checkpoint \x1b[1mckpt-022.npz\x1b[0m (70.6 KB)`, 'data    train 1257 images, val 270 images, augment elastic x2000']
  for (let epoch = 1; epoch <= 240; epoch++) lines.push(`epoch ${epoch}/240  loss ${(0.08 - epoch / 5000).toFixed(4)}  val_loss ${(0.1 - epoch / 6000).toFixed(4)}  \x1b[32mval_accuracy ${(0.97 + epoch / 30000).toFixed(4)}\x1b[0m  2.7 s  cache ${epoch * 59} MiB`)
  if (number === '318') lines.push('Traceback (most recent call last):', '  File "train.py", line 88, in step', 'MemoryError: killed at 1.00 GiB of 1.00 GiB')
  return Buffer.from(lines.join('\n') + '\n')
}
const column = (name, extra = {}) => ({ name, type: 'integer', missing: 0, distinct: 17, min: 0, max: 16, mean: 4.88, histogram: [900, 80, 60, 90, 70, 80, 60, 50, 90, 317], ...extra })
const columns = [...Array.from({ length: 64 }, (_, i) => column(`pixel_${i}`)), column('label', { distinct: 10, max: 9, mean: 4.49, histogram: [178, 182, 177, 183, 181, 182, 181, 179, 174, 180] })]
const versions = [3, 2, 1].map((version) => ({
  name: 'digits-raw', version, ref: `dataset/digits-raw@${version}`, tree: hex(version), files: 1, size_bytes: 483_112 + version, rows: 1797, note: version === 3 ? '6 labels corrected' : 'as published', created_by: 'lin', created_at: ago(16 + (3 - version) * 3000),
  profile: { tables: [{ path: 'digits.csv', rows: 1797, columns }], class_balance: { column: 'label', classes: [178, 182, 177, 183, 181, 182, 181, 179, 174, 180].map((count, value) => ({ value: String(value), count })) } },
  checks: version === 1 ? null : { passed: true, dataset: `dataset/digits-raw@${version}`, rows: 1797, rules: [{ rule: { rows_min: 1000 }, passed: true, observed: { rows: 1797 }, message: '1,797 rows, at least 1,000' }, { rule: { column: 'label', in: '0..9' }, passed: true, observed: { distinct: 10 }, message: 'label takes 10 values, all allowed' }] },
}))
const dataset = (name, latest, minutes) => ({ name, latest, versions: latest, created_at: ago(9000), updated_at: ago(minutes) })
const datasets = [dataset('digits-raw', 3, 16), dataset('digits-train', 3, 15.5), dataset('digits-validation', 3, 15.5), dataset('digits-test', 3, 15.5)]
const of_name = (name) => versions.map((version) => ({ ...version, name, ref: `dataset/${name}@${version.version}`, rows: name === 'digits-train' ? 1257 : name === 'digits-raw' ? 1797 : 270, checks: name === 'digits-raw' ? version.checks : null }))
const edges = [['dataset/digits-train@3', 'made-by', 'job/315'], ['job/315', 'used', 'dataset/digits-raw@3'], ['dataset/digits-test@3', 'made-by', 'job/315'], ['job/316', 'used', 'dataset/digits-train@3'], ['job/316', 'used-code', `code/${hex(3)}`], ['job/316', 'used-environment', `environment/${hex(9)}`], [`run/${hex(316).slice(0, 32)}`, 'part-of', 'job/316'], ['job/317', 'used', 'dataset/digits-test@3'], ['model/digits@8', 'came-from', `run/${hex(316).slice(0, 32)}`], ['model/digits@8', 'evaluated-by', 'job/317'], ['revision/digits/14', 'serves', 'model/digits@8']]
function lineage(ref, depth = 8) {
  const nodes = new Map([[ref, 0]])
  const walk = (from, sign) => {
    let front = [from]
    for (let step = 1; step <= depth; step++) {
      const next = []
      for (const at of front) for (const [a, , b] of edges) {
        const to = sign < 0 ? (a === at ? b : undefined) : b === at ? a : undefined
        if (to && !nodes.has(to)) { nodes.set(to, sign * step); next.push(to) }
      }
      front = next
    }
  }
  walk(ref, -1)
  walk(ref, 1)
  return { nodes: [...nodes].map(([ref, depth]) => ({ ref, depth, path: '/' })), edges: edges.filter(([a, , b]) => nodes.has(a) && nodes.has(b)).map(([from, relation, to]) => ({ from, relation, to, time_at: ago(14) })) }
}
const event = (sequence, minutes, actor, verb, subject, details = {}) => ({ sequence, time_at: ago(minutes), project: 'default', actor, verb, subject, details })
const events = [
  event(120, 10, 'lin', 'job.ended', 'job/318', { state: 'failed', failure: 'out_of_memory' }),
  event(119, 13, 'pipeline #42', 'traffic.changed', 'service/digits', { share: 5, revision: 14 }),
  event(118, 13.2, 'pipeline #42', 'model.version-added', 'model/digits@8', { accuracy: 0.9815 }),
  event(117, 13.5, 'pipeline #42', 'run.ended', `run/${hex(317).slice(0, 32)}`, { accuracy: 0.9815 }),
  event(116, 14, 'pipeline #42', 'job.ended', 'job/316', { state: 'succeeded' }),
  event(115, 15, 'pipeline #42', 'job.submitted', 'job/316', {}),
  event(114, 15.4, 'pipeline #42', 'dataset.version-added', 'dataset/digits-train@3', { rows: 1257 }),
  event(113, 16, 'lin', 'dataset.version-added', 'dataset/digits-raw@3', { rows: 1797 }),
  ...Array.from({ length: 60 }, (_, i) => event(112 - i, 30 + i * 19, 'lin', ['job.ended', 'run.ended', 'job.submitted', 'dataset.version-added'][i % 4], `job/${300 - i}`, { state: 'succeeded' })),
]
const line = {
  now_at: ago(0),
  cards: [
    { station: 'data', total: 4, moving: 0, lines: ['12 versions', '4 added today'], pieces: [] },
    { station: 'jobs', total: 320, moving: 2, lines: ['3 waiting', '1 failed'], pieces: ['job/319', 'job/320'] },
    { station: 'runs', total: 148, moving: 2, lines: ['148 in digits', 'best accuracy 0.9852'], pieces: [] },
    { station: 'models', total: 8, moving: 0, lines: ['production v7', 'candidate v8'], pieces: ['model/digits@8'] },
    { station: 'services', total: 1, moving: 1, lines: ['2/2 replicas ready', 'canary at 5%'], pieces: ['service/digits'] },
    { station: 'pipelines', total: 1, moving: 1, lines: [], pieces: [] },
  ],
  stops: [
    { kind: 'approval', subject: 'node/digits-line/42/promote', path: '/pipelines/digits-line/42', text: 'Send all traffic of service digits to digits@8? Submitted by lin, so lin may not approve.', action: 'takt pipeline approve digits-line/42 promote', since_at: ago(14) },
    { kind: 'failed', subject: 'job/318', path: '/jobs/318', text: 'out of memory: 1.00 GiB of 1.00 GiB used in attempt 3 of 3', action: 'takt why job/318', since_at: ago(10) },
    { kind: 'waiting', subject: 'job/321', path: '/jobs/321', text: '1 GPU asked, this machine has 1 and job 319 holds it', action: 'takt why job/321', since_at: ago(3) },
    { kind: 'waiting', subject: 'job/322', path: '/jobs/322', text: '1 GPU asked, this machine has 1 and job 319 holds it', action: 'takt why job/322', since_at: ago(2) },
    { kind: 'waiting', subject: 'job/323', path: '/jobs/323', text: '1 GPU asked, this machine has 1 and job 319 holds it', action: 'takt why job/323', since_at: ago(1) },
  ],
  hand_overs: events.slice(0, 8),
  beats: ['data', 'jobs', 'runs', 'models', 'services', 'pipelines'].map((station, k) => ({ station, per_hour: Array.from({ length: 24 }, (_, i) => ((i * 7 + k * 5) % 9 > 5 ? (i * k) % 8 : 0)) })),
}
const more = await import('./mock_more.mjs').catch(() => ({ answer: () => undefined }))
const tools = { ago, hex, jobs, lineage, now }

export function answer(method, url, body) {
  const path = decodeURIComponent(url.pathname.replace(/^\/api\/v1/, ''))
  const q = Object.fromEntries(url.searchParams)
  const extra = more.answer(method, path, q, body, tools)
  if (extra !== undefined) return extra
  let match
  if (path === '/whoami') return { user: 'maya', project: 'default', role: 'operator', scope: 'full' }
  if (path === '/version') return { version: '0.1.0', store: 'SQLite', uptime_ms: 6 * 86_400_000, disk_used_share: 0.41 }
  if (path === '/projects') return { items: [{ name: 'default', created_at: ago(9000) }, { name: 'vision', created_at: ago(90) }] }
  if (path === '/tokens') return method === 'POST' ? { status: 201, body: { id: 'tok9', user: 'maya', project: 'default', note: body.note ?? '', created_at: ago(0), token: 'takt_9f3e1c7ab2' } } : { items: [{ id: 'tok1a2b3c', user: 'maya', project: 'default', note: 'laptop', created_at: ago(9000), expires_at: new Date(now + 9e9).toISOString() }] }
  if (path === '/users') return { items: ['admin', 'maya', 'lin'].map((name, i) => ({ name, role: ['admin', 'operator', 'developer'][i], created_at: ago(9000), disabled: false })) }
  if (path === '/sign-in') return body.token === 'good' ? { signed_in: true } : { status: 401, body: { error: { code: 'unauthenticated', message: 'the token is not known', request_id: '1' } } }
  if (path === '/line') return line
  if (path === '/events') return { items: events.filter((e) => e.subject.startsWith(q.subject ?? '')).slice(0, Number(q.limit ?? 50)), last_sequence: 120 }
  if (path === '/lineage') return lineage(q.ref, Number(q.depth ?? 8))
  if (path === '/why') return { candidates: [], ref: q.ref, title: `${q.ref}`, state: 'failed', lines: ['out of memory: 1.00 GiB of 1.00 GiB used in attempt 3 of 3', 'attempt 3 resumed from the checkpoint of epoch 22'], next: ['takt submit job.yaml with resources.memory 2GiB', 'takt logs 318'], facts: { priority: 5, seed: 7, submitted_by: 'lin' }, lineage: lineage(q.ref, Number(q.depth ?? 8)) }
  if (path === '/datasets') return { items: datasets }
  if ((match = /^\/datasets\/([^/]+)\/versions$/.exec(path))) return { items: of_name(match[1]) }
  if ((match = /^\/datasets\/([^/]+)\/versions\/([^/]+)$/.exec(path))) return of_name(match[1]).find((v) => match[2] === 'latest' || v.version === Number(match[2]))
  if (/\/preview$/.test(path)) return { path: 'digits.csv', columns: columns.map((c) => c.name), rows: Array.from({ length: 60 }, (_, r) => columns.map((c, i) => String(c.name === 'label' ? r % 10 : Math.max(0, Math.round(16 * Math.exp(0 - ((((i % 8) - 3.5) ** 2 + (Math.floor(i / 8) - 3.5) ** 2 - 6 - (r % 5)) ** 2) / 30)))))) }
  if (/\/files$/.test(path)) return { tree: hex(3), items: [{ path: 'digits.csv', size_bytes: 483_115, digest: hex(4) }] }
  if (/\/diff$/.test(path)) return { from: 'a', to: 'b', files: { added: [], removed: [], changed: [{ path: 'digits.csv', before: { path: 'digits.csv', size_bytes: 1, digest: hex(1) }, after: { path: 'digits.csv', size_bytes: 483_115, digest: hex(2) } }] }, rows: [{ path: 'digits.csv', added: 6, removed: 6, added_rows: Array.from({ length: 6 }, (_, i) => `0,0,5,13,9,1,0,0,0,0,13,15,10,15,5,0,…,${i}`), removed_rows: Array.from({ length: 6 }, (_, i) => `0,0,5,13,9,1,0,0,0,0,13,15,10,15,5,0,…,${(i + 3) % 10}`) }] }
  if (path === '/jobs') {
    const states = (q.state ?? '').split(',').filter(Boolean)
    return { items: jobs.filter((j) => (q.kind ?? 'task') === j.kind && (!states.length || states.includes(j.state)) && (!q.q || j.name.includes(q.q))) }
  }
  if ((match = /^\/jobs\/(\d+)$/.exec(path))) return jobs.find((j) => j.number === Number(match[1]))
  if (path === '/capacity') return { total: resources(2000, 3900, 1), reserved: resources(1600, 1468, 1), isolation: 'namespace', memory_cap: 'cgroup-v2', tree_kill: 'cgroup' }
  return undefined
}
export function stream(response) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  response.write(': hello\n\n')
  const timer = setInterval(() => response.write(': beat\n\n'), 10_000)
  response.on('close', () => clearInterval(timer))
}
