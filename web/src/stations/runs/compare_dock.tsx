// SPDX-License-Identifier: Apache-2.0
// Comparing runs, under the table or as a page: curves with linked cursors, what differs, parallel coordinates, scatter,
// and what their artifacts show.
import { useMemo, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Run } from '../../api/runs'
import { useBase } from '../../app/context'
import { useText } from '../../i18n'
import { looks_of, type Look } from '../../lib/metrics'
import { one_of, useParams_of_url } from '../../lib/url'
import { Icon } from '../../ui/icon'
import { Segments, Tabs } from '../../ui/parts'
import { Menu } from '../../ui/menu'
import { common_metrics } from './compare_model'
import { CurveChart, CurveGrid, GroupCurveChart, groups_drawn_most, look_of_group, useCurveLook, type CurveLook } from './curves'
import { Differences } from './differences'
import type { RunGroup } from './groups'
import { Parallel } from './parallel'
import { MatrixCompare, PictureCompare } from './pictures'
import { MadeOf } from './run_diff'
import { Scatter } from './scatter'

const charts_in_dock = 2
/** Parallel coordinates and scatter take more runs than curves do. */
const many_most = 2000
const tabs = ['curves', 'table', 'made', 'parallel', 'scatter', 'matrix', 'pictures'] as const
type Tab = (typeof tabs)[number]

interface Props {
  /** Those that are drawn, the baseline first. */
  runs: Run[]
  base: Run | undefined
  wanted: number
  /** All that were loaded, for the views that can show many. */
  many?: Run[]
  groups?: RunGroup[] | undefined
  whole?: boolean
}

export function Compare({ runs, base, wanted, many, groups, whole = false }: Props) {
  const { t } = useText()
  const [params, set_params] = useParams_of_url()
  const tab = one_of(params.get('tab'), tabs)
  const look = useCurveLook()
  const ids = runs.map((run) => run.id).join()
  const looks = useMemo(() => looks_of(runs.map((run) => run.id), base?.id), [ids, base?.id])
  const shown = useMemo(() => (many?.length ? many : runs).slice(0, many_most), [many, ids])
  const select = (chosen: string[]) => set_params({ sel: chosen.slice(0, 50).join(','), brush: null }, true)
  const filter = (clauses: string[]) => set_params({ q: [params.get('q')?.trim(), ...clauses].filter(Boolean).join(' AND '), brush: null }, true)
  return (
    <section className={`panel dock ${whole ? 'whole' : ''}`} aria-label={t('compare')}>
      <div className="dh">
        <h2 className={whole ? 'sr' : ''}>{groups ? t('runs.group.n', { n: groups.length }) : t('compare.n', { n: runs.length })}</h2>
        <Tabs<Tab> label={t('compare')} value={tab} options={tabs.map((name) => [name, t(`compare.tab.${name}`)])} onChange={(name) => set_params({ tab: name === 'curves' ? null : name })} />
        {wanted > runs.length && !groups && <span className="f">{t('compare.drawn', { n: runs.length, all: wanted })}</span>}
        <span className="grow" />
        {tab === 'curves' && <CurveControls look={look} runs={runs} />}
        {!whole && <PageLink ids={runs.map((run) => run.id)} base={base?.id} />}
      </div>
      {tab === 'curves' && (groups ? <GroupCurves groups={groups} runs={runs} look={look} /> : whole ? <AllCurves runs={runs} base={base} look={look} /> : <FewCurves runs={runs} base={base} looks={looks} look={look} />)}
      {tab === 'table' && <div className="dv"><Differences runs={runs} base={base} looks={looks} whole /></div>}
      {tab === 'made' && <div className="dv"><MadeOf runs={runs} base={base} looks={looks} /></div>}
      {tab === 'parallel' && <div className="dv"><Parallel runs={shown} looks={looks} base={base} onSelect={select} onFilter={whole ? undefined : filter} /></div>}
      {tab === 'scatter' && <div className="dv"><Scatter runs={shown} looks={looks} base={base} /></div>}
      {tab === 'matrix' && <div className="dv"><MatrixCompare runs={runs} looks={looks} /></div>}
      {tab === 'pictures' && <div className="dv"><PictureCompare runs={runs} looks={looks} /></div>}
    </section>
  )
}

function PageLink({ ids, base }: { ids: string[]; base: string | undefined }) {
  const { t } = useText()
  const to = useBase()
  const [params] = useParams_of_url()
  const kept = ['tab', 'x', 'smooth', 'log', 'axes', 'brush', 'sx', 'sy'].flatMap((name) => (params.has(name) ? [`&${name}=${encodeURIComponent(params.get(name)!)}`] : []))
  return <Link className="btn s" href={`${to}/runs/compare?ids=${ids.join(',')}${base ? `&base=${base}` : ''}${kept.join('')}`}>{t('compare.page')}</Link>
}

function CurveControls({ look, runs }: { look: CurveLook; runs: Run[] }) {
  const { t } = useText()
  const [, set_params] = useParams_of_url()
  const has_epochs = runs.some((run) => run.metrics.epoch !== undefined)
  return (
    <>
      {look.zoom && <button type="button" className="linkish" onClick={() => look.onZoom(null)}>{t('compare.unzoom')}</button>}
      <label className="ctl">
        {t('compare.smooth')}
        <input type="range" min="0" max="0.95" step="0.05" value={look.weight} onChange={(event) => set_params({ smooth: Number(event.target.value) ? event.target.value : null })} />
        <span className="num">{look.weight.toFixed(2)}</span>
      </label>
      <Segments label={t('compare.x')} value={look.x} onChange={(value) => set_params({ x: value === 'step' ? null : value, zoom: null })} options={[['step', t('compare.step')], ['time', t('time')], ...(has_epochs || look.x === 'epoch' ? [['epoch', t('compare.epoch')] as ['epoch', ReactNode]] : [])]} />
      <label className="ctl"><input type="checkbox" role="switch" className="sws" checked={look.log} onChange={() => set_params({ log: look.log ? null : 'y' })} />{t('compare.log')}</label>
    </>
  )
}

/** Under the table: what differs beside two charts. */
function FewCurves({ runs, base, looks, look }: { runs: Run[]; base: Run | undefined; looks: Map<string, Look>; look: CurveLook }) {
  const { t } = useText()
  const [params] = useParams_of_url()
  const metrics = useMemo(() => common_metrics(runs), [runs])
  const asked = (params.get('charts') ?? '').split(',').filter((key) => metrics.includes(key))
  const keys = asked.length ? asked : metrics.slice(0, charts_in_dock)
  return (
    <div className="dg">
      <Differences runs={runs} base={base} looks={looks} whole={false} />
      {keys.map((key, index) => <div key={key}><CurveChart name={key} runs={runs} base={base} look={look} pick={<MetricMenu metrics={metrics} keys={keys} index={index} />} /></div>)}
      {keys.length === 0 && <p className="f pb">{t('compare.no_metrics')}</p>}
    </div>
  )
}

function MetricMenu({ metrics, keys, index }: { metrics: string[]; keys: string[]; index: number }) {
  const { t } = useText()
  const [, set_params] = useParams_of_url()
  return (
    <Menu
      worded label={t('compare.metric')} className="linkish" button={<b>{keys[index]} <Icon name="down" size={12} className="inl" /></b>}
      items={metrics.slice(0, 60).map((other) => ({ word: other, current: other === keys[index], act: () => set_params({ charts: keys.map((old, k) => (k === index ? other : old)).join(',') }) }))}
    />
  )
}

function useFound(metrics: string[]): { found: string[]; field: ReactNode } {
  const { t } = useText()
  const [params, set_params] = useParams_of_url()
  const find = params.get('find') ?? ''
  const found = useMemo(() => (find ? metrics.filter((name) => name.toLowerCase().includes(find.toLowerCase())) : metrics), [metrics, find])
  const field = (
    <p className="row curve-find">
      <input className="inp find-inp" data-filter value={find} placeholder={t('compare.find_metric')} aria-label={t('compare.find_metric')} onChange={(event) => set_params({ find: event.target.value })} />
      <span className="f" role="status">{t('compare.charts', { n: found.length, all: metrics.length })}</span>
    </p>
  )
  return { found, field }
}

function Legend({ items, note }: { items: [string, Look | undefined][]; note?: string }) {
  return (
    <p className="legend runs-legend">
      {items.map(([name, look], index) => <span key={index}><i className={`key ${look?.dash ? 'd' : ''}`} style={look?.dash ? { borderColor: `var(${look.color})` } : { background: look && `var(${look.color})` }} />{name}</span>)}
      {note && <span className="f">{note}</span>}
    </p>
  )
}

function AllCurves({ runs, base, look }: { runs: Run[]; base: Run | undefined; look: CurveLook }) {
  const { t } = useText()
  const metrics = useMemo(() => common_metrics(runs), [runs])
  const { found, field } = useFound(metrics)
  if (!metrics.length) return <p className="f pb">{t('compare.no_metrics')}</p>
  const looks = looks_of(runs.map((run) => run.id), base?.id)
  return <>{field}<Legend items={runs.map((run) => [run.name || run.id.slice(0, 8), looks.get(run.id)])} /><CurveGrid names={found}>{(name) => <CurveChart name={name} runs={runs} base={base} look={look} />}</CurveGrid></>
}

function GroupCurves({ groups, runs, look }: { groups: RunGroup[]; runs: Run[]; look: CurveLook }) {
  const { t } = useText()
  const metrics = useMemo(() => [...new Set([...groups.flatMap((group) => [...group.metrics.keys()].map((name) => name.slice('metrics.'.length))), ...common_metrics(runs)])], [groups, runs])
  const { found, field } = useFound(metrics)
  if (!metrics.length) return <p className="f pb">{t('compare.no_metrics')}</p>
  return <>{field}<Legend items={groups.slice(0, groups_drawn_most).map((group, index) => [group.value ?? t('runs.group.missing'), look_of_group(index)])} note={t('runs.group.curves', { n: Math.max(0, ...groups.map((group) => group.sample.length)) })} /><CurveGrid names={found}>{(name) => <GroupCurveChart name={name} groups={groups} look={look} />}</CurveGrid></>
}
