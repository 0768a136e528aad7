// SPDX-License-Identifier: Apache-2.0
// Comparing runs: what differs, baseline first, and curves with linked cursors.
import { useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { history_query, metric_of, number_of, type MetricHistory, type Run } from '../../api/runs'
import { useBase, useProject } from '../../app/context'
import { LineChart, type Series } from '../../charts/line_chart'
import { join_points, smooth } from '../../charts/smooth'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { looks_of, lower_is_better } from '../../lib/metrics'
import { one_of, useParams_of_url } from '../../lib/url'
import { Icon } from '../../ui/icon'
import { Segments } from '../../ui/parts'
import { Menu } from '../../ui/menu'

const charts_shown = 2
const params_shown = 8

/** Metrics that at least one of the runs has, those of most runs first. */
export function common_metrics(runs: Run[]): string[] {
  const count = new Map<string, number>()
  for (const run of runs) for (const key of Object.keys(run.metrics)) if (!key.startsWith('system/')) count.set(key, (count.get(key) ?? 0) + 1 + (run.metrics[key]!.step > 0 ? runs.length : 0))
  return [...count].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([key]) => key)
}

export function Compare({ runs, base, wanted, whole = false }: { runs: Run[]; base: Run | undefined; wanted: number; whole?: boolean }) {
  const { t } = useText()
  const to = useBase()
  const [params, set_params] = useParams_of_url()
  const x = one_of(params.get('x'), ['step', 'time'])
  const weight = Math.min(0.99, Math.max(0, Number(params.get('smooth') ?? 0) || 0))
  const log = params.get('log') === 'y'
  const metrics = common_metrics(runs)
  const asked = (params.get('charts') ?? '').split(',').filter((key) => metrics.includes(key))
  const keys = asked.length ? asked : metrics.slice(0, whole ? 6 : charts_shown)
  const ids = runs.map((run) => run.id)
  const looks = looks_of(ids, base?.id)
  return (
    <section className={`panel dock ${whole ? 'whole' : ''}`} aria-label={t('compare')}>
      <div className="dh">
        <h2>{t('compare.n', { n: runs.length })}</h2>
        {wanted > runs.length && <span className="f">{t('compare.drawn', { n: runs.length, all: wanted })}</span>}
        <span className="grow" />
        <label className="ctl">
          {t('compare.smooth')}
          <input type="range" min="0" max="0.95" step="0.05" value={weight} onChange={(event) => set_params({ smooth: Number(event.target.value) ? event.target.value : null })} />
          <span className="num">{weight.toFixed(2)}</span>
        </label>
        <Segments label={t('compare.x')} value={x} onChange={(value) => set_params({ x: value === 'step' ? null : value })} options={[['step', t('compare.step')], ['time', t('time')]]} />
        <label className="ctl"><input type="checkbox" role="switch" className="sws" checked={log} onChange={() => set_params({ log: log ? null : 'y' })} />{t('compare.log')}</label>
        {!whole && <Link className="btn s" href={`${to}/runs/compare?ids=${ids.join(',')}${base ? `&base=${base.id}` : ''}`}>{t('compare.page')}</Link>}
      </div>
      <div className="dg">
        <Differences runs={runs} base={base} looks={looks} whole={whole} />
        {keys.map((key, index) => (
          <div key={key}>
            <CurveChart
              name={key} runs={runs} base={base} x={x} weight={weight} log={log}
              pick={<Menu worded label={t('compare.metric')} className="linkish" button={<b>{key} <Icon name="down" size={12} className="inl" /></b>} items={metrics.slice(0, 60).map((other) => ({ word: other, current: other === key, act: () => set_params({ charts: keys.map((old, k) => (k === index ? other : old)).join(',') }) }))} />}
            />
          </div>
        ))}
        {keys.length === 0 && <p className="f pb">{t('compare.no_metrics')}</p>}
      </div>
    </section>
  )
}

function Differences({ runs, base, looks, whole }: { runs: Run[]; base: Run | undefined; looks: ReturnType<typeof looks_of>; whole: boolean }) {
  const { t } = useText()
  const format = useFormat()
  const to = useBase()
  const [all, set_all] = useState(whole)
  const keys = useMemo(() => [...new Set(runs.flatMap((run) => Object.keys(run.params)))].sort(), [runs])
  const differing = keys.filter((key) => new Set(runs.map((run) => run.params[key])).size > 1)
  const shown = all ? keys : differing.slice(0, params_shown)
  const metrics = common_metrics(runs).slice(0, all ? 20 : 4)
  const first = base ?? runs[0]
  return (
    <div className="diffs">
      <div className="ct">
        <b>{t('compare.differences')}</b>
        <span className="f">{t('compare.of', { n: differing.length, all: keys.length })}</span>
        <button type="button" className="linkish push" onClick={() => set_all(!all)}>{all ? t('compare.only') : t('compare.all')}</button>
      </div>
      <div className="scroll">
        <table className="df" aria-label={t('compare.differences')}>
          <thead>
            <tr>
              <th scope="col"><span className="sr">{t('name')}</span></th>
              {runs.map((run) => {
                const look = looks.get(run.id)
                return (
                  <th key={run.id} scope="col" title={run.name}>
                    <Link href={`${to}/runs/${run.id}`} className="ink"><i className={`key ${look?.dash ? 'd' : ''}`} style={look?.dash ? { borderColor: `var(${look.color})` } : { background: look && `var(${look.color})` }} /> {short(run.name || run.id)}</Link>
                  </th>
                )
              })}
            </tr>
          </thead>
          <tbody>
            {shown.map((key, index) => (
              <tr key={key} className={index === shown.length - 1 ? 'cut' : ''}>
                <td className="mono" title={key}>{key}</td>
                {runs.map((run) => <td key={run.id} className={run.id === first?.id ? '' : run.params[key] === first?.params[key] ? 'e' : 'n'} title={run.params[key]}>{run.params[key] ?? '–'}</td>)}
              </tr>
            ))}
            {metrics.map((key) => {
              const values = runs.map((run) => metric_of(run, key))
              const known = values.filter((value): value is number => value !== null)
              const best = lower_is_better(key) ? Math.min(...known) : Math.max(...known)
              return (
                <tr key={key}>
                  <td title={key}>{key}</td>
                  {runs.map((run, index) => <td key={run.id} className={values[index] === best && known.length > 1 ? 'n' : ''}>{format.metric(values[index])}</td>)}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </div>
  )
}

function short(name: string): string {
  const number = /-(\d{2,6})$/.exec(name)
  return number ? number[1]! : name.length > 12 ? `…${name.slice(-10)}` : name
}

export function CurveChart({ name, runs, base, x, weight, log, pick }: {
  name: string
  runs: Run[]
  base?: Run | undefined
  x: 'step' | 'time'
  weight: number
  log: boolean
  pick?: React.ReactNode
}) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const with_metric = runs.filter((run) => run.metrics[name] !== undefined)
  const histories = useQueries({ queries: with_metric.map((run) => history_query(project, run.id, name, run.status === 'running')) })
  const stamp = histories.map((query) => query.dataUpdatedAt).join()
  const looks = looks_of(runs.map((run) => run.id), base?.id)
  const { joined, series } = useMemo(() => {
    const points = histories.map((query, index) => points_of(query.data, x, with_metric[index]))
    const joined = join_points(points)
    const series: Series[] = []
    with_metric.forEach((run, index) => {
      const look = looks.get(run.id)!
      const raw = joined.values[index] ?? []
      const line = { name: run.name || run.id.slice(0, 8), color: look.color, dash: look.dash, width: run.id === base?.id ? 1.75 : 2.25 }
      if (weight > 0) {
        series.push({ ...line, name: `${line.name} raw`, values: raw, faint: true, dash: undefined })
        series.push({ ...line, values: spread(smooth(points[index]!.y, weight), points[index]!.x, joined.x) })
      } else series.push({ ...line, values: raw })
    })
    return { joined, series }
  }, [stamp, x, weight, name, runs.map((run) => run.id).join(), base?.id])
  const thinned = histories.some((query) => query.data?.is_thinned)
  const shown = histories.reduce((sum, query) => sum + (query.data?.points.length ?? 0), 0)
  const total = histories.reduce((sum, query) => sum + (query.data?.total ?? 0), 0)
  const last = with_metric.map((run) => `${run.name} ${format.metric(metric_of(run, name))}`).join(', ')
  return (
    <>
      <div className="ct">
        {pick ?? <b>{name}</b>}
        <span className="f">{lower_is_better(name) ? t('compare.lower') : t('compare.higher')}{thinned ? ` · ${t('compare.points', { n: shown, all: total })}` : ''}</span>
      </div>
      {histories.every((query) => query.isError) && with_metric.length > 0 ? (
        <p className="t-red">{String(histories[0]?.error?.message ?? '')}</p>
      ) : (
        <LineChart
          title={name}
          summary={t('compare.summary', { n: with_metric.length, last })}
          x={joined.x}
          series={series}
          x_word={x === 'step' ? t('compare.step') : undefined}
          say={format.metric}
          say_tick={(value) => format.number(value, 4)}
          log={log}
          height={210}
          sync="runs"
        />
      )}
    </>
  )
}

function points_of(history: MetricHistory | undefined, x: 'step' | 'time', run: Run | undefined): { x: number[]; y: (number | null)[] } {
  const start = Date.parse(run?.started_at ?? '') || Date.parse(history?.points[0]?.at ?? '') || 0
  const points = history?.points ?? []
  return {
    x: points.map((point) => (x === 'step' ? point.step : Math.max(0, (Date.parse(point.at) - start) / 1000))),
    y: points.map((point) => number_of(point.value as number | string)),
  }
}

function spread(values: (number | null)[], own: number[], x: number[]): (number | null | undefined)[] {
  const index_of = new Map(x.map((value, index) => [value, index]))
  const row: (number | null | undefined)[] = new Array<undefined>(x.length).fill(undefined)
  own.forEach((value, index) => {
    row[index_of.get(value)!] = values[index]
  })
  return row
}
