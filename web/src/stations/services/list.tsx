// SPDX-License-Identifier: Apache-2.0
// Services: state, split, signals, replicas.
import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { Link } from 'wouter'
import { canary_of, replicas_of, service_metrics_query, services_query, stable_of, type Service, type ServiceMetrics } from '../../api/services'
import { useBase, usePage, useProject } from '../../app/context'
import { mark_seen } from '../../app/seen'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { short_ref } from '../../lib/url'
import { StatusText } from '../../ui/status'
import { Head, Spark, Time } from '../../ui/parts'
import { Empty, Loaded } from '../../ui/states'
import { DataTable, type Column } from '../../ui/table'
import { last_of, total_rates } from './figures'
import './services.css'

interface Row {
  service: Service
  metrics: ServiceMetrics | undefined
}

export default function ServicesPage() {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const base = useBase()
  const services = useQuery({ ...services_query(project), refetchInterval: 10_000 })
  const list = services.data ?? []
  const metrics = useQueries({ queries: list.slice(0, 30).map((service) => service_metrics_query(project, service.name, '30m')) })
  useEffect(() => mark_seen(project, 'services'), [project])
  usePage({ title: t('nav.services'), command: { cli: 'takt services ls', route: '/api/v1/services' } })
  const rows = list.map((service, index): Row => ({ service, metrics: metrics[index]?.data }))
  const columns = useMemo((): Column<Row>[] => [
    { id: 'name', head: t('service'), cell: ({ service }) => <Link className="name" href={`${base}/services/${encodeURIComponent(service.name)}`}>{service.name}</Link> },
    { id: 'state', head: t('state'), cell: ({ service }) => <StatusText state={service.state} /> },
    {
      id: 'split', head: t('traffic'), grow: true,
      cell: ({ service }) => {
        const stable = stable_of(service)
        const canary = canary_of(service)
        return (
          <span className="row">
            <span className="split mini-split" aria-hidden="true">
              {stable && stable.share > 0 && <i style={{ width: `${stable.share}%` }} />}
              {canary && canary.share > 0 && <i className="can" style={{ width: `${canary.share}%` }} />}
            </span>
            <span className="num m">{[stable, canary].flatMap((revision) => (revision ? [`${short_ref(revision.model)} ${format.number(revision.share, 1)}%`] : [])).join(' · ')}</span>
          </span>
        )
      },
    },
    { id: 'rate', head: t('service.rate'), right: true, cell: ({ metrics: data }) => <span className="row rr"><Spark values={total_rates(data)} width={80} fill />{format.number(total_rates(data).at(-1), 1)}</span> },
    { id: 'p99', head: 'p99', right: true, cell: ({ metrics: data }) => { const value = last_of(data, (item) => item.p99_ms); return value === undefined ? '–' : `${format.number(value, 1)} ms` } },
    { id: 'errors', head: t('side.errors'), right: true, cell: ({ metrics: data }) => format.percent(last_of(data, (item) => item.error_share), 2) },
    { id: 'replicas', head: t('replicas'), right: true, cell: ({ service }) => t('replicas.n', replicas_of([service])) },
    { id: 'changed', head: t('model.changed'), right: true, className: 'm', cell: ({ service }) => <Time at={service.updated_at} /> },
  ], [t, format, base])
  return (
    <div className="page page-service">
      <Head title={t('nav.services')} sub={services.data && t('service.counts', { n: list.length })} />
      <Loaded query={services} what={t('service.list.error')}>
        {() => (
          <section className="panel">
            {list.length === 0 ? <Empty title={t('service.none')} text={t('service.none.text')} command="takt deploy NAME --model M@production" /> : <DataTable label={t('nav.services')} columns={columns} rows={rows} row_key={(row) => row.service.name} row_to={({ service }) => `${base}/services/${encodeURIComponent(service.name)}`} />}
          </section>
        )}
      </Loaded>
    </div>
  )
}
