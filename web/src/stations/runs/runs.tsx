// SPDX-License-Identifier: Apache-2.0
// Runs: table first, curves on demand, both on one page, all of it in the URL.
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import { ApiError } from '../../api/client'
import { experiments_query, load_runs, metric_of, run_columns_query, run_query, type Run, type RunColumn } from '../../api/runs'
import { quote_shell } from '../../app/command'
import { useBase, usePage, useProject } from '../../app/context'
import { mark_seen } from '../../app/seen'
import { useText } from '../../i18n'
import { download } from '../../lib/download'
import { useFormat } from '../../lib/format'
import { looks_of, lower_is_better } from '../../lib/metrics'
import { useParams_of_url } from '../../lib/url'
import { StatusText } from '../../ui/status'
import { Icon } from '../../ui/icon'
import { Button, Head, Time } from '../../ui/parts'
import { Menu } from '../../ui/menu'
import { Empty, Failure, Skeleton } from '../../ui/states'
import { DataTable, type Column } from '../../ui/table'
import { Compare } from './compare_dock'
import { ColumnsDialog } from './columns'
import { FilterField } from './filter'
import { SavedViews } from './views'
import './runs.css'

export const drawn_most = 12
const drawn_at_first = 4

/** The columns of a first visit: what most runs have, metrics first. */
export function default_columns(columns: RunColumn[]): string[] {
  const most = (kind: RunColumn['kind'], count: number) =>
    columns.filter((column) => column.kind === kind && !column.key.startsWith('system/')).sort((a, b) => b.runs - a.runs || metric_rank(a.key) - metric_rank(b.key)).slice(0, count)
  return [...most('metric', 4), ...most('param', 6)].map((column) => column.name)
}

/** Without a choice the first runs are drawn, those with curves before those without. */
export function first_to_draw(runs: Run[]): string[] {
  const with_curves = runs.filter((run) => Object.values(run.metrics).some((metric) => metric.step > 0))
  return (with_curves.length ? with_curves : runs).slice(0, drawn_at_first).map((run) => run.id)
}

function metric_rank(key: string): number {
  const order = ['val_accuracy', 'accuracy', 'val_loss', 'loss', 'f1']
  const index = order.findIndex((name) => key.includes(name))
  return index < 0 ? order.length : index
}

export default function RunsPage() {
  const { t } = useText()
  const project = useProject()
  const [params, set_params] = useParams_of_url()
  const experiment = params.get('exp') ?? ''
  const filter = params.get('q') ?? ''
  const sort = params.get('sort') ?? ''
  const base_id = params.get('base') ?? undefined
  const chosen = (params.get('sel') ?? '').split(',').filter(Boolean)
  const experiments = useQuery(experiments_query(project))
  const all_columns = useQuery(run_columns_query(project, experiment))
  const [choosing, set_choosing] = useState(false)
  const [docked, set_docked] = useState(true)
  useEffect(() => mark_seen(project, 'runs'), [project])
  const names = params.get('cols')?.split(',').filter(Boolean) ?? default_columns(all_columns.data?.items ?? [])

  const runs = useInfiniteQuery({
    queryKey: ['runs', project, 'search', experiment, filter, sort],
    queryFn: ({ pageParam, signal }) => load_runs(project, { experiment, filter, order: sort }, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_page_token || undefined,
    placeholderData: keepPreviousData,
    retry: false,
    refetchInterval: (query) => (query.state.data?.pages.some((page) => page.items.some((run) => run.status === 'running')) ? 5000 : false),
  })
  const answered = useMemo(() => runs.data?.pages.flatMap((page) => page.items), [runs.data])
  // A filter that cannot be read leaves the last answer on the page.
  const kept = useRef<Run[]>(undefined)
  if (answered) kept.current = answered
  const rows = answered ?? kept.current ?? []
  const base_query = useQuery({ ...run_query(project, base_id ?? ''), enabled: base_id !== undefined })
  const base_run = base_id ? (rows.find((run) => run.id === base_id) ?? base_query.data) : undefined
  const shown = base_run ? [base_run, ...rows.filter((run) => run.id !== base_run.id)] : rows
  const drawn_ids = (chosen.length ? chosen : first_to_draw(rows.filter((run) => run.id !== base_id))).slice(0, drawn_most)
  const drawn = [...(base_run ? [base_run] : []), ...drawn_ids.flatMap((id) => shown.find((run) => run.id === id && run.id !== base_id) ?? [])]
  const filter_error = runs.error instanceof ApiError && runs.error.status === 400 ? runs.error : undefined
  const toggle = (id: string) => set_params({ sel: (chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]).join(',') })
  const sort_by = (name: string) => set_params({ sort: sort === `-${name}` ? name : `-${name}` }, true)

  usePage({
    title: t('nav.runs'),
    command: {
      cli: `takt runs ls${experiment ? ` --experiment ${quote_shell(experiment)}` : ''}${filter ? ` --filter ${quote_shell(filter)}` : ''}`,
      route: `/api/v1/runs?${new URLSearchParams([...(experiment ? [['experiment', experiment]] : []), ...(filter ? [['filter', filter]] : []), ...(sort ? [['order', sort]] : [])] as string[][])}`,
    },
    keys: {
      c: () => set_docked(!docked),
      b: () => {
        const id = document.activeElement?.closest('tr')?.getAttribute('data-row')
        if (id) set_params({ base: id === base_id ? null : id })
      },
    },
  })
  const total = all_columns.data?.runs
  const logging = (experiments.data ?? []).filter((item) => !experiment || item.name === experiment).reduce((sum, item) => sum + item.running, 0)
  const views: [string, Record<string, string | null>][] = [
    [t('all'), { q: null }],
    [t('runs.view.logging'), { q: "attributes.status = 'RUNNING'" }],
    [t('runs.view.failed'), { q: "attributes.status = 'FAILED'" }],
  ]
  return (
    <div className="page page-runs">
      <Head
        title={t('nav.runs')}
        pill={
          <Menu
            worded
            label={t('runs.experiment')}
            button={<>{experiment || t('runs.all_experiments')} <Icon name="down" size={14} /></>}
            items={[{ word: t('runs.all_experiments'), current: !experiment, act: () => set_params({ exp: null }, true) }, ...(experiments.data ?? []).map((item) => ({ word: `${item.name} (${item.runs})`, current: item.name === experiment, act: () => set_params({ exp: item.name }, true) }))]}
          />
        }
        sub={total !== undefined && t('runs.counts', { n: total, logging })}
      >
        <Button icon="save" disabled={!rows.length} onClick={() => download('runs.csv', `data:text/csv;charset=utf-8,${encodeURIComponent(to_csv(rows, names))}`)}>CSV</Button>
        <Button icon="cols" onClick={() => set_choosing(true)}>{t('runs.columns')} <span className="f num">{t('runs.columns.of', { n: names.length, all: all_columns.data?.items.length ?? 0 })}</span></Button>
      </Head>
      <div className="flt">
        <SavedViews project={project} builtin={views} />
        <FilterField value={filter} columns={all_columns.data?.items ?? []} error={filter_error} count={runs.data ? t('runs.match', { n: rows.length, more: runs.hasNextPage ? '+' : '' }) : ''} onChange={(value) => set_params({ q: value })} />
      </div>
      {runs.isError && !filter_error && !runs.data ? (
        <section className="panel"><Failure what={t('runs.error')} error={runs.error} retry={() => void runs.refetch()} /></section>
      ) : !runs.data && !kept.current ? (
        <section className="panel">{filter_error ? <p className="pb f">{t('runs.fix_filter')}</p> : <Skeleton rows={8} />}</section>
      ) : rows.length === 0 ? (
        <section className="panel">
          {filter ? <Empty title={t('runs.no_match')} text={filter} /> : <Empty title={t('runs.none')} text={t('runs.none.text')} command={`mlflow.set_tracking_uri("${location.origin}")`} />}
        </section>
      ) : (
        <RunsTable
          runs={shown} base={base_run} names={names} chosen={chosen} drawn={drawn.map((run) => run.id)} sort={sort} onSort={sort_by} onToggle={toggle}
          onBase={(id) => set_params({ base: id === base_id ? null : id })}
          onEnd={() => { if (runs.hasNextPage && !runs.isFetchingNextPage) void runs.fetchNextPage() }}
        />
      )}
      {docked && drawn.length > 0 && <Compare runs={drawn} base={base_run} wanted={chosen.length || drawn.length} />}
      {choosing && <ColumnsDialog columns={all_columns.data?.items ?? []} total={total ?? 0} chosen={names} onChoose={(value) => set_params({ cols: value.join(',') })} onClose={() => set_choosing(false)} />}
    </div>
  )
}

/** The loaded rows with the shown columns. A cell that a spreadsheet would take for a formula is quoted away. */
export function to_csv(runs: Run[], names: string[]): string {
  const cell = (value: string | number | null | undefined) => {
    const text = String(value ?? '').replace(/^[=+@\t\r-](?!\d)/, "'$&")
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const value_of = (run: Run, name: string) => {
    const key = name.slice(name.indexOf('.') + 1)
    if (name.startsWith('metrics.')) return run.metrics[key]?.value as number | string | undefined
    return name.startsWith('params.') ? run.params[key] : run.tags[key]
  }
  const head = ['id', 'name', 'experiment', 'status', 'started_at', 'duration_ms', ...names]
  return [head, ...runs.map((run) => [run.id, run.name, run.experiment, run.status, run.started_at, run.duration_ms, ...names.map((name) => value_of(run, name))])].map((row) => row.map(cell).join(',')).join('\n')
}

function RunsTable(props: {
  runs: Run[]
  base: Run | undefined
  names: string[]
  chosen: string[]
  drawn: string[]
  sort: string
  onSort: (name: string) => void
  onToggle: (id: string) => void
  onBase: (id: string) => void
  onEnd: () => void
}) {
  const { t } = useText()
  const format = useFormat()
  const to = useBase()
  const { runs, base, names, chosen, drawn, sort } = props
  const ranges = useMemo(() => {
    const found = new Map<string, { low: number; high: number; best: number }>()
    for (const name of names) {
      if (!name.startsWith('metrics.')) continue
      const key = name.slice(8)
      const values = runs.map((run) => metric_of(run, key)).filter((value): value is number => value !== null)
      if (values.length) found.set(key, { low: Math.min(...values), high: Math.max(...values), best: lower_is_better(key) ? Math.min(...values) : Math.max(...values) })
    }
    return found
  }, [runs, names])
  const looks = looks_of(drawn, base?.id)
  const columns: Column<Run>[] = [
    {
      id: 'pick', head: <span className="sr">{t('runs.select')}</span>, className: 'pick',
      cell: (run) => run.id === base?.id ? (
        <button type="button" className="pinb" title={t('runs.unpin')} aria-label={t('runs.unpin')} onClick={() => props.onBase(run.id)}><Icon name="pin" size={14} /></button>
      ) : (
        <input type="checkbox" checked={chosen.includes(run.id)} aria-label={t('runs.select_n', { name: run.name })} onChange={() => props.onToggle(run.id)} />
      ),
    },
    { id: 'swatch', head: <Icon name="eye" size={14} />, className: 'sw', cell: (run) => { const look = looks.get(run.id); return <i className={look ? '' : 'off'} style={look && { background: `var(${look.color})` }} /> } },
    { id: 'name', head: t('name'), sort: 'attributes.run_name', className: 'name', cell: (run) => <><Link href={`${to}/runs/${run.id}`}>{run.name || run.id.slice(0, 8)}</Link>{run.id === base?.id ? <span className="f base-word">{t('runs.baseline')}</span> : <button type="button" className="icb pin-on" title={t('runs.pin')} aria-label={t('runs.pin_n', { name: run.name })} onClick={() => props.onBase(run.id)}><Icon name="pin" size={12} /></button>}</> },
    { id: 'state', head: t('state'), sort: 'attributes.status', cell: (run) => <StatusText state={run.status} word={run.status === 'running' ? t('runs.logging') : undefined} /> },
    { id: 'started', head: t('runs.started'), sort: 'attributes.start_time', className: 'm', cell: (run) => <Time at={run.started_at} /> },
    { id: 'took', head: t('took'), right: true, className: 'm', cell: (run) => format.duration(run.duration_ms) },
    ...names.map((name): Column<Run> => {
      const key = name.slice(name.indexOf('.') + 1)
      if (name.startsWith('metrics.')) return { id: name, head: key, sort: name, right: true, cell: (run) => <MetricCell value={metric_of(run, key)} raw={run.metrics[key]?.value as number | string | undefined} range={ranges.get(key)} /> }
      const of = (run: Run) => (name.startsWith('params.') ? run.params[key] : run.tags[key])
      return { id: name, head: key, sort: name, right: true, cell: (run) => { const value = of(run); return <span className={`cellv ${base && base.id !== run.id && of(base) === value ? 'same' : ''}`} title={value}>{value ?? '–'}</span> } }
    }),
  ]
  const metrics = names.filter((name) => name.startsWith('metrics.')).length
  return (
    <section className="panel">
      <DataTable
        className="rt"
        label={t('nav.runs')}
        columns={columns}
        rows={runs}
        row_key={(run) => run.id}
        row_to={(run) => `${to}/runs/${run.id}`}
        row_class={(run) => (run.id === base?.id ? 'base' : chosen.includes(run.id) ? 'sel' : '')}
        row_height={28}
        sort={{ by: sort.replace(/^-/, ''), descending: sort.startsWith('-') }}
        onSort={props.onSort}
        onMark={(run) => props.onToggle(run.id)}
        onEnd={props.onEnd}
        group_head={
          <tr className="gh">
            <th colSpan={6}><span>{t('run')}</span></th>
            {metrics > 0 && <th colSpan={metrics}><span>{t('runs.metrics')}</span></th>}
            {names.length > metrics && <th colSpan={names.length - metrics}><span>{base ? t('runs.params_base') : t('job.params')}</span></th>}
          </tr>
        }
      />
    </section>
  )
}

function MetricCell({ value, raw, range }: { value: number | null; raw: number | string | undefined; range: { low: number; high: number; best: number } | undefined }) {
  const format = useFormat()
  if (value === null) return <span className="f">{typeof raw === 'string' ? raw : '–'}</span>
  const best = range !== undefined && value === range.best && range.low !== range.high
  const share = range && range.high > range.low ? (value - range.low) / (range.high - range.low) : 1
  return (
    <span className={`bar ${best ? 'best' : ''}`}>
      <u><i style={{ width: `${8 + share * 92}%` }} /></u>
      <span className={best ? 'b' : ''}>{format.metric(value)}</span>
    </span>
  )
}
