// SPDX-License-Identifier: Apache-2.0
// Models: what is in production, what is the candidate, what its evaluation says.
import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { Link } from 'wouter'
import { model_versions_query, models_query, type Model, type ModelVersion } from '../../api/models'
import { services_query } from '../../api/services'
import { useBase, usePage, useProject } from '../../app/context'
import { mark_seen } from '../../app/seen'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { parse_ref } from '../../lib/url'
import { Head, Time } from '../../ui/parts'
import { Empty, Loaded } from '../../ui/states'
import { DataTable, type Column } from '../../ui/table'
import './models.css'

interface Row {
  model: Model
  versions: ModelVersion[]
  served: { name: string; version: string; share: number }[]
}

/** The metric that speaks for a model in a list: accuracy if there is one. */
export function main_metric(version: ModelVersion | undefined): [string, number] | undefined {
  const all = Object.entries(version?.metrics ?? {})
  return all.find(([name]) => /accuracy/.test(name)) ?? all.find(([name]) => /f1|auc|score/.test(name)) ?? all[0]
}

export default function ModelsPage() {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const base = useBase()
  const models = useQuery(models_query(project))
  const services = useQuery(services_query(project))
  const list = models.data ?? []
  const versions = useQueries({ queries: list.slice(0, 100).map((model) => model_versions_query(project, model.name)) })
  useEffect(() => mark_seen(project, 'models'), [project])
  usePage({ title: t('nav.models'), command: { cli: 'takt models ls', route: '/api/v1/models' } })
  const rows = list.map((model, index): Row => ({
    model,
    versions: versions[index]?.data ?? [],
    served: (services.data ?? []).flatMap((service) =>
      service.revisions.flatMap((revision) => {
        const ref = parse_ref(revision.model)
        return revision.share > 0 && ref.name === model.name && ref.version ? [{ name: service.name, version: ref.version, share: revision.share }] : []
      }),
    ),
  }))
  const columns = useMemo((): Column<Row>[] => {
    const to = (model: Model, version: number) => `${base}/models/${encodeURIComponent(model.name)}@${version}`
    const alias = (model: Model, name: string) => {
      const version = model.aliases[name]
      return version === undefined ? <span className="f">–</span> : <Link href={to(model, version)}>v{version}</Link>
    }
    return [
      { id: 'name', head: t('model'), cell: ({ model }) => <Link className="name" href={model.latest ? to(model, model.latest) : `${base}/models/${encodeURIComponent(model.name)}`}>{model.name}</Link> },
      { id: 'latest', head: t('model.latest'), right: true, cell: ({ model }) => (model.latest ? <Link href={to(model, model.latest)}>v{model.latest}</Link> : '–') },
      { id: 'production', head: 'production', right: true, cell: ({ model }) => alias(model, 'production') },
      { id: 'candidate', head: 'candidate', right: true, cell: ({ model }) => alias(model, 'candidate') },
      {
        id: 'aliases', head: t('model.aliases'),
        cell: ({ model }) => <span className="tags">{Object.entries(model.aliases).filter(([name]) => name !== 'production' && name !== 'candidate').map(([name, version]) => <span className="tag" key={name}>{name} v{version}</span>)}</span>,
      },
      { id: 'metric', head: t('model.metric'), right: true, cell: ({ versions: all }) => { const found = main_metric(all[0]); return found ? <><span className="f">{found[0]}</span> {format.metric(found[1])}</> : <span className="f">–</span> } },
      { id: 'served', className: 'served', head: t('model.served_by'), grow: true, cell: ({ served }) => served.length ? served.map((item, index) => <span key={`${item.name}${item.version}`}>{index > 0 && ', '}<Link href={`${base}/services/${encodeURIComponent(item.name)}`}>{item.name}</Link> <span className="f">v{item.version} {format.number(item.share)}%</span></span>) : <span className="f">–</span> },
      { id: 'changed', head: t('model.changed'), right: true, className: 'm', cell: ({ model }) => <Time at={model.updated_at} /> },
    ]
  }, [t, format, base])
  return (
    <div className="page page-model">
      <Head title={t('nav.models')} sub={models.data && t('model.counts', { n: list.length, versions: list.reduce((sum, model) => sum + model.versions, 0) })} />
      <Loaded query={models} what={t('model.list.error')}>
        {() => (
          <section className="panel">
            {list.length === 0 ? <Empty title={t('model.none')} text={t('model.none.text')} command="takt models register NAME --run RUN" /> : <DataTable label={t('nav.models')} columns={columns} rows={rows} row_key={(row) => row.model.name} row_to={({ model }) => `${base}/models/${encodeURIComponent(model.name)}${model.latest ? `@${model.latest}` : ''}`} />}
          </section>
        )}
      </Loaded>
    </div>
  )
}
