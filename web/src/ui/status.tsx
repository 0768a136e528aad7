// SPDX-License-Identifier: Apache-2.0
// From the server's state words to glyph, colour and translated word.
import { useText } from '../i18n'
import { Glyph, tone_of_glyph, type GlyphName } from './icon'

const glyph_of_state: Record<string, GlyphName> = {
  done: 'ok', succeeded: 'ok', finished: 'ok', ready: 'ok', live: 'ok', passed: 'ok', completed: 'ok', fresh: 'ok',
  approved: 'ok', go: 'ok', promoted: 'ok', serving: 'ok', healthy: 'ok', ok: 'ok', allowed: 'ok', active: 'ok', registered: 'ok',
  running: 'run', logging: 'run', starting: 'run', warming: 'run', deploying: 'run', restoring: 'run', will_run: 'run',
  canary: 'run', stopping: 'run', cancelling: 'run', placed: 'run', draining: 'run',
  waiting: 'wait', queued: 'wait', pending: 'idle', scheduled: 'wait', retrying: 'wait', backing_off: 'wait', backoff: 'warn', blocked: 'wait',
  approval: 'person', waiting_approval: 'person', awaiting_approval: 'person', waits_for_approval: 'person',
  degraded: 'warn', warning: 'warn', near_limit: 'warn', stale: 'lost', lost: 'lost', unknown: 'lost', unreachable: 'lost',
  failed: 'bad', refused: 'bad', rejected: 'bad', broken: 'bad', error: 'bad', denied: 'bad', killed: 'bad', timed_out: 'bad',
  unhealthy: 'bad', crashed: 'bad', out_of_memory: 'bad',
  cancelled: 'stop', canceled: 'stop', stopped: 'stop', skipped: 'stop', aborted: 'stop', retired: 'stop', rolled_back: 'stop', deleted: 'stop',
  cached: 'reuse', reused: 'reuse',
  not_started: 'idle', idle: 'idle', none: 'idle', created: 'idle',
}

export function normal_state(state: string): string {
  return state.toLowerCase().replace(/[ -]/g, '_')
}

export function glyph_of(state: string | undefined): GlyphName {
  return glyph_of_state[normal_state(state ?? '')] ?? 'idle'
}

export function is_ended(state: string): boolean {
  return ['ok', 'bad', 'stop', 'reuse'].includes(glyph_of(state))
}

export function useStateWord(): (state: string | undefined) => string {
  const { t, has } = useText()
  return (state) => {
    if (!state) return t('state.unknown')
    const key = `state.${normal_state(state)}`
    return has(key) ? (t as (key: string) => string)(key) : state.replaceAll('_', ' ')
  }
}

/** For headers and cards: glyph and word on a soft ground. */
export function StatusPill({ state, word, glyph }: { state: string; word?: string; glyph?: GlyphName }) {
  const say = useStateWord()
  const name = glyph ?? glyph_of(state)
  return (
    <span className={`pill ${tone_of_glyph[name]}`}>
      <Glyph name={name} size={14} />
      {word ?? say(state)}
    </span>
  )
}

/** For tables: plain glyph and word. */
export function StatusText({ state, word, glyph }: { state: string; word?: string; glyph?: GlyphName }) {
  const say = useStateWord()
  return (
    <span className="st">
      <Glyph name={glyph ?? glyph_of(state)} />
      <b>{word ?? say(state)}</b>
    </span>
  )
}
