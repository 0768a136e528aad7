// SPDX-License-Identifier: Apache-2.0
// Many runs, runs with many metrics, and runs with every kind of artifact, logged as an MLflow client logs them.
import * as zlib from 'node:zlib'

const at_once = 24

async function in_parallel(count, act) {
  let next = 0
  await Promise.all(Array.from({ length: at_once }, async () => {
    while (next < count) await act(next++)
  }))
}

export class RunSeeds {
  constructor(server) {
    this.server = server
  }

  mlflow(path, body) {
    return this.server.api('POST', `/api/2.0/mlflow/${path}`, body)
  }

  async experiment(name) {
    return (await this.mlflow('experiments/create', { name })).experiment_id
  }

  async run(experiment_id, name, { params = {}, metrics = {}, start = Date.now(), end = true } = {}) {
    const run_id = (await this.mlflow('runs/create', { experiment_id, run_name: name, start_time: start })).run.info.run_id
    await this.mlflow('runs/log-batch', {
      run_id, tags: [],
      params: Object.entries(params).map(([key, value]) => ({ key, value: String(value) })),
      metrics: Object.entries(metrics).map(([key, value]) => ({ key, value, timestamp: start, step: 0 })),
    })
    if (end) await this.mlflow('runs/update', { run_id, status: 'FINISHED', end_time: start + 1000 })
    return run_id
  }

  /** `count` runs whose accuracy rises with their number; a parameter that never differs among them. */
  async many(count) {
    const experiment = await this.experiment('many')
    const begin = Date.now() - count * 1000
    await in_parallel(count, (index) => this.run(experiment, `run-${String(index).padStart(6, '0')}`, {
      start: begin + index * 1000,
      params: { lr: [0.1, 0.01, 0.001][index % 3], hidden: 32 << (index % 4), fixed: 'same' },
      metrics: { accuracy: 0.5 + index / (2 * count), loss: 1 - index / count },
    }))
    return experiment
  }

  /** Two runs with `metrics` metrics of `points` points each. */
  async wide(metrics, points) {
    const experiment = await this.experiment('wide')
    const ids = []
    for (const name of ['broad-gull', 'vast-tern']) {
      const run_id = await this.run(experiment, name, { params: { depth: ids.length + 1 } })
      for (let step = 0; step < points; step++) {
        for (let from = 0; from < metrics; from += 900) {
          const batch = Array.from({ length: Math.min(900, metrics - from) }, (_, index) => ({ key: `layer_${String(from + index).padStart(4, '0')}/norm`, value: Math.sin((from + index + step) / 7) + 2 + ids.length, timestamp: Date.now(), step }))
          if (from === 0) batch.push({ key: 'epoch', value: step / 4, timestamp: Date.now(), step })
          await this.mlflow('runs/log-batch', { run_id, metrics: batch, params: [], tags: [] })
        }
      }
      ids.push(run_id)
    }
    return ids
  }

  async put(experiment, run, path, body) {
    const where = `${this.server.url}/api/2.0/mlflow-artifacts/artifacts/${experiment}/${run}/artifacts/${path.split('/').map(encodeURIComponent).join('/')}`
    const response = await fetch(where, { method: 'PUT', headers: { Authorization: `Bearer ${this.server.token}` }, body })
    if (!response.ok) throw new Error(`PUT ${where}: ${response.status} ${await response.text()}`)
  }

  async with_artifacts() {
    const experiment = await this.experiment('looks')
    const ids = []
    for (const [index, name] of ['keen-wren', 'pale-crow'].entries()) {
      const run = await this.run(experiment, name, { params: { lr: index ? 0.1 : 0.01 }, metrics: { accuracy: 0.9 + index / 50 } })
      const files = {
        'confusion_matrix.json': JSON.stringify({ labels: ['cat', 'dog', 'owl'], matrix: [[48, 2, 0], [5 - index, 45 + index, 0], [0, 1, 49]] }),
        'notes.md': '# Notes\n\nThe **second** try, see [the paper](https://example.org/).\n\n| split | rows |\n|---|--:|\n| train | 1,257 |\n\n<script>window.broken = 1</script><img src="https://example.org/x.png" onerror="window.broken = 1">\n\n![loss](images/loss.png)\n',
        'page.html': '<script>window.broken = 1</script><h1>hello</h1>',
        'drawing.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><script>window.broken = 1</script><circle cx="20" cy="20" r="16" fill="#2B6BDB"/></svg>',
        'table.csv': `name,score\n${Array.from({ length: 300 }, (_, row) => `"row ${row}, quoted",${row}`).join('\n')}\n`,
        'config.json': JSON.stringify({ model: { layers: [64, 32], bias: true }, seed: 7 }),
        'long.log': 'a line of a long log\n'.repeat(40_000),
        'images/loss.png': png(24 + index * 8),
        'model/MLmodel': 'flavors: {}\n',
      }
      for (const step of [1, 5]) files[`images/samples+step+${step}+timestamp+17000${step}+abc${step}.png`] = png(16 + step * 6 + index)
      for (const [path, body] of Object.entries(files)) await this.put(experiment, run, path, body)
      ids.push(run)
    }
    return ids
  }
}

/** A square picture with a diagonal. */
function png(size) {
  const rows = Array.from({ length: size }, (_, y) => Buffer.from([0, ...Array.from({ length: size }, (_, x) => (Math.abs(x - y) < 2 ? 40 : 220))]))
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const frame = Buffer.alloc(8 + body.length)
    frame.writeUInt32BE(data.length, 0)
    body.copy(frame, 4)
    frame.writeUInt32BE(crc32_of(body), 4 + body.length)
    return frame
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(size, 0)
  head.writeUInt32BE(size, 4)
  head.set([8, 0, 0, 0, 0], 8)
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', zlib.deflateSync(Buffer.concat(rows))), chunk('IEND', Buffer.alloc(0))])
}

/** Older versions of node have no crc32 of their own. */
function crc32_of(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes)
  let value = ~0
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0)
  }
  return ~value >>> 0
}
