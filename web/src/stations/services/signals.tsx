// SPDX-License-Identifier: Apache-2.0
// Signals of a service: requests, latency and errors by revision, one legend, one cursor.
import { useMemo, useState } from 'react'
import type { Revision, ServiceMetrics, TaktRange } from '../../api/services'
import type { TaktEvent } from '../../api/spine'
import { LineChart, type Series } from '../../charts/line_chart'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { details_of } from '../../lib/events'
import { Segments } from '../../ui/parts'

export function Signals({ metrics, stable, canary, range, events, onRange }: {
  metrics: ServiceMetrics
  stable: Revision | undefined
  canary: Revision | undefined
  range: TaktRange
  events: TaktEvent[]
  onRange: (range: TaktRange) => void
}) {
  const { t } = useText()
  const format = useFormat()
  const [at, set_at] = useState<number | null>(null)
  const { x, revisions } = metrics
  const shown = revisions.filter((item) => item.requests_per_s.some((value) => (value ?? 0) > 0))
  const is_old = (number: number) => number !== canary?.number && number !== stable?.number
  const look = (number: number) => (canary && number === canary.number ? '--c1' : is_old(number) ? '--c8' : '--text-2')
  const word = (number: number) => (canary && number === canary.number ? t('signals.canary', { revision: `r${number}` }) : `r${number}`)
  const make = (pick: (item: ServiceMetrics['revisions'][number]) => (number | null)[], extra: Partial<Series> = {}, suffix = '') =>
    shown.map((item): Series => ({ name: `r${item.revision}${suffix}`, values: pick(item), color: look(item.revision), width: canary?.number === item.revision ? 2 : 1.75, dash: is_old(item.revision) ? [6, 3] : undefined, ...extra }))
  const series = useMemo(() => ({
    requests: make((item) => item.requests_per_s, { fill: 0.1 }),
    latency: [...make((item) => item.p50_ms, { dash: [3, 3], width: 1.25 }, ' p50'), ...make((item) => item.p99_ms, {}, ' p99')],
    errors: make((item) => item.error_share),
  }), [metrics, stable?.number, canary?.number])
  const word_of_share = (share: unknown) => (typeof share !== 'number' ? '' : share >= 100 ? '100%' : t('signals.mark', { share: format.number(share, 1) }))
  const marks = useMemo(() => {
    const from = x[0] ?? 0
    return events
      .filter((event) => event.verb === 'traffic.changed' && Date.parse(event.time_at) / 1000 >= from)
      .slice(0, 6)
      .map((event) => ({ x: Date.parse(event.time_at) / 1000, word: word_of_share(details_of(event).share) }))
  }, [events, x, format])
  const index = at ?? x.length - 1
  const values = (pick: (item: ServiceMetrics['revisions'][number]) => (number | null)[], say: (value: number | null | undefined) => string) =>
    shown.map((item) => <b key={item.revision} style={{ color: `var(${look(item.revision)})` }}>{say(pick(item)[index])}</b>)
  const say_ms = (value: number | null | undefined) => (value === null || value === undefined ? '–' : `${format.fixed(value, value < 10 ? 1 : 0)} ms`)
  const say_rate = (value: number | null | undefined) => format.number(value, 1)
  const say_share = (value: number | null | undefined) => format.percent(value, 3)
  const last = (pick: (item: ServiceMetrics['revisions'][number]) => (number | null)[], say: (value: number | null | undefined) => string) =>
    t('signals.summary', { range: t(`range.${range}`), values: shown.map((item) => `r${item.revision} ${say([...pick(item)].reverse().find((value) => value !== null))}`).join(', ') || '–' })
  const common = { x, time: true, zero: true, height: 150, sync: 'service', marks, onCursor: set_at } as const
  return (
    <section className="panel" aria-label={t('signals')}>
      <div className="ph">
        <h2>{t('signals')}</h2>
        <span className="legend">
          {shown.map((item) => <span key={item.revision}><i className="key" style={{ background: `var(${look(item.revision)})` }} />{word(item.revision)}</span>)}
        </span>
        <span className="side">
          {x[index] !== undefined && <span className="f num hm">{t('signals.at', { time: format.clock(x[index] * 1000) })}</span>}
          <Segments label={t('range')} value={range} onChange={onRange} options={[['5m', t('range.5m')], ['15m', t('range.15m')], ['30m', t('range.30m')]]} />
        </span>
      </div>
      {shown.length === 0 ? (
        <p className="f blk">{t('signals.none')}</p>
      ) : (
        <div className="r2">
          <div>
            <div className="ctl"><h3>{t('signals.requests')}</h3><span className="vals num">{values((item) => item.requests_per_s, say_rate)}</span></div>
            <LineChart {...common} title={t('signals.requests')} summary={last((item) => item.requests_per_s, say_rate)} series={series.requests} say={say_rate} />
          </div>
          <div>
            <div className="ctl"><h3>{t('signals.latency')}</h3><span className="vals num">{values((item) => item.p99_ms, say_ms)}</span></div>
            <LineChart {...common} title={t('signals.latency')} summary={last((item) => item.p99_ms, say_ms)} series={series.latency} say={say_ms} say_tick={(value) => format.number(value, 1)} />
          </div>
          <div>
            <div className="ctl"><h3>{t('signals.errors')}</h3><span className="vals num">{values((item) => item.error_share, say_share)}</span></div>
            <LineChart {...common} title={t('signals.errors')} summary={last((item) => item.error_share, say_share)} series={series.errors} say={say_share} />
          </div>
        </div>
      )}
    </section>
  )
}
