// SPDX-License-Identifier: Apache-2.0
// The columns of the runs table and what stands in their cells.
import { useEffect, useMemo, useRef } from 'react'
import { Link } from 'wouter'
import { metric_of, type Run } from '../../api/runs'
import { useBase } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { looks_of, lower_is_better } from '../../lib/metrics'
import { Icon } from '../../ui/icon'
import { Time } from '../../ui/parts'
import { StatusText } from '../../ui/status'
import { key_of_column, kind_of_column, value_in, type ColumnFacts, type ColumnGatherer } from './columns_model'
import { Grid, type GridColumn } from './grid'
import type { RunList } from './run_list'

/** Rows that stand for "there is more" while the server does not say how many. */
const rows_ahead = 30
const load_ahead = 100
const column_width = { metric: 138, param: 96, tag: 120, run: 110 }

interface Props {
  list: RunList
  rows: Run[]
  base: Run | undefined
  names: string[]
  gatherer: ColumnGatherer
  chosen: string[]
  drawn: string[]
  sort: string
  /** What is listed: another one is looked at from its beginning. */
  search: string
  with_experiment: boolean
  onSort: (name: string) => void
  onToggle: (id: string) => void
  onBase: (id: string) => void
}

export function RunsTable(props: Props) {
  const { t } = useText()
  const to = useBase()
  const { list, rows, base, chosen, sort } = props
  const latest = useRef(props)
  latest.current = props
  const pinned = usePinned(props, latest)
  const columns = useColumns(props)
  const mark = useRef((run: Run) => { if (run.id !== latest.current.base?.id) latest.current.onToggle(run.id) }).current
  useEffect(() => {
    document.querySelector('.page-runs .rt.virtual')?.scrollTo({ top: 0 })
  }, [props.search])
  // The baseline stands above all others, not among them too.
  const others = useMemo(() => (base ? rows.filter((run) => run.id !== base.id) : rows), [rows, base?.id])
  const all = Math.max(rows.length, list.total ?? rows.length + (list.is_more ? rows_ahead : 0))
  return (
    <section className="panel">
      {list.waiting > 0 && <button type="button" className="new-rows" onClick={list.show_waiting}>{t('table.new', { n: list.waiting })}</button>}
      <Grid
        label={t('nav.runs')}
        pinned={pinned}
        columns={columns}
        rows={others}
        total={all - (rows.length - others.length)}
        base={base}
        row_key={(run) => run.id}
        row_to={(run) => `${to}/runs/${run.id}`}
        row_class={(run) => (run.id === base?.id ? 'base' : run.is_deleted ? 'gone' : chosen.includes(run.id) ? 'sel' : '')}
        sort={{ by: sort.replace(/^-/, ''), descending: sort.startsWith('-') }}
        onSort={props.onSort}
        onMark={mark}
        onReach={(index) => { if (index >= rows.length - load_ahead) list.load_more() }}
        onSight={(seen, names) => list.see({ ids: seen.map((run) => run.id), names: names.filter((name) => kind_of_column(name) !== 'run') })}
      />
    </section>
  )
}

/** Choice, colour and name: they stay in sight. */
function usePinned({ base, chosen, drawn, onBase }: Props, latest: { current: Props }): GridColumn<Run>[] {
  const { t } = useText()
  const to = useBase()
  const looks = useMemo(() => looks_of(drawn, base?.id), [drawn.join(), base?.id])
  return useMemo((): GridColumn<Run>[] => [
    {
      id: 'pick', width: 34, head: <span className="sr">{t('runs.select')}</span>, className: 'pick',
      cell: (run) => run.id === base?.id ? (
        <button type="button" className="pinb" title={t('runs.unpin')} aria-label={t('runs.unpin')} onClick={() => onBase(run.id)}><Icon name="pin" size={14} /></button>
      ) : (
        <input type="checkbox" checked={chosen.includes(run.id)} aria-label={t('runs.select_n', { name: run.name })} onChange={() => latest.current.onToggle(run.id)} />
      ),
    },
    { id: 'swatch', width: 26, head: <><Icon name="eye" size={14} /><span className="sr">{t('runs.drawn')}</span></>, className: 'sw', cell: (run) => { const look = looks.get(run.id); return <i className={look ? '' : 'off'} style={look && { background: `var(${look.color})` }} /> } },
    {
      id: 'name', width: 204, head: t('name'), sort: 'attributes.run_name', className: 'name', group: t('run'),
      cell: (run) => (
        <>
          <Link href={`${to}/runs/${run.id}`}>{run.name || run.id.slice(0, 8)}</Link>
          {run.id === base?.id ? <span className="f base-word">{t('runs.baseline')}</span> : <button type="button" className="icb pin-on" title={t('runs.pin')} aria-label={t('runs.pin_n', { name: run.name })} onClick={() => latest.current.onBase(run.id)}><Icon name="pin" size={12} /></button>}
        </>
      ),
    },
  ], [t, to, chosen, looks, base?.id])
}

function useColumns({ list, rows, base, names, gatherer, with_experiment }: Props): GridColumn<Run>[] {
  const { t } = useText()
  const format = useFormat()
  const knows = useRef(list.knows)
  knows.current = list.knows
  const loaded = useRef(rows)
  loaded.current = rows
  return useMemo((): GridColumn<Run>[] => {
    return [
      { id: 'state', width: 106, head: t('state'), sort: 'attributes.status', cell: (run) => <StatusText state={run.is_deleted ? 'deleted' : run.status} word={run.status === 'running' ? t('runs.logging') : undefined} /> },
      { id: 'started', width: 92, head: t('runs.started'), sort: 'attributes.start_time', className: 'm', cell: (run) => <Time at={run.started_at} /> },
      { id: 'took', width: 78, head: t('took'), right: true, className: 'm', cell: (run) => format.duration(run.duration_ms) },
      ...(with_experiment ? [{ id: 'experiment', width: 130, head: t('runs.experiment'), className: 'm ell', cell: (run: Run) => <span title={run.experiment}>{run.experiment}</span> }] : []),
      ...names.map((name): GridColumn<Run> => {
        const kind = kind_of_column(name)
        const key = key_of_column(name)
        const shared = { id: name, head: <span className="ell" title={name}>{key}</span>, sort: name, right: true, width: column_width[kind] }
        const waits = (run: Run) => run.id !== base?.id && !knows.current(run.id, name)
        if (kind === 'metric') return { ...shared, group: t('runs.metrics'), cell: (run) => waits(run) ? <Unknown /> : <MetricCell name={key} value={metric_of(run, key)} raw={value_in(run, name)} facts={gatherer.facts(loaded.current, name)} /> }
        return {
          ...shared, group: kind === 'param' ? (base ? t('runs.params_base') : t('job.params')) : t('run.tags'),
          cell: (run) => {
            if (waits(run)) return <Unknown />
            const value = value_in(run, name)
            return <span className={`cellv ${base && base.id !== run.id && value_in(base, name) === value ? 'same' : ''}`} title={value === undefined ? undefined : String(value)}>{value ?? '–'}</span>
          },
        }
      }),
    ]
  }, [t, format, names, base?.id, with_experiment, rows])
}

const Unknown = () => <span className="f" aria-hidden="true">·</span>

function MetricCell({ name, value, raw, facts }: { name: string; value: number | null; raw: number | string | undefined; facts: ColumnFacts }) {
  const format = useFormat()
  if (value === null) return <span className="f">{typeof raw === 'string' ? raw : '–'}</span>
  const has_range = facts.high > facts.low
  const best = has_range && value === (lower_is_better(name) ? facts.low : facts.high)
  const share = has_range ? (value - facts.low) / (facts.high - facts.low) : 1
  return (
    <span className={`bar ${best ? 'best' : ''}`}>
      <u><i style={{ width: `${Math.min(100, 8 + share * 92)}%` }} /></u>
      <span className={best ? 'b' : ''}>{format.metric(value)}</span>
    </span>
  )
}
