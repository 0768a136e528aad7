// SPDX-License-Identifier: Apache-2.0
// Made-up runs, models, services and pipelines for dev/mock.mjs.

const names = ['calm-heron-290', 'brisk-otter-316', 'slate-ibis-319', 'plain-finch-311', 'plain-finch-310', 'amber-vole-318', 'dusky-wren-309', 'lucid-newt-307', 'warm-lynx-320', 'rapid-coot-306', 'tidal-mole-304']
const finals = [0.9741, 0.9852, 0.9815, 0.9815, 0.9815, 0.9778, 0.9778, 0.9741, 0.9704, 0.9704, 0.9667]
const states = ['finished', 'finished', 'running', 'finished', 'finished', 'failed', 'finished', 'finished', 'running', 'finished', 'killed']
let runs
function make_runs({ ago, hex }) {
  runs ??= Array.from({ length: Number(process.env.MOCK_RUNS ?? 148) }, (_, i) => {
    const k = i % names.length
    const id = (i < names.length ? Number(names[i].slice(-3)) : 400 + i).toString(16).padStart(8, '0').repeat(4)
    return {
      id, ref: `run/${id}`, name: i < names.length ? names[i] : `late-run-${i}`, experiment: 'digits', experiment_id: '1', status: i < names.length ? states[i] : 'finished', is_deleted: false, user: 'lin', started_at: ago(15 + i * 9), ...(states[k] === 'running' && i < names.length ? {} : { ended_at: ago(14 + i * 9), duration_ms: 41_000 - i * 40 }), job: `job/${316 - i}`,
      params: { lr: String([0.001, 0.002, 0.001, 0.002][k % 4]), hidden: ['64', '128,64', '256,128'][k % 3], decay: ['0', '1e-4', '1e-3'][k % 3], augment: k === 5 ? 'elastic' : k === 2 ? 'shift' : 'none', batch: '64', seed: k === 3 ? '11' : '7' },
      metrics: Object.fromEntries([['val_accuracy', finals[k] - (i >= names.length ? 0.01 : 0)], ['val_loss', 0.05 + k * 0.006], ['test_accuracy', k % 3 ? finals[k] - 0.004 : undefined]].filter(([, v]) => v !== undefined).map(([key, value]) => [key, { value, step: key.startsWith('test') ? 0 : 40, at: ago(14) }])),
      tags: { 'mlflow.source.name': 'train.py', team: 'vision' },
    }
  })
  return runs
}
const metric_curve = (key, k) => Array.from({ length: 40 }, (_, i) => ({ step: i + 1, value: key.includes('loss') ? 2.2 * Math.exp(-(i + 1) / (7 + (k % 5))) + 0.05 + (k % 5) * 0.01 + Math.sin(i * 3 + k) * 0.01 : 0.985 - (k % 5) * 0.003 - 0.5 * Math.exp(-(i + 1) / (4 + (k % 4))) + Math.sin(i * 5 + k) * 0.002 }))

const service = ({ ago }) => ({
  name: 'digits', state: 'canary', reason: '', warnings: [], model: 'digits@7', replicas_wanted: 2, spec: { model: 'digits@production' }, created_by: 'maya',
  revisions: [
    { number: 14, ref: 'revision/digits/14', model: 'digits@8', state: 'ready', share: 5, ready_replicas: 1, replicas: 1, reason: '', role: 'candidate', created_at: ago(14), created_by: 'lin' },
    { number: 13, ref: 'revision/digits/13', model: 'digits@7', state: 'ready', share: 95, ready_replicas: 2, replicas: 2, reason: '', role: 'stable', created_at: ago(4320), created_by: 'maya' },
    { number: 12, ref: 'revision/digits/12', model: 'digits@5', state: 'stopped', share: 0, ready_replicas: 0, replicas: 0, reason: '', role: 'none', created_at: ago(9000), created_by: 'maya' },
  ],
  replicas: [
    { name: 'digits-13-a', revision: 13, index: 0, state: 'ready', job: 290, started_at: ago(4320), restarts: 0, endpoint: '127.0.0.1:41001', reason: '' },
    { name: 'digits-13-b', revision: 13, index: 1, state: 'ready', job: 291, started_at: ago(4320), restarts: 1, endpoint: '127.0.0.1:41003', reason: '' },
    { name: 'digits-14-a', revision: 14, index: 0, state: 'ready', job: 314, started_at: ago(14), restarts: 0, endpoint: '127.0.0.1:41005', reason: '' },
  ],
  decisions: [{ at: ago(13), by: 'lin', verb: 'traffic.changed', text: 'canary r14 gets 5 %' }, { at: ago(13.2), by: 'server', verb: 'revision.ready', text: 'r14 is ready after 3.2 s' }, { at: ago(4320), by: 'maya', verb: 'traffic.changed', text: 'r13 promoted to 100 %' }],
  canary: { revision: 14, share: 5, started_at: ago(14) }, url: 'http://127.0.0.1:8000/v2/models/digits/infer', grpc: '127.0.0.1:8001', updated_at: ago(14),
})
function metrics() {
  const now = Date.now()
  const wave = (i, k) => Math.sin(i * 1.7 + k) + Math.sin(i * 0.6 + k * 2)
  const points = (from, rate, k) => Array.from({ length: 90 }, (_, i) => i).filter((i) => i >= from).map((i) => ({ at: new Date(now - (90 - i) * 20_000).toISOString(), requests: Math.round((rate + wave(i, k) * rate * 0.03) * 20), errors: i % 17 === 3 ? 3 : i % 3 === 0 ? 1 : 0, p50_ms: 1.1 + wave(i, k + 2) * 0.02, p99_ms: 3.9 + wave(i, k + 1) * 0.2 }))
  return { bucket_ms: 20_000, revisions: [
    { number: 13, points: points(0, 290, 1), totals: { requests: 521_214, errors: 73, p50_ms: 1.1, p99_ms: 3.9 } },
    { number: 14, points: points(48, 15, 5), totals: { requests: 12_714, errors: 2, p50_ms: 1.12, p99_ms: 3.8 } },
  ] }
}

const node_names = ['validate', 'preprocess', 'train', 'evaluate', 'gate', 'register', 'deploy-canary', 'promote']
function pipeline_run(number, { ago, hex }) {
  const waiting = number === 42
  const failed = number === 33
  const begin = waiting ? 16 : 40 + (42 - number) * 300
  const spans = [0.9, 1.7, 41.4, 2.1, 0.004, 0.011, 3.2, 1]
  let at = begin
  const nodes = node_names.map((name, i) => {
    const start = at
    at -= spans[i] / 60 + (i === 7 ? 31 : 0.03)
    const cached = !waiting && i < 2 && number % 4 !== 0
    const state = waiting ? (i === 7 ? 'waiting-approval' : 'done') : failed ? (i < 2 ? 'done' : i === 2 ? 'failed' : 'pending') : number % 3 === 1 && i >= 4 ? (i === 4 ? 'stopped' : 'skipped') : cached ? 'cached' : 'done'
    const ref = { validate: undefined, preprocess: 'dataset/digits-train@3', train: `artifact/${hex(1)}`, evaluate: undefined, register: 'model/digits@8', 'deploy-canary': 'service/digits', promote: 'service/digits' }[name]
    const kind = ['report', 'dataset', 'model', 'json', 'json', 'model-version', 'service', 'service'][i]
    const out = state === 'done' || state === 'cached' ? { out: { kind, digest: hex(i), ...(ref ? { ref } : {}), ...(kind === 'json' && i === 3 ? { json: { accuracy: 0.9815, log_loss: 0.0588 } } : {}) } } : {}
    return {
      name, action: i < 1 ? 'validate' : ['job', 'job', 'job', 'job', 'gate', 'register', 'deploy-canary', 'promote'][i], state, attempt: 1, x: 0, y: i,
      reason: { waits: '', cached: 'equal: code, inputs, parameters', stopped: 'accuracy 0.9412, at least 0.96 asked', failed: 'out of memory at 1 GiB' }[state] ?? (i === 4 ? 'go: 3 of 3 conditions' : i === 7 && waiting ? 'waits for an operator' : i === 0 ? '1,797 rows, 0 rejected' : ''),
      ...(['pending', 'skipped'].includes(state) ? {} : { started_at: ago(start) }), ...(state === 'done' || state === 'cached' || state === 'failed' || state === 'stopped' ? { ended_at: ago(at) } : {}),
      inputs: i === 7 ? { service: { kind: 'service', ref: 'service/digits', digest: hex(8) } } : i ? { in: { kind: 'dataset', ref: 'dataset/digits-raw@3', digest: hex(3) } } : { data: { kind: 'dataset', ref: 'dataset/digits-raw@3', digest: hex(3) } },
      outputs: out, needs: i ? [node_names[i - 1]] : [], ...(i >= 1 && i <= 3 ? { work: `job/${314 + i}` } : {}),
      ...(i === 7 ? { approve: { by: 'not-submitter', question: 'Send all traffic of service digits to digits@8?', asked_at: ago(waiting ? 14 : start), ...(waiting ? {} : { approver: 'maya', note: '' }) } } : {}),
    }
  })
  const state = waiting ? 'waiting-approval' : failed ? 'failed' : number % 3 === 1 ? 'stopped' : 'succeeded'
  return {
    pipeline: 'digits-line', number, ref: `pipeline-run/digits-line/${number}`, state, reason: failed ? 'train failed: out of memory at 1 GiB' : state === 'stopped' ? 'gate: accuracy 0.9412, at least 0.96 asked' : '', started_by: 'lin', started_at: ago(begin), ...(waiting ? {} : { ended_at: ago(at) }),
    params: { lr: 0.002, hidden: '128,64', epochs: 40, seed: 7 }, trigger: number % 2 ? 'manual' : 'dataset/digits-raw@3', code: hex(3), environment: hex(9), nodes,
    edges: [['validate', 'preprocess', 'report'], ['preprocess', 'train', 'digits-train@3'], ['preprocess', 'evaluate', 'digits-test@3'], ['train', 'evaluate', 'model'], ['train', 'register', 'model'], ['evaluate', 'gate', 'metrics'], ['gate', 'register', 'go'], ['register', 'deploy-canary', 'digits@8'], ['deploy-canary', 'promote', 'service digits']].map(([from, to, label]) => ({ from, to, label })),
  }
}
const brief = (tools) => Array.from({ length: 10 }, (_, i) => pipeline_run(42 - i, tools))

export function answer(method, path, q, body, tools) {
  const { ago, hex } = tools
  let match
  if (path === '/experiments') return { items: [{ id: '1', name: 'digits', ref: 'experiment/1', is_deleted: false, runs: make_runs(tools).length, running: 2, tags: {}, created_at: ago(9000), updated_at: ago(2), last_run_at: ago(4) }] }
  if (path === '/run-columns') return { runs: make_runs(tools).length, items: [...['val_accuracy', 'val_loss', 'test_accuracy'].map((key, i) => ({ name: `metrics.${key}`, kind: 'metric', key, runs: 148 - i * 20 })), ...['lr', 'hidden', 'decay', 'augment', 'batch', 'seed'].map((key) => ({ name: `params.${key}`, kind: 'param', key, runs: 148 })), { name: 'tags.team', kind: 'tag', key: 'team', runs: 148 }] }
  if (path === '/runs') {
    if (q.filter?.includes('==')) return { status: 400, body: { error: { code: 'invalid_argument', field: 'filter', message: "'==' at character 22 is not a comparison; use =", request_id: '9a' } } }
    let all = [...make_runs(tools)]
    if (q.order) { const key = q.order.replace(/^-/, '').replace('metrics.', ''); all.sort((a, b) => ((a.metrics[key]?.value ?? 0) - (b.metrics[key]?.value ?? 0)) * (q.order.startsWith('-') ? -1 : 1)) }
    if (q.filter?.includes('FAILED')) all = all.filter((run) => run.status === 'failed')
    if (q.filter?.includes('run_id IN')) all = all.filter((run) => q.filter.includes(run.id))
    const from = Number(q.page_token ?? 0)
    const to = from + Number(q.page_size ?? 100)
    return { items: all.slice(from, to), ...(to < all.length ? { next_page_token: String(to) } : {}) }
  }
  if ((match = /^\/runs\/([0-9a-f]{32})$/.exec(path))) {
    const run = make_runs(tools).find((item) => item.id === match[1])
    return run && { ...run, links: { job: run.job, code: `code/${hex(3)}`, environment: `environment/${hex(9)}`, datasets: ['dataset/digits-train@3'], models: run.name.includes('316') ? ['model/digits@8'] : [], children: [] }, inputs: [], artifact_files: 4, artifact_bytes: 78_000, artifact_uri: 'mlflow-artifacts:/x' }
  }
  if ((match = /^\/runs\/([0-9a-f]{32})\/metrics\/(.+)$/.exec(path))) {
    const k = make_runs(tools).findIndex((item) => item.id === match[1])
    const points = metric_curve(match[2], k).map((point) => ({ ...point, at: ago(15 - point.step / 60) }))
    return { key: match[2], total: points.length, is_thinned: false, points }
  }
  if (/^\/runs\/[0-9a-f]{32}\/artifacts$/.test(path)) return { items: q.path ? [{ path: 'model/MLmodel', name: 'MLmodel', is_folder: false, size_bytes: 412 }] : [{ path: 'model', name: 'model', is_folder: true }, { path: 'metrics.json', name: 'metrics.json', is_folder: false, size_bytes: 61 }] }
  if (path === '/models') return { items: [{ name: 'digits', description: '', tags: {}, aliases: { production: 7, candidate: 8 }, latest: 8, versions: 8, created_at: ago(9000), updated_at: ago(14) }] }
  if (path === '/models/digits') return { name: 'digits', description: '', tags: {}, aliases: { production: 7, candidate: 8 }, latest: 8, versions: 8, created_at: ago(9000), updated_at: ago(14) }
  if (path === '/models/digits/versions') return { items: [8, 7, 6, 5, 4, 3, 2, 1].map((version) => ({ name: 'digits', version, ref: `model/digits@${version}`, tree: hex(version + 20), files: 3, size_bytes: 72_300, source: 'runs:/x/model', run: `run/${make_runs(tools)[1].id}`, description: '', tags: {}, aliases: version === 7 ? ['production'] : version === 8 ? ['candidate'] : [], code: { verdict: version === 6 ? 'executes' : 'none', globals: version === 6 ? ['posix.system'] : [] }, metrics: { accuracy: [0.9259, 0.9407, 0.9444, 0.9593, 0.9667, 0.963, 0.9741, 0.9815][version - 1], macro_f1: 0.9 + version / 100, log_loss: 0.12 - version / 130, worst_class_recall: 0.9231 }, created_by: 'pipeline digits-line #42', created_at: ago(14 + (8 - version) * 2000), updated_at: ago(14) })) }
  if (path === '/models/digits/rules') return { model: 'digits', rules: [{ name: 'accuracy', for: ['production'], metric: 'accuracy', data: 'digits-test@3', at_least: 0.96 }, { name: 'second-person', for: 'production', approval: 1 }], updated_by: 'maya', updated_at: ago(900) }
  if (/^\/models\/digits\/versions\/\d+\/check$/.test(path)) return { ref: 'model/digits@8', alias: q.alias, holder: q.alias === 'production' ? 7 : 8, is_allowed: q.alias !== 'production', rules: q.alias !== 'production' ? [] : [
    { rule: 'accuracy', kind: 'metric', verdict: 'passed', wanted: 'accuracy on digits-test@3 at least 0.96', found: '0.9815' },
    { rule: 'not-worse', kind: 'metric', verdict: 'passed', wanted: 'accuracy not worse than v7 on the same data', found: '+0.0074' },
    { rule: 'parity', kind: 'parity', verdict: 'unmeasured', wanted: 'pass', found: 'no report', remedy: 'record one with PUT …/reports/parity' },
    { rule: 'fast', kind: 'latency', verdict: 'failed', wanted: 'p99_ms at most 10', found: '12.4', remedy: 'measure again or use a smaller model' },
    { rule: 'second-person', kind: 'approval', verdict: 'failed', wanted: '1 person other than lin', found: '0 of 1', remedy: 'takt models approve digits@8 --alias production' },
  ] }
  if ((match = /^\/models\/digits\/versions\/(\d+)\/evidence$/.exec(path))) return { ref: `model/digits@${match[1]}`, submitters: ['lin'], files: 3, size_bytes: 72_300, data: [], params: {}, approvals: [], reports: {}, signature: { inputs: '[{"type": "tensor", "tensor-spec": {"dtype": "float32", "shape": [-1, 64]}}]', outputs: '[{"name": "label", "type": "long"}]' }, measurements: ['accuracy', 'macro_f1', 'log_loss'].map((metric, i) => ({ metric, value: [0.95, 0.93, 0.12][i] + Number(match[1]) / 300, data: 'digits-test@3', by: 'lin', at: ago(20) })) }
  if (/^\/models\/digits\/versions\/\d+\/files$/.test(path)) return { items: [{ path: 'MLmodel', size_bytes: 412, digest: hex(31) }, { path: 'model.onnx', size_bytes: 70_600, digest: hex(32) }, { path: 'requirements.txt', size_bytes: 120, digest: hex(33) }] }
  if (path === '/services') return { items: [service(tools)] }
  if (path === '/services/digits') return service(tools)
  if (path === '/services/digits/metrics') return metrics()
  if (path === '/pipelines') return { items: [{ name: 'digits-line', definition: { kind: 'Pipeline' }, digest: hex(40), armed: true, on_dataset: 'digits-raw', created_by: 'lin', updated_at: ago(16), last_run: 42, runs: brief(tools).map(({ number, state, started_at, ended_at }) => ({ number, state, started_at, ended_at })) }] }
  if (path === '/pipelines/digits-line') return { name: 'digits-line', definition: { kind: 'Pipeline', name: 'digits-line', spec: { on: { dataset: 'digits-raw' }, params: { hidden: '128,64' } } }, digest: hex(40), code: hex(3), environment: hex(9), armed: true, on_dataset: 'digits-raw', created_by: 'lin', updated_at: ago(16), last_run: 42, runs: [] }
  if (path === '/pipelines/digits-line/runs') return { items: brief(tools).map(({ nodes, edges, ...rest }) => rest) }
  if (path === '/pipelines/digits-line/plan') return { pipeline: 'digits-line', params: body?.params ?? {}, nodes: node_names.map((name, i) => ({ name, verdict: ['fresh', 'cached', 'cached', 'will-run', 'will-run', 'will-run', 'blocked', 'blocked'][i], reason: ['outputs in place', 'equal: code, inputs', 'equal: code, inputs, parameters', 'the model is new', '', '', 'waits for register', 'waits for a person'][i] })) }
  if ((match = /^\/pipelines\/digits-line\/runs\/(\d+)$/.exec(path))) return pipeline_run(Number(match[1]), tools)
  return undefined
}
