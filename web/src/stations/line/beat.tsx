// SPDX-License-Identifier: Apache-2.0
// The beat: one mark per hand-over, a lane per station; a red cap for a failure, a diamond for an approval.
import { useQuery } from '@tanstack/react-query'
import { events_query, type TaktEvent } from '../../api/spine'
import { useProject } from '../../app/context'
import { hand_over_station, is_approval, is_failure } from '../../lib/events'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { useNow } from '../../lib/now'
import { Panel } from '../../ui/parts'
import { Failure } from '../../ui/states'

const lanes = ['data', 'jobs', 'runs', 'models', 'services'] as const
const span_of: Record<string, number> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000 }

export function Beat({ since }: { since: '1h' | '24h' | '7d' }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const now = useNow()
  // Marks of hours do not need the rate of the stream: asked again every quarter of a minute.
  const events = useQuery({ ...events_query(project, '', 1000), queryKey: ['beat', project], refetchInterval: 15_000 })
  const span = span_of[since] ?? span_of['24h']!
  const from = now - span
  const lane_of = (event: TaktEvent) => {
    const station = hand_over_station(event)
    return station === 'pipelines' ? 'services' : station
  }
  const marks = (events.data?.items ?? []).filter((event) => Date.parse(event.time_at) >= from && lane_of(event) !== undefined)
  return (
    <Panel title={t('beat')} sub={t('beat.sub')}>
      {events.isError ? (
        <Failure what={t('events.error')} error={events.error} retry={() => void events.refetch()} />
      ) : (
        <div className="beat" role="img" aria-label={t('beat.label', { n: marks.length })}>
          {lanes.map((lane) => (
            <div key={lane} className="kvr">
              <span>{t(`nav.${lane}`)}</span>
              <div className="ln">
                {marks.filter((event) => lane_of(event) === lane).map((event) => (
                  <i key={event.sequence} className={is_failure(event) ? 'r' : is_approval(event) ? 'v' : ''} style={{ left: `${Math.min(99, ((Date.parse(event.time_at) - from) / span) * 100)}%` }} />
                ))}
              </div>
            </div>
          ))}
          <div className="ax">
            {[0, 0.25, 0.5, 0.75].map((share) => (
              <span key={share}>{since === '7d' ? format.ago(from + span * share, now) : format.hour(from + span * share)}</span>
            ))}
            <span>{t('time.now')}</span>
          </div>
        </div>
      )}
    </Panel>
  )
}
