// SPDX-License-Identifier: Apache-2.0
// Events in words: which hand something over, which failed, and one line for each.
import type { ReactNode } from 'react'
import type { TaktEvent } from '../api/spine'
import { useText } from '../i18n'
import { useFormat, type Format } from './format'
import { short_ref } from './url'

const station_of_verb: Record<string, string> = {
  'dataset.version-added': 'data',
  'job.submitted': 'jobs',
  'job.ended': 'jobs',
  'run.ended': 'runs',
  'model.version-added': 'models',
  'model.alias-set': 'models',
  'revision.ready': 'services',
  'traffic.changed': 'services',
  'node.approved': 'pipelines',
}

export function hand_over_station(event: TaktEvent): string | undefined {
  return station_of_verb[event.verb]
}

export function details_of(event: TaktEvent): Record<string, unknown> {
  return event.details && typeof event.details === 'object' ? (event.details as Record<string, unknown>) : {}
}

export function is_failure(event: TaktEvent): boolean {
  const { state, result } = details_of(event)
  return [state, result].some((word) => ['failed', 'FAILED', 'refused', 'rejected', 'denied'].includes(String(word))) || /\.(failed|refused|rejected|denied)$/.test(event.verb)
}

export function is_approval(event: TaktEvent): boolean {
  return event.verb === 'node.approved' || event.verb === 'node.waits-approval'
}

const untold = new Set(['kind', 'run', 'tree', 'digest', 'spec', 'owner', 'cpu_ms', 'experiment_id', 'id', 'service', 'pipeline', 'number', 'attempt', 'stable'])

/** The event's details in few words: scalars only, no digests, times and sizes in their units. */
export function details_line(event: TaktEvent, format: Format, most = 4): string {
  const { text } = details_of(event)
  if (typeof text === 'string' && text) return text
  return Object.entries(details_of(event))
    .filter(([name, value]) => value !== null && value !== '' && typeof value !== 'object' && !untold.has(name) && !/^[0-9a-f]{16,}$/.test(String(value)) && String(value).length < 100)
    .slice(0, most)
    .map(([name, value]) => {
      if (name === 'name' || name === 'state' || name === 'reason' || name === 'text') return String(value)
      if (name.endsWith('_ms') && typeof value === 'number') return `${name.slice(0, -3).replaceAll('_', ' ')} ${format.duration(value)}`
      if (name.endsWith('_bytes') && typeof value === 'number') return format.bytes(value)
      if (name === 'share' && typeof value === 'number') return `${format.number(value, 1)}%`
      return `${name.replaceAll('_', ' ')} ${typeof value === 'number' ? format.metric(value) : String(value)}`
    })
    .join(', ')
}

export function useVerbWord(): (verb: string) => string {
  const { t, has } = useText()
  return (verb) => {
    const key = `verb.${verb}`
    return has(key) ? (t as (key: string) => string)(key) : verb.slice(verb.indexOf('.') + 1).replaceAll('-', ' ')
  }
}

export function useEventSentence(): (event: TaktEvent) => ReactNode {
  const say = useVerbWord()
  const format = useFormat()
  return (event) => {
    const details = details_line(event, format, 3)
    return (
      <>
        <b className="b">{short_ref(event.subject)}</b> {say(event.verb)}
        {details && <span className="m"> {details}</span>}
      </>
    )
  }
}
