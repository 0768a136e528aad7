// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// The theme must be known before the first paint, and the content policy allows no inline script: so it is a tiny
// file of its own, named by its digest, in the head.
function theme(): Plugin {
  const source = readFileSync(new URL('./src/app/theme-boot.js', import.meta.url), 'utf8')
  const digest = createHash('sha256').update(source).digest('hex').slice(0, 8)
  const file = `assets/theme-${digest}.js`
  return {
    name: 'takt-theme',
    configureServer(server) {
      server.middlewares.use((req, res, next) => {
        if (req.url !== `/${file}`) return next()
        res.setHeader('Content-Type', 'text/javascript')
        res.end(source)
      })
    },
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: file, source })
    },
    transformIndexHtml() {
      return [{ tag: 'script', attrs: { src: `/${file}` }, injectTo: 'head-prepend' as const }]
    },
  }
}

const target = process.env.TAKT_URL ?? 'http://127.0.0.1:8700'

export default defineConfig({
  plugins: [react(), theme()],
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false }, sourcemap: false },
  server: { proxy: { '/api': target, '/ajax-api': target } },
})
