// SPDX-License-Identifier: Apache-2.0
// Reading artifacts for a look at them: what kind a file is by its name, and its first bytes, never more.
import { useQuery } from '@tanstack/react-query'
import { failure_of } from '../api/client'

export const text_bytes_most = 256 * 1024
/** Larger pictures are only loaded when asked for. */
export const image_bytes_most = 8 * 1024 * 1024

export type PreviewKind = 'image' | 'table' | 'json' | 'markdown' | 'matrix' | 'text' | 'none'

/** HTML and SVG sources are text here: nothing that could run is ever drawn from its source. */
export function kind_of(path: string): PreviewKind {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (is_matrix(name)) return 'matrix'
  if (/\.(png|jpe?g|gif|webp|svg)$/i.test(name)) return 'image'
  if (/\.(csv|tsv)$/i.test(name)) return 'table'
  if (/\.json$/i.test(name)) return 'json'
  if (/\.(md|markdown)$/i.test(name)) return 'markdown'
  if (/\.(txt|jsonl|ya?ml|py|log|toml|cfg|ini|sh|lock|html?|xml|rst|js|ts|css|sql|conf|properties|out|err)$/i.test(name)) return 'text'
  return /^(MLmodel|MLproject|Dockerfile|Makefile|LICENSE|README)$/.test(name) ? 'text' : 'none'
}

export const is_matrix = (name: string): boolean => /confusion[^/]*\.(json|csv)$/i.test(name)

export interface Head {
  text: string
  is_cut: boolean
}

/** The first bytes of a file as text; the rest of a long one is not fetched. */
export async function read_head(url: string, signal: AbortSignal, most = text_bytes_most): Promise<Head> {
  const response = await fetch(url, { signal, credentials: 'same-origin' })
  if (!response.ok) throw await failure_of(response)
  const reader = response.body?.getReader()
  if (!reader) return { text: '', is_cut: false }
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), is_cut: false }
    const room = most - bytes
    bytes += value.length
    text += decoder.decode(value.subarray(0, room), { stream: true })
    if (bytes > most) {
      await reader.cancel()
      return { text, is_cut: true }
    }
  }
}

/** Artifacts do not change under their path: once read is enough. */
export function useHead(url: string, enabled = true) {
  return useQuery({ queryKey: ['artifact-head', url], enabled, queryFn: ({ signal }) => read_head(url, signal), staleTime: Infinity, retry: false })
}
