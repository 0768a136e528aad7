// SPDX-License-Identifier: Apache-2.0
// Runs: table first, curves on demand, both on one page, all of it in the URL.
import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { ApiError } from '../../api/client'
import { experiments_query, run_columns_query, run_query, run_sample_query, type Run } from '../../api/runs'
import { quote_shell } from '../../app/command'
import { usePage, useProject } from '../../app/context'
import { mark_seen } from '../../app/seen'
import { useText } from '../../i18n'
import { download } from '../../lib/download'
import { useParams_of_url } from '../../lib/url'
import { Icon } from '../../ui/icon'
import { Button, Head } from '../../ui/parts'
import { Menu } from '../../ui/menu'
import { Empty, Failure, Skeleton } from '../../ui/states'
import { Compare } from './compare_dock'
import { ColumnsDialog } from './columns'
import { ColumnGatherer, columns_of, default_columns, expand_columns, narrowed, value_in } from './columns_model'
import { FilterField } from './filter'
import { GroupTable, useGroups } from './group_table'
import { useRunList } from './run_list'
import { RunsTable } from './runs_table'
import { SavedViews } from './views'
import './runs.css'

export const drawn_most = 12
const drawn_at_first = 4

/** Without a choice the first runs are drawn, those with curves before those without. */
export function first_to_draw(runs: Run[]): string[] {
  const first = runs.slice(0, 200)
  const with_curves = first.filter((run) => Object.values(run.metrics).some((metric) => metric.step > 0))
  return (with_curves.length ? with_curves : first).slice(0, drawn_at_first).map((run) => run.id)
}

export default function RunsPage() {
  const { t } = useText()
  const project = useProject()
  const [params, set_params] = useParams_of_url()
  const experiment = params.get('exp') ?? ''
  const filter = params.get('q') ?? ''
  const sort = params.get('sort') ?? ''
  const base_id = params.get('base') ?? undefined
  const group = params.get('group') ?? ''
  const diff_only = params.get('diff') === 'y'
  const chosen = useMemo(() => (params.get('sel') ?? '').split(',').filter(Boolean), [params.get('sel')])
  const experiments = useQuery(experiments_query(project))
  const all_columns = useQuery(run_columns_query(project, experiment))
  const known_columns = all_columns.data?.items ?? []
  const [choosing, set_choosing] = useState(false)
  const [docked, set_docked] = useState(true)
  useEffect(() => mark_seen(project, 'runs'), [project])
  const asked = params.get('cols')
  const sample = useQuery(run_sample_query(project, experiment))
  const defaults = useMemo(() => default_columns(columns_of(sample.data ?? [])), [sample.data])
  const names = useMemo(() => (asked === null ? defaults : expand_columns(asked.split(',').filter(Boolean), known_columns)), [asked, defaults, all_columns.data])

  const search = { experiment, filter, order: sort }
  const list = useRunList(project, search, names, asked !== null ? !asked.includes('*') || !all_columns.isPending : !sample.isPending)
  const groups = useGroups(project, search, group, names)
  // A filter that cannot be read leaves the last answer on the page.
  const kept = useRef<Run[]>(undefined)
  if (list.is_loaded) kept.current = list.rows
  const rows = list.is_loaded ? list.rows : (kept.current ?? [])
  const base_query = useQuery({ ...run_query(project, base_id ?? ''), enabled: base_id !== undefined })
  const base_run = base_id ? (base_query.data ?? rows.find((run) => run.id === base_id)) : undefined
  const gatherer = useRef(new ColumnGatherer()).current
  const shown_names = useMemo(() => (diff_only && rows.length > 1 ? names.filter((name) => gatherer.facts(rows, name).varies) : names), [diff_only, names, rows])
  const drawn_ids = (chosen.length ? chosen : first_to_draw(rows.filter((run) => run.id !== base_id))).slice(0, drawn_most)
  const details = useQueries({ queries: drawn_ids.filter((id) => id !== base_id).map((id) => run_query(project, id)) })
  const drawn = [...(base_run ? [base_run] : []), ...details.flatMap((query) => query.data ?? [])]
  const error = list.error
  const filter_error = error instanceof ApiError && error.status === 400 ? error : undefined
  const toggle = (id: string) => set_params({ sel: (chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]).join(',') })
  const sort_by = (name: string) => set_params({ sort: sort === `-${name}` ? name : `-${name}` }, true)
  const pin = (id: string) => set_params({ base: id === base_id ? null : id })

  usePage({
    title: t('nav.runs'),
    command: {
      cli: `takt runs ls${experiment ? ` --experiment ${quote_shell(experiment)}` : ''}${filter ? ` --filter ${quote_shell(filter)}` : ''}`,
      route: `/api/v1/runs?${new URLSearchParams([...(experiment ? [['experiment', experiment]] : []), ...(filter ? [['filter', filter]] : []), ...(sort ? [['order', sort]] : [])] as string[][])}`,
    },
    keys: {
      c: () => set_docked(!docked),
      u: () => document.querySelector<HTMLElement>('.group-menu button')?.click(),
      b: () => {
        const id = document.activeElement?.closest('tr')?.getAttribute('data-row')
        if (id) pin(id)
      },
    },
  })
  const all_runs = all_columns.data?.runs
  const logging = (experiments.data ?? []).filter((item) => !experiment || item.name === experiment).reduce((sum, item) => sum + item.running, 0)
  const views: [string, Record<string, string | null>][] = [
    [t('all'), { q: null }],
    [t('runs.view.logging'), { q: "attributes.status = 'RUNNING'" }],
    [t('runs.view.failed'), { q: "attributes.status = 'FAILED'" }],
  ]
  const matching = list.total ?? rows.length
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
        sub={all_runs !== undefined && t('runs.counts', { n: all_runs, logging })}
      >
        <Button icon="save" disabled={!rows.length} onClick={() => download('runs.csv', `data:text/csv;charset=utf-8,${encodeURIComponent(to_csv(rows, names))}`)}>CSV</Button>
        <GroupMenu group={group} names={known_columns.filter((column) => column.kind !== 'metric' && !column.key.startsWith('mlflow.')).map((column) => column.name)} onGroup={(name) => set_params({ group: name }, true)} />
        <Button icon="cols" onClick={() => set_choosing(true)}>{t('runs.columns')} <span className="f num">{t('runs.columns.of', { n: shown_names.length, all: known_columns.length })}</span></Button>
      </Head>
      <div className="flt">
        <SavedViews project={project} builtin={views} />
        <FilterField value={filter} columns={known_columns} error={filter_error} count={list.is_loaded ? t('runs.match', { n: matching, more: list.total === undefined ? '+' : '' }) : ''} onChange={(value) => set_params({ q: value })} />
        <label className="ctl"><input type="checkbox" role="switch" className="sws" checked={diff_only} onChange={() => set_params({ diff: diff_only ? null : 'y' })} />{t('runs.diff_only')}</label>
      </div>
      {error && !filter_error && !list.is_loaded ? (
        <section className="panel"><Failure what={t('runs.error')} error={error} retry={list.retry} /></section>
      ) : group && !filter_error ? (
        <GroupTable by={group} {...groups} sort={sort} onSort={sort_by} onOpen={(item) => set_params({ group: null, q: narrowed(filter, group, item.value) }, true)} />
      ) : !list.is_loaded && !kept.current ? (
        <section className="panel">{filter_error ? <p className="pb f">{t('runs.fix_filter')}</p> : <Skeleton rows={8} />}</section>
      ) : rows.length === 0 ? (
        <section className="panel">
          {list.waiting > 0 ? <p className="pb"><Button small onClick={list.show_waiting}>{t('table.new', { n: list.waiting })}</Button></p> : filter ? <Empty title={t('runs.no_match')} text={filter} /> : <Empty title={t('runs.none')} text={t('runs.none.text')} command={`mlflow.set_tracking_uri("${location.origin}")`} />}
        </section>
      ) : (
        <RunsTable
          list={list} rows={rows} base={base_run} names={shown_names} gatherer={gatherer} chosen={chosen} drawn={drawn.map((run) => run.id)} sort={sort} search={[experiment, filter, sort].join('\n')} with_experiment={!experiment && (experiments.data?.length ?? 0) > 1}
          onSort={sort_by} onToggle={toggle} onBase={pin}
        />
      )}
      {docked && (group ? (groups.query.data?.groups.length ?? 0) > 0 : drawn.length > 0) && (
        <Compare runs={drawn} base={base_run} wanted={chosen.length || drawn.length} many={rows} groups={group ? groups.query.data?.groups : undefined} />
      )}
      {choosing && <ColumnsDialog columns={known_columns} total={all_runs ?? 0} chosen={names} onChoose={(value) => set_params({ cols: value.join(',') })} onClose={() => set_choosing(false)} />}
    </div>
  )
}

function GroupMenu({ group, names, onGroup }: { group: string; names: string[]; onGroup: (name: string | null) => void }) {
  const { t } = useText()
  return (
    <span className="group-menu">
      <Menu
        worded
        align="end"
        label={t('runs.group')}
        button={<>{group ? t('runs.group.by', { name: group.slice(group.indexOf('.') + 1) }) : t('runs.group')} <Icon name="down" size={14} /></>}
        items={[{ word: t('runs.group.none'), current: !group, act: () => onGroup(null) }, ...names.slice(0, 60).map((name) => ({ word: name, current: name === group, act: () => onGroup(name) }))]}
      />
    </span>
  )
}

/** The loaded rows with the shown columns. A cell that a spreadsheet would take for a formula is quoted away. */
export function to_csv(runs: Run[], names: string[]): string {
  const cell = (value: string | number | null | undefined) => {
    const text = String(value ?? '').replace(/^[=+@\t\r-](?!\d)/, "'$&")
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const head = ['id', 'name', 'experiment', 'status', 'started_at', 'duration_ms', ...names]
  return [head, ...runs.map((run) => [run.id, run.name, run.experiment, run.status, run.started_at, run.duration_ms, ...names.map((name) => value_in(run, name))])].map((row) => row.map(cell).join(',')).join('\n')
}
