// SPDX-License-Identifier: Apache-2.0
// Curves of runs with linked cursors and one zoom. However many metrics there are, only the charts near the window
// exist, and only their points are asked for.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { load_curves, metric_of, type Curve as Buckets, type Run } from '../../api/runs'
import { useProject } from '../../app/context'
import { LineChart, type Series } from '../../charts/line_chart'
import { useNear } from '../../charts/near'
import { join_points, smooth } from '../../charts/smooth'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { knows_direction, looks_of, lower_is_better, type Look } from '../../lib/metrics'
import { one_of, useParams_of_url } from '../../lib/url'
import { axes, band_of, curve_of, parse_zoom, write_zoom, type Axis, type Curve } from './curve_data'
import type { RunGroup } from './groups'

const chunk_size = 24
const cell_height = 268
const cell_width_min = 330
const chart_height = 210
export const groups_drawn_most = 8

export const look_of_group = (index: number): Look => ({ color: `--c${(index % 8) + 1}`, dash: undefined })

/** How curves are drawn, from the URL. */
export interface CurveLook {
  x: Axis
  weight: number
  log: boolean
  zoom: [number, number] | undefined
  onZoom: (zoom: [number, number] | null) => void
}

export function useCurveLook(): CurveLook {
  const [params, set_params] = useParams_of_url()
  return {
    x: one_of(params.get('x'), axes),
    weight: Math.min(0.99, Math.max(0, Number(params.get('smooth') ?? 0) || 0)),
    log: params.get('log') === 'y',
    zoom: parse_zoom(params.get('zoom')),
    onZoom: (zoom) => set_params({ zoom: write_zoom(zoom) }, true),
  }
}

/** All metrics as charts, in chunks that are filled when they come near. */
export function CurveGrid({ names, children }: { names: string[]; children: (name: string) => ReactNode }) {
  const [box, set_box] = useState<HTMLDivElement | null>(null)
  const [across, set_across] = useState(1)
  useEffect(() => {
    if (!box) return
    const observer = new ResizeObserver(() => set_across(Math.max(1, Math.floor(box.clientWidth / cell_width_min))))
    observer.observe(box)
    return () => observer.disconnect()
  }, [box])
  const chunks = Array.from({ length: Math.ceil(names.length / chunk_size) }, (_, index) => names.slice(index * chunk_size, (index + 1) * chunk_size))
  return (
    <div ref={set_box} className="curve-chunks">
      {chunks.map((chunk, index) => <Chunk key={index} names={chunk} across={across}>{children}</Chunk>)}
    </div>
  )
}

function Chunk({ names, across, children }: { names: string[]; across: number; children: (name: string) => ReactNode }) {
  const [box, set_box] = useState<HTMLDivElement | null>(null)
  const near = useNear(box, true)
  return (
    <div ref={set_box} className="curves" style={{ minHeight: Math.ceil(names.length / across) * cell_height }}>
      {near && names.map((name) => <Cell key={name} name={name}>{children}</Cell>)}
    </div>
  )
}

function Cell({ name, children }: { name: string; children: (name: string) => ReactNode }) {
  const [box, set_box] = useState<HTMLDivElement | null>(null)
  const near = useNear(box)
  return <div ref={set_box} className="curve-cell" style={{ height: cell_height }} data-chart={near ? 'drawn' : 'named'}>{near ? children(name) : <div className="ct"><b>{name}</b></div>}</div>
}

interface CurveProps {
  name: string
  runs: Run[]
  base?: Run | undefined
  look: CurveLook
  pick?: ReactNode
}

export function CurveChart({ name, runs, base, look, pick }: CurveProps) {
  const { t } = useText()
  const format = useFormat()
  const with_metric = runs.filter((run) => run.metrics[name] !== undefined)
  const query = useHistories(name, with_metric.map((run) => run.id), with_metric.some((run) => run.status === 'running'), look)
  const looks = looks_of(runs.map((run) => run.id), base?.id)
  const { x, series } = useMemo(() => lines_of(with_metric, query.data, looks, base?.id, look), [query.data, look.x, look.weight, runs.map((run) => run.id).join(), base?.id])
  const histories = query.data?.histories ?? []
  const shown = histories.reduce((sum, history) => sum + history.x.length, 0)
  const total = histories.reduce((sum, history) => sum + history.count.reduce((all, count) => all + count, 0), 0)
  const last = with_metric.map((run) => `${run.name} ${format.metric(metric_of(run, name))}`).join(', ')
  return (
    <CurveFrame name={name} pick={pick} note={shown < total ? t('compare.points', { n: shown, all: total }) : ''} error={query.error}>
      {query.data === undefined ? <div style={{ height: chart_height }} /> : (
        <CurveDrawing name={name} x={x} series={series} look={look} summary={t('compare.summary', { n: with_metric.length, last })} nothing={look.x === 'epoch' && x.length === 0} />
      )}
    </CurveFrame>
  )
}

/** Of each group the mean of its sample with the band from lowest to highest. */
export function GroupCurveChart({ name, groups, look, pick }: { name: string; groups: RunGroup[]; look: CurveLook; pick?: ReactNode }) {
  const { t } = useText()
  const format = useFormat()
  const drawn = groups.slice(0, groups_drawn_most)
  const ids = drawn.flatMap((group) => group.sample)
  const query = useHistories(name, ids, drawn.some((group) => group.running > 0), look)
  const { x, series } = useMemo(() => bands_of_groups(drawn, query.data, look, t('runs.group.missing')), [query.data, look.x, look.weight, ids.join()])
  const last = drawn.map((group, index) => `${group.value ?? t('runs.group.missing')} ${format.metric(last_of(series[index]?.values))}`).join(', ')
  return (
    <CurveFrame name={name} pick={pick} note="" error={query.error}>
      {query.data === undefined ? <div style={{ height: chart_height }} /> : <CurveDrawing name={name} x={x} series={series} look={look} summary={t('runs.group.summary', { n: drawn.length, last })} nothing={x.length === 0} />}
    </CurveFrame>
  )
}

function CurveFrame({ name, pick, note, error, children }: { name: string; pick: ReactNode; note: string; error: Error | null; children: ReactNode }) {
  const { t } = useText()
  return (
    <>
      <div className="ct">
        {pick ?? <b className="ell" title={name}>{name}</b>}
        <span className="f nw">{[knows_direction(name) && (lower_is_better(name) ? t('compare.lower') : t('compare.higher')), note].filter(Boolean).join(' · ')}</span>
      </div>
      {error ? <p className="t-red">{error.message}</p> : children}
    </>
  )
}

function CurveDrawing({ name, x, series, look, summary, nothing }: { name: string; x: number[]; series: Series[]; look: CurveLook; summary: string; nothing: boolean }) {
  const { t } = useText()
  const format = useFormat()
  if (nothing) return <p className="f">{t('compare.no_epochs')}</p>
  return (
    <LineChart
      title={name}
      summary={summary}
      x={x}
      series={series}
      x_word={look.x === 'time' ? undefined : t(`compare.${look.x}`)}
      say={format.metric}
      say_tick={(value) => format.number(value, 4)}
      log={look.log}
      height={chart_height}
      sync="runs"
      zoom={look.zoom}
      onZoom={look.onZoom}
    />
  )
}

interface Histories {
  ids: string[]
  histories: Buckets[]
  /** The runs' `epoch` metrics, when the axis needs them. */
  epochs: Buckets[]
}

/** One metric of several runs, in one request; a zoomed stretch of steps is asked for by itself, in full detail. */
function useHistories(name: string, ids: string[], live: boolean, { x, zoom }: CurveLook) {
  const project = useProject()
  const axis = x === 'time' ? 'time' : 'step'
  const range = x === 'step' && zoom ? { from: Math.floor(zoom[0]), to: Math.ceil(zoom[1]) } : {}
  return useQuery({
    queryKey: ['runs', project, 'curves', name, ids.join(), x, range.from, range.to],
    queryFn: async ({ signal }): Promise<Histories> => {
      const load = (key: string) => load_curves(project, ids, { key, axis, ...range }, signal)
      const [histories, epochs] = await Promise.all([load(name), x === 'epoch' ? load('epoch') : []])
      return { ids, histories, epochs }
    },
    placeholderData: keepPreviousData,
    staleTime: live ? 2000 : 10 * 60_000,
    refetchInterval: live ? 3000 : false,
    retry: false,
  })
}

function curves_of(data: Histories | undefined, starts: (string | undefined)[], axis: Axis): Curve[] {
  return (data?.histories ?? []).map((history, index) => {
    const epochs = axis === 'epoch' ? curve_of(data?.epochs[index], 'step', 0) : undefined
    return curve_of(history, axis, Date.parse(starts[index] ?? '') || 0, epochs)
  })
}

function lines_of(runs: Run[], data: Histories | undefined, looks: Map<string, Look>, base: string | undefined, { x: axis, weight }: CurveLook): { x: number[]; series: Series[] } {
  const curves = curves_of(data, runs.map((run) => run.started_at), axis)
  const joined = join_points(curves)
  const series: Series[] = []
  if (data?.ids.length !== runs.length) return { x: [], series }
  runs.forEach((run, index) => {
    const look = looks.get(run.id)!
    const raw = joined.values[index] ?? []
    const line = { name: run.name || run.id.slice(0, 8), color: look.color, dash: look.dash, width: run.id === base ? 1.75 : 2.25 }
    if (weight > 0) {
      series.push({ ...line, name: `${line.name} raw`, values: raw, faint: true, dash: undefined })
      series.push({ ...line, values: spread(smooth(curves[index]!.y, weight), curves[index]!.x, joined.x) })
    } else series.push({ ...line, values: raw, ...envelope_of(curves[index]!, joined.x) })
  })
  return { x: joined.x, series }
}

function bands_of_groups(groups: RunGroup[], data: Histories | undefined, { x: axis, weight }: CurveLook, missing: string): { x: number[]; series: Series[] } {
  const curves = curves_of(data, [], axis).map((curve) => (weight > 0 ? { x: curve.x, y: smooth(curve.y, weight) } : curve))
  let at = 0
  const bands = groups.map((group) => {
    const own = curves.slice(at, at + group.sample.length)
    at += group.sample.length
    return band_of(own)
  })
  const x = [...new Set(bands.flatMap((band) => band.x))].sort((a, b) => a - b)
  const series = groups.map((group, index): Series => {
    const band = bands[index]!
    const on = (values: (number | null)[]) => spread(values, band.x, x)
    return { name: group.value ?? missing, color: look_of_group(index).color, width: 2.25, values: on(band.mean), low: on(band.low), high: on(band.high) }
  })
  return { x, series }
}

/** Between the lowest and the highest of each bucket, where points were put together. */
function envelope_of(curve: Curve, x: number[]): Pick<Series, 'low' | 'high'> {
  return curve.low && curve.high ? { low: spread(curve.low, curve.x, x), high: spread(curve.high, curve.x, x) } : {}
}

function spread(values: (number | null)[], own: number[], x: number[]): (number | null | undefined)[] {
  const index_of = new Map(x.map((value, index) => [value, index]))
  const row: (number | null | undefined)[] = new Array<undefined>(x.length).fill(undefined)
  own.forEach((value, index) => {
    row[index_of.get(value)!] = values[index]
  })
  return row
}

function last_of(values: (number | null | undefined)[] | undefined): number | null {
  return [...(values ?? [])].reverse().find((value): value is number => typeof value === 'number') ?? null
}
