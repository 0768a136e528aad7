// SPDX-License-Identifier: Apache-2.0
// A small server for drawing pages while developing: serves dist/ under the product's content policy and answers the
// API with made-up values. Never part of the product. node dev/mock.mjs [PORT]
import { createServer } from 'node:http'
import { readFileSync, existsSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { answer, stream, log_of } from './mock_data.mjs'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const types = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html; charset=utf-8', '.svg': 'image/svg+xml' }
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-dev'; img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; font-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

createServer((request, response) => {
  const url = new URL(request.url, 'http://x')
  if (url.pathname.startsWith('/api/') || url.pathname.startsWith('/ajax-api/')) return api(request, response, url)
  const file = url.pathname.startsWith('/assets/') ? url.pathname.slice(1) : 'index.html'
  if (!existsSync(dist + file)) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream', 'Content-Security-Policy': policy })
  response.end(readFileSync(dist + file))
}).listen(Number(process.argv[2] ?? 8799), '127.0.0.1')

function api(request, response, url) {
  if (url.pathname === '/api/v1/events/stream') return stream(response)
  const log = /^\/api\/v1\/jobs\/(\d+)\/log$/.exec(url.pathname)
  if (log) {
    const all = log_of(log[1])
    let from = Number(url.searchParams.get('from') ?? 0)
    if (from < 0) from = Math.max(0, all.length + from)
    const part = all.subarray(from, from + Number(url.searchParams.get('limit') ?? 1e9))
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Takt-Log-Offset': from, 'Takt-Log-Size': all.length, 'Takt-Log-Final': 'true' })
    response.end(part)
    return
  }
  let body = ''
  request.on('data', (part) => (body += part))
  request.on('end', () => {
    const made = answer(request.method, url, body ? JSON.parse(body) : undefined)
    const status = made === undefined ? 404 : typeof made.status === 'number' ? made.status : 200
    response.writeHead(status, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(made === undefined ? { error: { code: 'not_found', message: `nothing at ${url.pathname}`, request_id: '7f3a91' } } : (typeof made.status === 'number' ? made.body : made)))
  })
}
