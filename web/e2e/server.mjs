// SPDX-License-Identifier: Apache-2.0
// A real takt server in a folder of its own, and what the pages need to have something to show.
import { execFile, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, statSync, appendFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))
const given = resolve(process.env.TAKT_BIN ?? join(root, 'build/release/bin'))
export const takt = existsSync(given) && statSync(given).isDirectory() ? join(given, 'takt') : given

async function free_port() {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => done(port))
    })
  })
}

export async function until(what, seconds, check) {
  const end = Date.now() + seconds * 1000
  let last
  for (;;) {
    try {
      const value = await check()
      if (value) return value
      last = undefined
    } catch (error) {
      last = error
    }
    if (Date.now() > end) throw new Error(`${what} did not come within ${seconds} s${last ? `: ${last.message}` : ''}`)
    await new Promise((done) => setTimeout(done, 200))
  }
}

export class Server {
  async start() {
    this.folder ??= mkdtempSync(join(tmpdir(), 'takt-console-'))
    this.port ??= await free_port()
    this.gateway_port ??= await free_port()
    this.grpc_port ??= await free_port()
    this.data = join(this.folder, 'data')
    if (!this.has_front) this.url = `http://127.0.0.1:${this.port}`
    const log = openSync(join(this.folder, 'server.log'), 'a')
    const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(TAKT|MLFLOW)_/.test(name)))
    this.process = spawn(takt, ['server', '--data-dir', this.data, '--listen', `127.0.0.1:${this.port}`, '--gateway-listen', `127.0.0.1:${this.gateway_port}`, '--gateway-grpc-listen', `127.0.0.1:${this.grpc_port}`, '--cpu', '2', '--memory', '2GiB', '--gpus', '0'], { stdio: ['ignore', log, log], env: environment, detached: true })
    await until('the server', 30, async () => (await fetch(`http://127.0.0.1:${this.port}/readyz`)).ok)
    this.token = readFileSync(join(this.data, 'admin-token'), 'utf8').trim()
  }

  async stop() {
    if (!this.process || this.process.exitCode !== null) return
    const ended = new Promise((done) => this.process.once('exit', done))
    this.process.kill('SIGTERM')
    await Promise.race([ended, new Promise((done) => setTimeout(done, 25_000))])
    if (this.process.exitCode === null) this.process.kill('SIGKILL')
  }

  async close() {
    try {
      for (const service of (await this.api('GET', '/api/v1/services')).items ?? []) await this.api('POST', `/api/v1/services/${service.name}/stop`, {})
      const jobs = (await this.api('GET', '/api/v1/jobs?state=open')).items ?? []
      for (const job of jobs) await this.api('POST', `/api/v1/jobs/${job.number}/cancel`, {})
      await new Promise((done) => setTimeout(done, 1500))
    } catch {
      // The server may be gone already: its shims end with their jobs.
    }
    await this.stop()
    this.end_leftovers()
    if (!process.env.TAKT_KEEP) rmSync(this.folder, { recursive: true, force: true })
  }

  /** The gateway and its shim outlive the server by design: what still works on our folder is ended by its id. */
  end_leftovers() {
    if (!this.folder) return
    for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        if (readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(`${this.folder}/`)) process.kill(Number(id), 'SIGTERM')
      } catch {
        // It ended meanwhile.
      }
    }
  }

  log_tail() {
    return readFileSync(join(this.folder, 'server.log'), 'utf8').split('\n').slice(-15).join('\n')
  }

  async api(method, path, body, token = this.token) {
    const response = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
    return text ? JSON.parse(text) : undefined
  }

  /** A command of the CLI against this server. */
  async cli(words, folder = this.folder) {
    const environment = { ...process.env, TAKT_URL: this.url, TAKT_TOKEN: this.token, TAKT_DATA_DIR: this.data }
    const { stdout } = await promisify(execFile)(takt, words, { cwd: folder, env: environment, maxBuffer: 1 << 24, timeout: 180_000 })
    return stdout
  }

  async submit(name, command, extra = {}) {
    return this.api('POST', '/api/v1/jobs', { kind: 'Job', name, spec: { command, resources: { cpu: '100m', memory: '64MiB' }, ...extra } })
  }

  async job_state(number, states, seconds = 30) {
    return until(`job ${number} ${states}`, seconds, async () => {
      const job = await this.api('GET', `/api/v1/jobs/${number}`)
      return states.includes(job.state) && job
    })
  }

  /** The hello line twice: a live service, and a canary that waits for another person. */
  async seed_line() {
    this.example = join(this.folder, 'hello')
    cpSync(join(root, 'examples/hello'), this.example, { recursive: true })
    await this.cli(['data', 'add', 'hello-raw', 'data/sensors.csv'], this.example)
    await this.cli(['pipeline', 'run', 'pipeline.yaml'], this.example).catch((error) => {
      // The first run ends with a question too: another person answers it.
      if (!/wait|approv/i.test(`${error.stdout}${error.stderr}`)) throw error
    })
    await this.answer_waiting()
    await until('the service', 90, async () => {
      const service = await this.api('GET', '/api/v1/services/hello')
      return JSON.stringify(service).includes('100') && service
    })
    await this.api('POST', '/api/v1/pipelines/hello-line/runs', { params: { epochs: 60 } })
    await until('the approval', 90, async () => (await this.waiting_nodes()).length > 0)
  }

  async waiting_nodes() {
    const runs = (await this.api('GET', '/api/v1/pipelines/hello-line/runs?limit=20')).items
    const waiting = runs.filter((run) => run.state === 'waiting-approval')
    return Promise.all(waiting.map(async (run) => {
      const full = await this.api('GET', `/api/v1/pipelines/hello-line/runs/${run.number}`)
      return { number: run.number, node: full.nodes.find((node) => node.state === 'waiting-approval').name }
    }))
  }

  async answer_waiting() {
    await until('the first run', 120, async () => {
      const [run] = (await this.api('GET', '/api/v1/pipelines/hello-line/runs?limit=1')).items
      if (run?.state === 'failed') throw new Error(`the hello line failed: ${run.reason}`)
      return run && (run.state === 'waiting-approval' || run.state === 'succeeded')
    })
    for (const { number, node } of await this.waiting_nodes()) {
      await this.api('POST', `/api/v1/pipelines/hello-line/runs/${number}/nodes/${node}/approve`, {}, this.operator_token)
    }
  }

  async seed_people() {
    await this.api('POST', '/api/v1/users', { name: 'maya', role: 'operator' })
    this.operator_token = (await this.api('POST', '/api/v1/tokens', { user: 'maya', note: 'browser test' })).token
    await this.api('POST', '/api/v1/users', { name: 'vera', role: 'viewer' })
    this.viewer_token = (await this.api('POST', '/api/v1/tokens', { user: 'vera', note: 'browser test' })).token
  }

  async seed_runs() {
    const mlflow = (path, body) => this.api('POST', `/api/2.0/mlflow/${path}`, body)
    const { experiment_id } = await mlflow('experiments/create', { name: 'curves' })
    this.runs = []
    for (const [index, name] of ['calm-heron', 'brisk-otter', 'slate-ibis'].entries()) {
      const start = Date.now() - 60_000
      const { run } = await mlflow('runs/create', { experiment_id, start_time: start, run_name: name })
      const run_id = run.info.run_id
      const metrics = []
      for (let step = 1; step <= 40; step++) {
        metrics.push({ key: 'val_loss', value: 2 * Math.exp(-step / (7 + index * 2)) + 0.05, timestamp: start + step * 1000, step })
        metrics.push({ key: 'val_accuracy', value: 0.98 - index * 0.01 - 0.5 * Math.exp(-step / 5), timestamp: start + step * 1000, step })
      }
      await mlflow('runs/log-batch', { run_id, metrics, params: [{ key: 'hidden', value: String(32 << index) }, { key: 'lr', value: '0.01' }], tags: [] })
      if (index < 2) await mlflow('runs/update', { run_id, status: 'FINISHED', end_time: start + 41_000 })
      this.runs.push(run_id)
    }
  }

  async seed_jobs() {
    this.failed_job = (await this.submit('boom', ['sh', '-c', 'echo begin; printf "\\033[31mred text\\033[0m\\n"; echo "fatal error: the input is empty" >&2; exit 3'])).number
    this.long_job = (await this.submit('long-log', ['sh', '-c', 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "line $i of a long log"; done'])).number
    await this.job_state(this.failed_job, ['failed'])
    await this.job_state(this.long_job, ['succeeded'])
    this.holder_job = (await this.submit('holder', ['sleep', '600'], { resources: { cpu: '1300m', memory: '64MiB' } })).number
    await this.job_state(this.holder_job, ['running'])
    this.waiting_job = (await this.submit('waits', ['true'], { resources: { cpu: '1500m', memory: '64MiB' } })).number
  }

  async seed_second_data() {
    appendFileSync(join(this.example, 'data/sensors.csv'), readFileSync(join(this.example, 'data/sensors.csv'), 'utf8').split('\n').slice(1, 4).join('\n') + '\n')
    await this.cli(['data', 'add', 'hello-raw', 'data/sensors.csv'], this.example)
  }

  async infer(count) {
    const body = JSON.stringify({ inputs: [{ name: 'X', datatype: 'FP32', shape: [1, 4], data: [0.3, 0.8, 2.9, 0.4] }] })
    for (let index = 0; index < count; index++) {
      await fetch(`http://127.0.0.1:${this.gateway_port}/v2/models/hello/infer`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    }
  }
}
