// SPDX-License-Identifier: Apache-2.0
// dist/ before a real server that was built without the console: serves the files under the product's content policy
// and passes everything else on. For development; the product serves its own files.
import { createServer, request as ask } from 'node:http'
import { existsSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const types = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html; charset=utf-8' }
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; font-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
const passed = /^\/(api|ajax-api|health|healthz|readyz|version|metrics|openapi\.json)(\/|$)/

export function start_front(backend_port) {
  const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://x').pathname
    if (!passed.test(path)) {
      const file = path.startsWith('/assets/') ? path.slice(1) : 'index.html'
      if (!existsSync(dist + file)) return void response.writeHead(404).end()
      response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream', 'Content-Security-Policy': policy })
      return void response.end(readFileSync(dist + file))
    }
    const host = `127.0.0.1:${backend_port}`
    const headers = { ...request.headers, host, ...(request.headers.origin ? { origin: `http://${host}` } : {}) }
    const onward = ask({ host: '127.0.0.1', port: backend_port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done({ port: server.address().port, close: () => server.close() })))
}
