// SPDX-License-Identifier: Apache-2.0
// Parallel coordinates: a line per run over one axis per column. Dragging on an axis, or its two handles by keys,
// leaves only the runs between; what is left can be selected or become a filter.
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Run } from '../../api/runs'
import { usePreferences } from '../../app/preferences'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import type { Look } from '../../lib/metrics'
import { useParams_of_url } from '../../lib/url'
import { Button } from '../../ui/parts'
import { AxesMenu } from './axes_menu'
import { axis_over, clauses_of, default_axes, inside, parse_brushes, place_on, ticks_of, value_on, write_brushes, type Brushes, type CompareAxis } from './compare_model'

const top = 12
const bottom = 14
const height = 260
const key_step = 0.02

export function Parallel({ runs, looks, base, onSelect, onFilter }: {
  runs: Run[]
  looks: Map<string, Look>
  base: Run | undefined
  onSelect: (ids: string[]) => void
  onFilter?: (clauses: string[]) => void
}) {
  const { t } = useText()
  const [params, set_params] = useParams_of_url()
  const asked = (params.get('axes') ?? '').split(',').filter(Boolean)
  const names = asked.length >= 2 ? asked : default_axes(runs)
  const axes = useMemo(() => names.map((name) => axis_over(runs, name)), [names.join(), runs])
  // While dragging the brush moves here; let go, it is part of the address.
  const [dragged, set_dragged] = useState<Brushes>()
  const brushes = dragged ?? parse_brushes(params.get('brush'))
  const left = runs.filter((run) => inside(run, axes, brushes))
  const clauses = onFilter && clauses_of(axes, brushes)
  const commit = (next: Brushes) => {
    set_dragged(undefined)
    set_params({ brush: write_brushes(next) })
  }
  if (names.length < 2) return <p className="f pb">{t('compare.few_columns')}</p>
  return (
    <div className="parallel">
      <div className="ct">
        <b>{t('compare.parallel')}</b>
        <span className="f" role="status">{t('compare.inside', { n: left.length, all: runs.length })}</span>
        <span className="grow" />
        {brushes.size > 0 && <Button small onClick={() => set_params({ brush: null })}>{t('compare.clear')}</Button>}
        {brushes.size > 0 && <Button small disabled={!left.length} onClick={() => onSelect(left.map((run) => run.id))}>{t('compare.select_inside')}</Button>}
        {brushes.size > 0 && clauses && clauses.length > 0 && <Button small onClick={() => onFilter(clauses)}>{t('compare.to_filter')}</Button>}
        <AxesMenu runs={runs} chosen={names} onChoose={(next) => set_params({ axes: next.join(',') })} />
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label={t('compare.parallel')}>
        <div className="pax" style={{ minWidth: axes.length * 104 }}>
          <Lines axes={axes} runs={runs} brushes={brushes} looks={looks} base={base?.id} />
          {axes.map((axis, index) => (
            <Axis
              key={axis.name} axis={axis} left={`${((index + 0.5) / axes.length) * 100}%`} brush={brushes.get(axis.name)}
              onDrag={(range) => set_dragged(new Map(brushes).set(axis.name, range))}
              onCommit={(range) => commit(range ? new Map(brushes).set(axis.name, range) : new Map([...brushes].filter(([name]) => name !== axis.name)))}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

function Lines({ axes, runs, brushes, looks, base }: { axes: CompareAxis[]; runs: Run[]; brushes: Brushes; looks: Map<string, Look>; base: string | undefined }) {
  const [canvas, set_canvas] = useState<HTMLCanvasElement | null>(null)
  const [width, set_width] = useState(0)
  const { theme } = usePreferences()
  useEffect(() => {
    if (!canvas) return
    const observer = new ResizeObserver(() => set_width(canvas.clientWidth))
    observer.observe(canvas)
    return () => observer.disconnect()
  }, [canvas])
  useEffect(() => {
    const pen = canvas?.getContext('2d')
    if (!canvas || !pen || width === 0) return
    const ratio = devicePixelRatio
    canvas.width = width * ratio
    canvas.height = height * ratio
    pen.scale(ratio, ratio)
    const color = (name: string) => getComputedStyle(canvas).getPropertyValue(name).trim()
    const is_brushed = brushes.size > 0
    // What is drawn last stands above: the others, then those inside, then the chosen ones.
    const rank = (run: Run) => (run.id === base ? 3 : looks.has(run.id) ? 2 : inside(run, axes, brushes) ? 1 : 0)
    for (const run of [...runs].sort((a, b) => rank(a) - rank(b))) {
      const is_in = !is_brushed || inside(run, axes, brushes)
      const look = looks.get(run.id)
      pen.strokeStyle = color(look ? look.color : is_in && is_brushed ? '--blue' : '--text-3')
      pen.globalAlpha = !is_in ? 0.08 : look ? 1 : runs.length > 60 ? 0.35 : 0.6
      pen.lineWidth = look ? 2 : 1
      pen.setLineDash(look?.dash ?? [])
      draw_line(pen, axes, run, width)
    }
  }, [canvas, width, axes, runs, brushes, looks, base, theme])
  return <canvas ref={set_canvas} style={{ height }} aria-hidden="true" />
}

function draw_line(pen: CanvasRenderingContext2D, axes: CompareAxis[], run: Run, width: number): void {
  pen.beginPath()
  let down = false
  axes.forEach((axis, index) => {
    const place = place_on(axis, run)
    if (place === null) {
      down = false
      return
    }
    const x = ((index + 0.5) / axes.length) * width
    const y = y_of(place)
    if (down) pen.lineTo(x, y)
    else pen.moveTo(x, y)
    down = true
  })
  pen.stroke()
}

const y_of = (place: number): number => top + (1 - place) * (height - top - bottom)
const place_at = (y: number): number => Math.min(1, Math.max(0, 1 - (y - top) / (height - top - bottom)))

function Axis({ axis, left, brush, onDrag, onCommit }: {
  axis: CompareAxis
  left: string
  brush: [number, number] | undefined
  onDrag: (range: [number, number]) => void
  onCommit: (range: [number, number] | null) => void
}) {
  const { t } = useText()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const begun = useRef<number>(undefined)
  const [from, to] = brush ?? [0, 1]
  const say = (place: number) => { const value = value_on(axis, place); return typeof value === 'number' ? format.number(value, 4) : value }
  const place_of = (event: React.PointerEvent) => place_at(event.clientY - box.current!.getBoundingClientRect().top)
  const range_to = (place: number): [number, number] => [Math.min(begun.current!, place), Math.max(begun.current!, place)]
  const handle = (word: string, value: number, set: (value: number) => [number, number], low: number, high: number) => (
    <i
      role="slider" tabIndex={0} className="hand" aria-orientation="vertical" aria-label={t('compare.brush', { name: axis.key, end: word })}
      aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(value * 100)} aria-valuetext={say(value)} style={{ top: y_of(value) }}
      onKeyDown={(event) => {
        const step = { ArrowUp: key_step, ArrowDown: -key_step, PageUp: 5 * key_step, PageDown: -5 * key_step }[event.key]
        if (event.key === 'Escape' || event.key === 'Delete') onCommit(null)
        if (step === undefined) return
        event.preventDefault()
        const range = set(Math.min(high, Math.max(low, value + step)))
        onCommit(range[0] <= 0 && range[1] >= 1 ? null : range)
      }}
    />
  )
  return (
    <div className="axis" style={{ left }}>
      <span className="nm" title={axis.name}>{axis.key}</span>
      <div
        ref={box} className="rail" style={{ height }}
        onPointerDown={(event) => {
          if ((event.target as HTMLElement).closest('.hand')) return
          begun.current = place_of(event)
          event.currentTarget.setPointerCapture(event.pointerId)
        }}
        onPointerMove={(event) => { if (begun.current !== undefined) onDrag(range_to(place_of(event))) }}
        onPointerUp={(event) => {
          if (begun.current === undefined) return
          const range = range_to(place_of(event))
          begun.current = undefined
          // A click without a stretch takes the brush away.
          onCommit(range[1] - range[0] < 0.01 ? null : range)
        }}
      >
        {brush && <u style={{ top: y_of(to), height: y_of(from) - y_of(to) }} />}
        {ticks_of(axis, 5).map((place) => <span key={place} className="tk" style={{ top: y_of(place) }}>{say(place)}</span>)}
        {handle(t('compare.brush.low'), from, (value) => [value, to], 0, to - key_step)}
        {handle(t('compare.brush.high'), to, (value) => [from, value], from + key_step, 1)}
      </div>
    </div>
  )
}
