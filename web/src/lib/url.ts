// SPDX-License-Identifier: Apache-2.0
// Addresses: the paths of CONSOLE section 3, references, and parameters that live in the URL.
import { useCallback } from 'react'
import { useSearch } from 'wouter'
import { navigate } from 'wouter/use-browser-location'

const part = encodeURIComponent

/** The console path of a reference such as dataset/NAME@3, job/7 or node/PIPELINE/4/train. */
export function path_of_ref(project: string, ref: string): string | undefined {
  const base = `/p/${part(project)}`
  const [kind = '', ...rest] = ref.split('/')
  const name = rest.join('/')
  switch (kind) {
    case 'dataset':
      return `${base}/data/${named(name)}`
    case 'model':
      return `${base}/models/${named(name)}`
    case 'job':
      return `${base}/jobs/${part(name)}`
    case 'run':
      return `${base}/runs/${part(name)}`
    case 'service':
      return `${base}/services/${part(name)}`
    case 'revision':
      return `${base}/services/${part(rest[0] ?? '')}`
    case 'pipeline':
      return `${base}/pipelines/${part(name)}`
    case 'pipeline-run':
      return `${base}/pipelines/${part(rest[0] ?? '')}/${part(rest[1] ?? '')}`
    case 'node':
      return `${base}/pipelines/${part(rest[0] ?? '')}/${part(rest[1] ?? '')}?node=${part(rest[2] ?? '')}`
    case 'code':
    case 'environment':
    case 'artifact':
    case 'request':
      return `${base}/why/${ref.split('/').map(part).join('/')}`
    default:
      return undefined
  }
}

/** NAME@3 with the name percent-encoded and the @ kept. */
function named(name: string): string {
  const at = name.lastIndexOf('@')
  return at < 0 ? part(name) : `${part(name.slice(0, at))}@${part(name.slice(at + 1))}`
}

export interface Ref {
  kind: string
  name: string
  version: string | undefined
}

export function parse_ref(ref: string): Ref {
  const slash = ref.indexOf('/')
  const kind = slash < 0 ? '' : ref.slice(0, slash)
  const whole = slash < 0 ? ref : ref.slice(slash + 1)
  const at = whole.lastIndexOf('@')
  return { kind, name: at < 0 ? whole : whole.slice(0, at), version: at < 0 ? undefined : whole.slice(at + 1) }
}

/** The words that stand before a number or an id, in the language of the console; set when a catalogue is loaded. */
export interface RefWords {
  job: (number: string) => string
  run: (id: string) => string
}
let words: RefWords = { job: (number) => `job ${number}`, run: (id) => `run ${id}` }
export function set_ref_words(next: RefWords): void {
  words = next
}

/** A reference in the words of a page: digits@8, job 318, run brisk-otter, digits-line #42. */
export function short_ref(ref: string): string {
  const { kind, name, version } = parse_ref(ref)
  const parts = name.split('/')
  switch (kind) {
    case 'dataset':
    case 'model':
      return version ? `${name}@${version}` : name
    case 'job':
      return words.job(name)
    case 'run':
      return words.run(name.slice(0, 8))
    case 'revision':
      return `${parts[0]} r${parts[1]}`
    case 'pipeline-run':
      return `${parts[0]} #${parts[1]}`
    case 'node':
      return `${parts[0]} #${parts[1]} ${parts[2]}`
    case 'token':
    case 'code':
    case 'environment':
    case 'artifact':
      return `${kind === 'environment' ? 'lock' : kind} ${name.slice(0, 8)}`
    case '':
      return ref
    default:
      return name
  }
}

export type Change = Record<string, string | null | undefined>

/** The URL's parameters, and a way to change some while keeping all others, the unknown ones too. */
export function useParams_of_url(): [URLSearchParams, (change: Change, push?: boolean) => void] {
  const search = useSearch()
  const set = useCallback((change: Change, push = false) => {
    const next = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries(change)) {
      if (value === null || value === undefined || value === '') next.delete(name)
      else next.set(name, value)
    }
    const text = next.toString()
    const to = location.pathname + (text ? `?${text}` : '') + location.hash
    if (to !== location.pathname + location.search + location.hash) navigate(to, { replace: !push })
  }, [])
  return [new URLSearchParams(search), set]
}

/** A parameter that must be one of a few words; anything else falls back to the first. */
export function one_of<T extends string>(value: string | null, allowed: readonly [T, ...T[]]): T {
  return value !== null && (allowed as readonly string[]).includes(value) ? (value as T) : allowed[0]
}
