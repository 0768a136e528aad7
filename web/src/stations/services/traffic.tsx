// SPDX-License-Identifier: Apache-2.0
// Traffic of a service: the split as it is, the slider for what it shall be, and the checks before the button.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../../api/client'
import { set_share, type Revision, type Service } from '../../api/services'
import { useProject, useSession } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { short_ref } from '../../lib/url'
import { Glyph, type GlyphName } from '../../ui/icon'
import { Button, Time } from '../../ui/parts'
import { TrafficSlider } from './slider'

export interface Rates {
  /** Requests per second by revision number, over the last minute. */
  requests: Map<number, number>
}

export function TrafficPanel({ service, stable, canary, rates, pending, onPending }: {
  service: Service
  stable: Revision | undefined
  canary: Revision | undefined
  rates: Rates
  pending: number | undefined
  onPending: (share: number | undefined) => void
}) {
  const { t } = useText()
  const format = useFormat()
  const { role, user } = useSession()
  const project = useProject()
  const queries = useQueryClient()
  const [busy, set_busy] = useState(false)
  const [error, set_error] = useState<string>()
  const [typed, set_typed] = useState('')
  const total = [...rates.requests.values()].reduce((sum, rate) => sum + rate, 0)
  const now = canary?.share ?? 0
  const next = pending ?? now
  useEffect(() => set_typed(format.number(next, 1)), [next, format])
  const denied = role === 'viewer' || role === 'developer' ? t('traffic.denied', { role: t(`role.${role}`), user }) : undefined
  const blocked = canary && canary.ready_replicas === 0 ? t('traffic.not_ready', { revision: `r${canary.number}` }) : undefined
  const lock = denied ?? blocked
  const shift = async () => {
    if (pending === undefined || pending === now || lock) return
    set_busy(true)
    set_error(undefined)
    try {
      await set_share(project, service.name, pending)
      await queries.invalidateQueries({ queryKey: ['services'] })
      onPending(undefined)
    } catch (failure) {
      set_error(failure instanceof ApiError ? [failure.message, failure.hint].filter(Boolean).join(' ') : String(failure))
    }
    set_busy(false)
  }
  const checks: { glyph: GlyphName; text: string }[] = canary
    ? [
        { glyph: canary.ready_replicas > 0 ? 'ok' : 'bad', text: t('traffic.check.ready', { revision: `r${canary.number}`, ready: canary.ready_replicas, all: canary.replicas }) },
        ...(total > 0 && pending !== undefined && pending !== now ? [{ glyph: 'ok' as const, text: t('traffic.check.rate', { revision: `r${canary.number}`, rate: format.number((total * next) / 100, 1) }) }] : []),
        ...(next === 100 && stable ? [{ glyph: 'ok' as const, text: t('traffic.check.kept', { revision: `r${stable.number}` }) }] : []),
        ...(next > 0 && canary.ready_replicas < 2 ? [{ glyph: 'warn' as const, text: t('traffic.check.single', { revision: `r${canary.number}` }) }] : []),
      ]
    : []
  const rate = (revision: Revision | undefined) => format.number(revision ? (rates.requests.get(revision.number) ?? 0) : 0, 1)
  return (
    <section className="panel" aria-label={t('traffic')}>
      <div className="ph">
        <h2>{t('traffic')}</h2>
        <span className="f">{t('traffic.sub', { rate: format.number(total, 1), n: service.revisions.filter((revision) => revision.share > 0).length })}</span>
      </div>
      <div className="pb">
        <div className="revs">
          {stable ? (
            <div>
              <div className="m"><b className="b ink">r{stable.number}</b> {short_ref(stable.model)}</div>
              <span className="big">{format.number(stable.share, 1)}%</span> <span className="m num">{t('traffic.rate', { rate: rate(stable) })}</span>
            </div>
          ) : <div className="f">{t('traffic.none')}</div>}
          {canary && (
            <div className="r">
              <div className="m"><b className="b t-blue">r{canary.number}</b> {short_ref(canary.model)}, {t('traffic.canary_for')} <Time at={service.canary?.started_at ?? canary.created_at} form="age" /></div>
              <span className="big">{format.number(canary.share, 1)}%</span> <span className="m num">{t('traffic.rate', { rate: rate(canary) })}</span>
            </div>
          )}
        </div>
        <div className="split" aria-hidden="true">
          {stable && stable.share > 0 && <i style={{ width: `${stable.share}%` }} />}
          {canary && canary.share > 0 && <i className="can" style={{ flex: 1 }} />}
        </div>
        {canary ? (
          <>
            <TrafficSlider now={now} pending={next} revision={canary.number} lock={lock} onChange={onPending} onEnter={() => document.getElementById('shift')?.focus()} />
            <div className="gd">
              <ul>
                {checks.map((check) => <li key={check.text}><Glyph name={check.glyph} size={14} />{check.text}</li>)}
                {lock && <li><Glyph name="bad" size={14} />{lock}</li>}
                {error && <li className="t-red" role="alert">{error}</li>}
              </ul>
              <label className="share-in"><span className="sr">{t('traffic.share_of', { revision: `r${canary.number}` })}</span>
                <input className="inp num" inputMode="decimal" disabled={Boolean(lock)} value={typed} onChange={(event) => set_typed(event.target.value)} onBlur={() => { const value = Number(typed.replace(',', '.')); if (Number.isFinite(value)) onPending(Math.min(100, Math.max(0, value))) }} onKeyDown={(event) => { if (event.key === 'Enter') event.currentTarget.blur() }} /> %
              </label>
              <span className="row">
                <Button onClick={() => onPending(undefined)} disabled={pending === undefined || pending === now}>{t('cancel')}</Button>
                <Button id="shift" kind="primary" busy={busy} locked={lock} disabled={pending === undefined || pending === now} onClick={() => void shift()}>{t('traffic.shift', { share: format.number(next, 1) })}</Button>
              </span>
            </div>
          </>
        ) : (
          <p className="f no-canary">{t('traffic.no_canary')}</p>
        )}
      </div>
    </section>
  )
}
