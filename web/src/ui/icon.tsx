// SPDX-License-Identifier: Apache-2.0
// Icons of things and glyphs of states. A glyph always has its word beside it or as its label.

export type IconName =
  | 'arrow' | 'auto' | 'back' | 'code' | 'cols' | 'copy' | 'data' | 'down' | 'env' | 'events' | 'eye' | 'filter' | 'globe'
  | 'jobs' | 'line' | 'link' | 'lock' | 'models' | 'moon' | 'more' | 'pin' | 'pipelines' | 'right' | 'runs' | 'save'
  | 'search' | 'services' | 'settings' | 'sun' | 'user' | 'x'

export type GlyphName = 'ok' | 'run' | 'wait' | 'person' | 'warn' | 'bad' | 'stop' | 'reuse' | 'lost' | 'idle'
export type Tone = 'green' | 'blue' | 'violet' | 'amber' | 'red' | 'grey'

export const tone_of_glyph: Record<GlyphName, Tone> = {
  ok: 'green', run: 'blue', wait: 'grey', person: 'violet', warn: 'amber',
  bad: 'red', stop: 'grey', reuse: 'grey', lost: 'amber', idle: 'grey',
}

export function Icon({ name, size = 16, className = '' }: { name: IconName; size?: number; className?: string }) {
  return (
    <svg className={`i ${className}`} width={size} height={size} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  )
}

export function Glyph({ name, size = 16, label }: { name: GlyphName; size?: number; label?: string }) {
  const hidden = label === undefined
  return (
    <svg
      className={`g t-${tone_of_glyph[name]}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden={hidden || undefined}
      role={hidden ? undefined : 'img'}
      aria-label={label}
    >
      {label !== undefined && <title>{label}</title>}
      <use href={`#g-${name}`} />
    </svg>
  )
}

const icon_of_kind: Record<string, IconName> = {
  dataset: 'data', code: 'code', environment: 'env', job: 'jobs', run: 'runs', experiment: 'runs', model: 'models',
  service: 'services', revision: 'services', replica: 'services', pipeline: 'pipelines', 'pipeline-run': 'pipelines',
  node: 'pipelines', user: 'user', token: 'lock', request: 'link', artifact: 'save', data: 'data', jobs: 'jobs', runs: 'runs',
  models: 'models', services: 'services', pipelines: 'pipelines', line: 'line',
}

/** The icon of a reference's kind or of a station's name. */
export function icon_of(kind: string): IconName {
  return icon_of_kind[kind] ?? 'link'
}
