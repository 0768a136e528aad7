// SPDX-License-Identifier: Apache-2.0
// Data: every dataset with its newest version and what changed in it.
import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { Link } from 'wouter'
import { datasets_query, versions_query, type Dataset, type DatasetVersion } from '../../api/data'
import { useBase, usePage, useProject } from '../../app/context'
import { mark_seen } from '../../app/seen'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { useParams_of_url } from '../../lib/url'
import { Glyph, Icon } from '../../ui/icon'
import { Head, Time } from '../../ui/parts'
import { Empty, Loaded } from '../../ui/states'
import { DataTable, type Column } from '../../ui/table'
import './data.css'

interface Row {
  dataset: Dataset
  newest: DatasetVersion | undefined
  before: DatasetVersion | undefined
}

export default function DataPage() {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const [params, set_params] = useParams_of_url()
  const q = (params.get('q') ?? '').toLowerCase()
  const datasets = useQuery(datasets_query(project))
  useEffect(() => mark_seen(project, 'data'), [project])
  usePage({ title: t('nav.data'), command: { cli: 'takt data ls', route: '/api/v1/datasets' } })
  return (
    <div className="page page-data">
      <Head title={t('nav.data')} sub={datasets.data && t('data.counts', { sets: datasets.data.length, versions: datasets.data.reduce((sum, item) => sum + item.versions, 0) })}>
        <label className="search">
          <Icon name="search" size={14} />
          <input data-filter value={params.get('q') ?? ''} placeholder={t('data.filter')} aria-label={t('data.filter')} onChange={(event) => set_params({ q: event.target.value })} />
        </label>
      </Head>
      <Loaded query={datasets} what={t('data.error')}>
        {(items) =>
          items.length === 0 ? (
            <section className="panel"><Empty title={t('data.none')} text={t('data.none.text')} command="takt data add NAME PATH…" /></section>
          ) : (
            <DatasetTable datasets={items.filter((item) => item.name.toLowerCase().includes(q))} base={base} project={project} />
          )
        }
      </Loaded>
    </div>
  )
}

function DatasetTable({ datasets, base, project }: { datasets: Dataset[]; base: string; project: string }) {
  const { t } = useText()
  const format = useFormat()
  const versions = useQueries({ queries: datasets.slice(0, 100).map((dataset) => versions_query(project, dataset.name)) })
  const rows = datasets.map((dataset, index): Row => {
    const list = versions[index]?.data
    return { dataset, newest: list?.[0], before: list?.[1] }
  })
  const columns = useMemo((): Column<Row>[] => [
    { id: 'name', head: t('name'), cell: ({ dataset }) => <Link className="name" href={`${base}/data/${encodeURIComponent(dataset.name)}`}>{dataset.name}</Link> },
    { id: 'version', head: t('version'), right: true, cell: ({ dataset }) => (dataset.latest ? `@${dataset.latest}` : t('data.removed')) },
    { id: 'rows', head: t('data.rows_or_files'), right: true, cell: ({ newest }) => (newest ? (newest.rows !== undefined && newest.rows !== null ? t('data.rows', { n: newest.rows }) : t('data.files', { n: newest.files })) : '') },
    { id: 'size', head: t('size'), right: true, cell: ({ newest }) => format.bytes(newest?.size_bytes) },
    { id: 'change', head: t('data.change'), cell: (row) => <ChangeBar row={row} /> },
    { id: 'checks', head: t('data.checks'), cell: ({ newest }) => (newest?.checks ? <span className="st"><Glyph name={newest.checks.passed ? 'ok' : 'bad'} />{t('data.checks.of', { passed: newest.checks.rules.filter((rule) => rule.passed).length, all: newest.checks.rules.length })}</span> : <span className="f">–</span>) },
    { id: 'note', head: t('note'), grow: true, className: 'm', cell: ({ newest }) => newest?.note ?? '' },
    { id: 'by', head: t('by'), className: 'm', cell: ({ newest }) => newest?.created_by ?? '' },
    { id: 'added', head: t('data.added'), right: true, className: 'm', cell: ({ dataset }) => <Time at={dataset.updated_at} /> },
  ], [t, format, base])
  return (
    <section className="panel">
      <DataTable label={t('nav.data')} columns={columns} rows={rows} row_key={(row) => row.dataset.name} row_to={(row) => `${base}/data/${encodeURIComponent(row.dataset.name)}`} />
    </section>
  )
}

/** Growth or shrinkage against the version before, in rows or files. */
function ChangeBar({ row: { newest, before } }: { row: Row }) {
  const { t } = useText()
  const format = useFormat()
  if (!newest) return null
  if (!before) return <span className="f">{t('data.first')}</span>
  const by_rows = typeof newest.rows === 'number' && typeof before.rows === 'number'
  const now = by_rows ? newest.rows! : newest.files
  const then = by_rows ? before.rows! : before.files
  const change = now - then
  const share = Math.min(1, Math.abs(change) / Math.max(1, now, then))
  return (
    <span className="chgb" title={t('data.change.title', { from: before.version, to: newest.version })}>
      <u><i className={change < 0 ? 'less' : 'more'} style={{ width: `${Math.max(change ? 6 : 0, share * 100)}%` }} /></u>
      <span className="num">{change === 0 ? t('data.same_count') : (change > 0 ? '+' : '−') + format.number(Math.abs(change))}</span>
    </span>
  )
}
