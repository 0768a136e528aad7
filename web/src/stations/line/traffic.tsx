// SPDX-License-Identifier: Apache-2.0
// The right end of the line: live traffic as a figure, and one track per revision, its width the share.
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { service_metrics_query, services_query, type Service } from '../../api/services'
import { useBase, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { parse_ref } from '../../lib/url'
import { last_of, total_rates } from '../services/figures'

/** The service that the Line shows: the one that changed last. */
export function useMainService(): Service | undefined {
  const project = useProject()
  const services = useQuery(services_query(project))
  return [...(services.data ?? [])].sort((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at)).find((service) => service.revisions.some((revision) => revision.share > 0))
}

export function useMainMetrics(service: Service | undefined) {
  const project = useProject()
  return useQuery({ ...service_metrics_query(project, service?.name ?? '', '30m'), enabled: service !== undefined })
}

export function LiveTraffic() {
  const { t } = useText()
  const format = useFormat()
  const service = useMainService()
  const metrics = useMainMetrics(service)
  const rate = total_rates(metrics.data).at(-1)
  return (
    <div className="outfig">
      <h3>{t('line.traffic')}</h3>
      <div className="num outn">
        {service ? format.number(rate ?? 0, (rate ?? 0) < 10 ? 1 : 0) : '–'}
        <span className="m"> {t('line.per_s')}</span>
      </div>
      {service && (
        <div className="m outl">
          {t('line.errors', { share: format.percent(last_of(metrics.data, (item) => item.error_share) ?? 0, 2) })}
          <br />
          p99 {last_of(metrics.data, (item) => item.p99_ms) === undefined ? '–' : `${format.number(last_of(metrics.data, (item) => item.p99_ms), 1)} ms`}
        </div>
      )}
    </div>
  )
}

export function Tracks() {
  const format = useFormat()
  const base = useBase()
  const service = useMainService()
  if (!service) return <div className="out" />
  const live = service.revisions.filter((revision) => revision.share > 0).sort((a, b) => b.share - a.share).slice(0, 2)
  const width = (share: number) => Math.max(2, (share / 100) * 12)
  const name = (model: string) => {
    const { version } = parse_ref(model)
    return version ? `v${version}` : model
  }
  const [first, second] = live
  return (
    <Link className="out" href={`${base}/services/${encodeURIComponent(service.name)}`} aria-label={live.map((revision) => `${name(revision.model)} ${format.number(revision.share, 1)}%`).join(', ')}>
      <svg width="106" height="62" viewBox="0 0 106 62" aria-hidden="true">
        {first && (second ? <path d="M0 17H22C30 17 30 10 38 10H52" fill="none" stroke="var(--text-2)" strokeWidth={width(first.share)} /> : <path d="M0 17H52" fill="none" stroke="var(--text-2)" strokeWidth={width(first.share)} />)}
        {first && <path d={second ? 'M52 1.5 62 10 52 18.5z' : 'M52 8.5 62 17 52 25.5z'} fill="var(--text-2)" />}
        {second && <path d="M0 22H18C30 22 28 32 40 32H54" fill="none" stroke="var(--blue)" strokeWidth={width(second.share)} />}
        {second && <path d="M53 27 60 32 53 37z" fill="var(--blue)" />}
      </svg>
      {first && <span className={`tk1 num nw ${second ? '' : 'only'}`}><b className="b">{name(first.model)}</b> {format.number(first.share, 1)}%</span>}
      {second && <span className="tk2 num nw"><b className="b">{name(second.model)}</b> {format.number(second.share, 1)}%</span>}
    </Link>
  )
}
