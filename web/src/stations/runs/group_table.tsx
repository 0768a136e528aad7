// SPDX-License-Identifier: Apache-2.0
// The runs table put together by one column: a row per value, with mean and band of each metric.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { load_runs, type RunSearch } from '../../api/runs'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { lower_is_better } from '../../lib/metrics'
import { Failure, Skeleton } from '../../ui/states'
import { DataTable, type Column } from '../../ui/table'
import { key_of_column, kind_of_column } from './columns_model'
import { RunGrouper, type Band, type RunGroup } from './groups'

const page_size = 1000
const metrics_most = 8
export const grouped_runs_most = 100_000

interface Grouped {
  groups: RunGroup[]
  runs: number
  is_all: boolean
}

export function useGroups(project: string, search: RunSearch, by: string, names: string[]) {
  const metrics = names.filter((name) => kind_of_column(name) === 'metric').slice(0, metrics_most)
  const [read, set_read] = useState(0)
  const query = useQuery({
    queryKey: ['run-groups', project, search.experiment, search.filter, search.order, by, metrics.join()],
    enabled: by !== '',
    staleTime: 30_000,
    retry: false,
    queryFn: async ({ signal }): Promise<Grouped> => {
      const grouper = new RunGrouper(by, metrics)
      let page_token: string | undefined
      set_read(0)
      do {
        const page = await load_runs(project, { ...search, order: '' }, { columns: [by, ...metrics], page_size, page_token }, signal)
        grouper.add(page.items)
        page_token = page.next_page_token || undefined
        set_read(grouper.runs)
      } while (page_token && grouper.runs < grouped_runs_most)
      return { groups: grouper.sorted(search.order), runs: grouper.runs, is_all: !page_token }
    },
  })
  return { query, metrics, read }
}

export function GroupTable({ by, metrics, query, read, sort, onSort, onOpen }: {
  by: string
  metrics: string[]
  query: ReturnType<typeof useGroups>['query']
  read: number
  sort: string
  onSort: (name: string) => void
  onOpen: (group: RunGroup) => void
}) {
  const { t } = useText()
  const format = useFormat()
  if (query.isError) return <section className="panel"><Failure what={t('runs.error')} error={query.error} retry={() => void query.refetch()} /></section>
  const data = query.data
  if (!data) {
    return (
      <section className="panel">
        <p className="pb f" role="status">{t('runs.group.reading', { n: read })}</p>
        <Skeleton rows={6} />
      </section>
    )
  }
  const ranges = new Map(metrics.map((metric) => [metric, range_over(data.groups, metric)]))
  const columns: Column<RunGroup>[] = [
    {
      id: 'value', head: key_of_column(by), className: 'name',
      cell: (group) => <button type="button" className="linkish b" onClick={() => onOpen(group)} title={t('runs.group.open')}>{group.value ?? t('runs.group.without', { name: key_of_column(by) })}</button>,
    },
    { id: 'runs', head: t('nav.runs'), right: true, cell: (group) => format.number(group.runs) },
    ...metrics.map((metric): Column<RunGroup> => ({ id: metric, head: key_of_column(metric), right: true, sort: metric, cell: (group) => <BandCell name={metric} band={group.metrics.get(metric)} range={ranges.get(metric)} /> })),
  ]
  return (
    <section className="panel">
      <p className="pb f group-note">{t(data.is_all ? 'runs.group.all' : 'runs.group.part', { n: data.groups.length, runs: data.runs })}</p>
      <DataTable className="rt" label={t('runs.group.by', { name: key_of_column(by) })} columns={columns} rows={data.groups} row_key={(group) => group.value ?? ''} row_height={28} sort={{ by: sort.replace(/^-/, ''), descending: sort.startsWith('-') }} onSort={onSort} />
    </section>
  )
}

function range_over(groups: RunGroup[], metric: string): { low: number; high: number; best: number } | undefined {
  const bands = groups.flatMap((group) => group.metrics.get(metric) ?? [])
  if (!bands.length) return undefined
  const means = bands.map((band) => band.mean)
  return { low: Math.min(...bands.map((band) => band.low)), high: Math.max(...bands.map((band) => band.high)), best: lower_is_better(metric) ? Math.min(...means) : Math.max(...means) }
}

/** The band over the range of all groups, with a tick at the mean. */
function BandCell({ name, band, range }: { name: string; band: Band | undefined; range: ReturnType<typeof range_over> }) {
  const { t } = useText()
  const format = useFormat()
  if (!band || !range) return <span className="f">–</span>
  const reach = range.high - range.low || 1
  const place = (value: number) => ((value - range.low) / reach) * 100
  const best = band.mean === range.best
  return (
    <span className={`bar band ${best ? 'best' : ''}`} title={t('runs.group.band', { name: key_of_column(name), low: format.metric(band.low), high: format.metric(band.high), n: band.n })}>
      <u>
        <i style={{ left: `${place(band.low)}%`, width: `${Math.max(2, place(band.high) - place(band.low))}%` }} />
        <b style={{ left: `${place(band.mean)}%` }} />
      </u>
      <span className={best ? 'b' : ''}>{format.metric(band.mean)}</span>
      <span className="f half">{band.n > 1 ? `${format.metric(band.low)}–${format.metric(band.high)}` : ''}</span>
    </span>
  )
}
