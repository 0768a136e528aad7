// SPDX-License-Identifier: Apache-2.0
// Events in words: which hand something over, which failed, and one line for each.
import type { ReactNode } from 'react'
import type { TaktEvent } from '../api/spine'
import { useText } from '../i18n'
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

/** The event's details in few words: scalars only, the short ones first. */
export function details_line(event: TaktEvent, most = 4): string {
  return Object.entries(details_of(event))
    .filter(([, value]) => value !== null && value !== '' && typeof value !== 'object' && String(value).length < 80)
    .slice(0, most)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
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
  return (event) => {
    const details = details_line(event, 3)
    return (
      <>
        <b className="b">{short_ref(event.subject)}</b> {say(event.verb)}
        {details && <span className="m"> {details}</span>}
      </>
    )
  }
}
