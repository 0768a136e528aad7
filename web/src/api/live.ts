// SPDX-License-Identifier: Apache-2.0
// One event stream per tab. Events name verb and subject; they mark the stations they touch, and visible queries of
// marked stations are fetched again at most four times a second.
import type { QueryClient } from '@tanstack/react-query'
import { failure_of } from './client'

export type LiveState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'behind'; count: number }
  | { kind: 'lost'; since: number; next_at: number }
  | { kind: 'paused' }

export interface StreamMessage {
  id: string
  event: string
  data: string
}

/** Splits the bytes of an event stream into messages; feed() may be given any cut of the text. */
export class StreamParser {
  private rest = ''
  private message: StreamMessage = { id: '', event: '', data: '' }

  feed(text: string): StreamMessage[] {
    const messages: StreamMessage[] = []
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/)
    this.rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (this.message.data || this.message.event) messages.push(this.message)
        this.message = { id: '', event: '', data: '' }
        continue
      }
      const colon = line.indexOf(':')
      if (colon === 0) continue
      const field = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (field === 'data') this.message.data += (this.message.data ? '\n' : '') + value
      else if (field === 'id') this.message.id = value
      else if (field === 'event') this.message.event = value
    }
    return messages
  }
}

const stations_of_kind: Record<string, string[]> = {
  dataset: ['data'],
  code: [],
  environment: [],
  artifact: ['runs'],
  job: ['jobs', 'runs'],
  run: ['runs'],
  experiment: ['runs'],
  model: ['models'],
  service: ['services', 'models'],
  revision: ['services', 'models'],
  replica: ['services', 'jobs'],
  pipeline: ['pipelines'],
  'pipeline-run': ['pipelines', 'jobs'],
  node: ['pipelines', 'jobs'],
  token: ['settings'],
  user: ['settings'],
  project: ['settings'],
}

/** The first parts of the query keys that an event about this subject makes old. */
export function stations_touched(subject: string): string[] {
  const kind = subject.split('/', 1)[0] ?? ''
  return [...(stations_of_kind[kind] ?? []), 'line', 'events', 'why']
}

export function retry_delay_ms(attempt: number): number {
  return Math.min(30_000, 1000 * 2 ** attempt)
}

const flush_ms = 250
const hidden_close_ms = 5 * 60_000

export class LiveConnection {
  private readonly listeners = new Set<() => void>()
  private readonly marked = new Set<string>()
  /** Queries that an event touched while they were on their way. */
  private again = new Set<string>()
  private abort: AbortController | undefined
  private flush_timer: ReturnType<typeof setTimeout> | undefined
  private retry_timer: ReturnType<typeof setTimeout> | undefined
  private hidden_timer: ReturnType<typeof setTimeout> | undefined
  private attempt = 0
  private sequence: string
  private closed = false
  private last_values_at = Date.now()
  state: LiveState = { kind: 'connecting' }

  constructor(
    private readonly project: string,
    private readonly queries: QueryClient,
    start_sequence: number,
  ) {
    this.sequence = String(start_sequence)
    document.addEventListener('visibilitychange', this.on_visibility)
    void this.open()
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  get_state = (): LiveState => this.state

  close(): void {
    this.closed = true
    document.removeEventListener('visibilitychange', this.on_visibility)
    clearTimeout(this.flush_timer)
    clearTimeout(this.retry_timer)
    clearTimeout(this.hidden_timer)
    this.abort?.abort()
  }

  try_now = (): void => {
    clearTimeout(this.retry_timer)
    if (this.state.kind === 'lost') void this.open()
  }

  toggle_pause = (): void => {
    if (this.state.kind === 'paused') {
      void this.open()
    } else {
      clearTimeout(this.retry_timer)
      this.set({ kind: 'paused' })
      this.abort?.abort()
    }
  }

  private set(state: LiveState): void {
    this.state = state
    for (const listener of this.listeners) listener()
  }

  private readonly on_visibility = (): void => {
    clearTimeout(this.hidden_timer)
    if (document.hidden) {
      this.hidden_timer = setTimeout(() => this.abort?.abort(), hidden_close_ms)
    } else if (this.state.kind !== 'paused') {
      if (this.abort?.signal.aborted) void this.open()
      this.flush()
    }
  }

  private async open(): Promise<void> {
    this.abort?.abort()
    const abort = new AbortController()
    this.abort = abort
    try {
      const query = new URLSearchParams({ project: this.project, after: this.sequence })
      const response = await fetch(`/api/v1/events/stream?${query}`, {
        headers: { Accept: 'text/event-stream', 'Last-Event-ID': this.sequence },
        credentials: 'same-origin',
        signal: abort.signal,
      })
      if (response.status === 410) {
        this.sequence = response.headers.get('Takt-Last-Sequence') ?? '0'
        await this.queries.invalidateQueries()
        throw await failure_of(response)
      }
      if (!response.ok || !response.body) throw await failure_of(response)
      if (this.attempt > 0) void this.queries.invalidateQueries()
      this.attempt = 0
      this.set({ kind: 'live' })
      await this.read(response.body)
    } catch (error) {
      if (abort.signal.aborted) return
      void error
    }
    if (!abort.signal.aborted) this.lose()
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader()
    const decoder = new TextDecoder()
    const parser = new StreamParser()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const messages = parser.feed(decoder.decode(value, { stream: true }))
      this.last_values_at = Date.now()
      if (messages.length > 100) this.set({ kind: 'behind', count: messages.length })
      for (const message of messages) this.take(message)
      if (messages.length) this.schedule()
      if (this.state.kind === 'behind') this.set({ kind: 'live' })
    }
  }

  private take(message: StreamMessage): void {
    if (message.id) this.sequence = message.id
    try {
      const event = JSON.parse(message.data) as { subject?: string }
      for (const station of stations_touched(event.subject ?? '')) this.marked.add(station)
    } catch {
      // A heartbeat or a message of a later version: nothing to fetch.
    }
  }

  private schedule(): void {
    this.flush_timer ??= setTimeout(() => {
      this.flush_timer = undefined
      this.flush()
    }, flush_ms)
  }

  private flush(): void {
    if (document.hidden || this.marked.size + this.again.size === 0) return
    const stations = new Set(this.marked)
    this.marked.clear()
    const due = this.queries.getQueryCache().findAll({ predicate: (query) => stations.has(String(query.queryKey[0])) || this.again.has(query.queryHash) })
    // A query on its way is let arrive and then asked once more: cancelled by each event, an answer slower than the
    // events would never come.
    this.again = new Set(due.filter((query) => query.state.fetchStatus === 'fetching' && query.isActive()).map((query) => query.queryHash))
    const now = new Set(due.filter((query) => !this.again.has(query.queryHash)).map((query) => query.queryHash))
    void this.queries.invalidateQueries({ predicate: (query) => now.has(query.queryHash) })
    if (this.again.size) this.schedule()
  }

  private lose(): void {
    if (this.closed || this.state.kind === 'paused') return
    const delay = retry_delay_ms(this.attempt++)
    this.set({ kind: 'lost', since: this.last_values_at, next_at: Date.now() + delay })
    this.retry_timer = setTimeout(() => void this.open(), delay)
  }
}
