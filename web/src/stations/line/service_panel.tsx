// SPDX-License-Identifier: Apache-2.0
// The service at the end of the line in three figures.
import { Link } from 'wouter'
import { useBase } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { StatusPill } from '../../ui/status'
import { Spark } from '../../ui/parts'
import { last_of, total_rates } from '../services/figures'
import { useMainMetrics, useMainService } from './traffic'

export function ServicePanel() {
  const { t } = useText()
  const format = useFormat()
  const base = useBase()
  const service = useMainService()
  const metrics = useMainMetrics(service)
  if (!service) {
    return (
      <section className="panel grow" aria-label={t('service')}>
        <div className="ph"><h2>{t('service')}</h2></div>
        <p className="pb f">{t('service.none')}</p>
      </section>
    )
  }
  const series = (pick: Parameters<typeof last_of>[1]) => metrics.data?.x.map((_, index) => {
    const values = metrics.data!.revisions.map((item) => pick(item)[index]).filter((value): value is number => typeof value === 'number')
    return values.length ? Math.max(...values) : null
  }) ?? []
  const p99 = last_of(metrics.data, (item) => item.p99_ms)
  const errors = last_of(metrics.data, (item) => item.error_share)
  return (
    <section className="panel grow" aria-label={t('service.n', { name: service.name })}>
      <div className="ph">
        <h2>{t('service.n', { name: service.name })}</h2>
        <StatusPill state={service.state} />
        <span className="side"><Link href={`${base}/services/${encodeURIComponent(service.name)}`}>{t('open')}</Link></span>
      </div>
      <div className="pb">
        <dl className="svc">
          <div><dt>{t('signals.requests_short')}</dt><dd><b>{format.number(total_rates(metrics.data).at(-1) ?? 0, 1)}</b><span className="m">/s</span></dd><Spark values={total_rates(metrics.data)} fill /></div>
          <div><dt>{t('side.p99')}</dt><dd><b>{p99 === undefined ? '–' : format.number(p99, 1)}</b><span className="m">ms</span></dd><Spark values={series((item) => item.p99_ms)} fill /></div>
          <div><dt>{t('side.errors')}</dt><dd><b>{errors === undefined ? '–' : format.number(errors * 100, 3)}</b><span className="m">%</span></dd><Spark values={series((item) => item.error_share)} /></div>
        </dl>
      </div>
    </section>
  )
}
