// SPDX-License-Identifier: Apache-2.0
// Two columns against each other, one mark per run. Arrow keys walk the runs from left to right, Enter opens one.
import { useEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import type { Run } from '../../api/runs'
import { useBase } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import type { Look } from '../../lib/metrics'
import { useParams_of_url } from '../../lib/url'
import { Icon } from '../../ui/icon'
import { Menu } from '../../ui/menu'
import { axis_over, comparable_names, default_axes, place_on, ticks_of, value_on, type CompareAxis } from './compare_model'
import { value_in } from './columns_model'

const height = 300
const pad = { left: 64, right: 16, top: 10, bottom: 26 }
const menu_most = 60

interface Mark {
  run: Run
  x: number
  y: number
}

export function Scatter({ runs, looks, base }: { runs: Run[]; looks: Map<string, Look>; base: Run | undefined }) {
  const { t } = useText()
  const format = useFormat()
  const to = useBase()
  const [, navigate] = useLocation()
  const [params, set_params] = useParams_of_url()
  const [box, set_box] = useState<HTMLElement | null>(null)
  const [width, set_width] = useState(0)
  const [at, set_at] = useState<number>()
  const names = useMemo(() => comparable_names(runs), [runs])
  const [x_name, y_name] = useMemo(() => chosen_axes(params.get('sx'), params.get('sy'), names, runs), [params.get('sx'), params.get('sy'), names, runs])
  const x_axis = useMemo(() => (x_name ? axis_over(runs, x_name) : undefined), [runs, x_name])
  const y_axis = useMemo(() => (y_name ? axis_over(runs, y_name) : undefined), [runs, y_name])
  useEffect(() => {
    if (!box) return
    const observer = new ResizeObserver(() => set_width(box.clientWidth))
    observer.observe(box)
    return () => observer.disconnect()
  }, [box])
  const marks = useMemo(() => (x_axis && y_axis ? marks_of(runs, x_axis, y_axis, width) : []), [runs, x_axis, y_axis, width])
  const say = (axis: CompareAxis, place: number) => { const value = value_on(axis, place); return typeof value === 'number' ? format.number(value, 4) : value }
  const pick = (which: 'sx' | 'sy', current: string | undefined, label: string) => (
    <Menu worded label={label} className="linkish" button={<b>{current} <Icon name="down" size={12} className="inl" /></b>} items={names.slice(0, menu_most).map((name) => ({ word: name, current: name === current, act: () => set_params({ [which]: name }) }))} />
  )
  if (!x_axis || !y_axis) return <p className="f pb">{t('compare.few_columns')}</p>
  const active = at === undefined ? undefined : marks[at]
  return (
    <div className="scatter">
      <div className="ct">
        {pick('sy', y_name, t('compare.y_axis'))} <span className="f">{t('compare.against')}</span> {pick('sx', x_name, t('compare.x_axis'))}
        <span className="f push">{t('compare.inside', { n: marks.length, all: runs.length })}</span>
      </div>
      <figure
        ref={set_box} tabIndex={0} style={{ height }} aria-label={t('compare.scatter.label', { y: y_axis.key, x: x_axis.key, n: marks.length })}
        onMouseMove={(event) => { const area = event.currentTarget.getBoundingClientRect(); set_at(nearest(marks, event.clientX - area.left, event.clientY - area.top)) }}
        onMouseLeave={() => set_at(undefined)}
        onClick={() => active && navigate(`${to}/runs/${active.run.id}`)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && active) navigate(`${to}/runs/${active.run.id}`)
          const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
          if (!step || !marks.length) return
          event.preventDefault()
          set_at(Math.min(marks.length - 1, Math.max(0, (at ?? (step > 0 ? -1 : marks.length)) + step)))
        }}
      >
        <svg width={width} height={height} aria-hidden="true">
          {ticks_of(y_axis, 5).map((place) => <g key={place}><line className="gl" x1={pad.left} x2={width - pad.right} y1={y_at(place)} y2={y_at(place)} /><text x={pad.left - 8} y={y_at(place) + 4} textAnchor="end">{say(y_axis, place)}</text></g>)}
          {ticks_of(x_axis, width > 700 ? 6 : 4).map((place) => <text key={place} x={x_at(place, width)} y={height - 8} textAnchor="middle">{say(x_axis, place)}</text>)}
          {marks.map((mark, index) => <Dot key={mark.run.id} mark={mark} look={looks.get(mark.run.id)} is_base={mark.run.id === base?.id} active={index === at} />)}
        </svg>
        {active && (
          <div className={`tip ${active.x > width / 2 ? 'left' : 'right'}`} aria-live="polite">
            <b>{active.run.name || active.run.id.slice(0, 8)}</b>
            {[x_axis, y_axis].map((axis) => <span key={axis.name} className="row"><span className="grow">{axis.key}</span><b className="num">{said(value_in(active.run, axis.name), format.metric)}</b></span>)}
          </div>
        )}
      </figure>
    </div>
  )
}

function said(value: number | string | undefined, say: (value: number) => string): string {
  return typeof value === 'number' ? say(value) : (value ?? '–')
}

function chosen_axes(x: string | null, y: string | null, names: string[], runs: Run[]): [string | undefined, string | undefined] {
  const first = default_axes(runs)
  const metric = names.find((name) => name.startsWith('metrics.'))
  const y_name = y && names.includes(y) ? y : metric
  const x_name = x && names.includes(x) ? x : (first.find((name) => name.startsWith('params.')) ?? names.find((name) => name !== y_name))
  return [x_name, y_name]
}

const x_at = (place: number, width: number): number => pad.left + 14 + place * (width - pad.left - pad.right - 28)
const y_at = (place: number): number => pad.top + 8 + (1 - place) * (height - pad.top - pad.bottom - 16)

function marks_of(runs: Run[], x_axis: CompareAxis, y_axis: CompareAxis, width: number): Mark[] {
  const marks: Mark[] = []
  for (const run of runs) {
    const x = place_on(x_axis, run)
    const y = place_on(y_axis, run)
    if (x !== null && y !== null) marks.push({ run, x: x_at(x, width), y: y_at(y) })
  }
  return marks.sort((a, b) => a.x - b.x || a.y - b.y)
}

function nearest(marks: Mark[], x: number, y: number): number | undefined {
  let best: number | undefined
  let distance = 18 ** 2
  marks.forEach((mark, index) => {
    const own = (mark.x - x) ** 2 + (mark.y - y) ** 2
    if (own < distance) {
      distance = own
      best = index
    }
  })
  return best
}

/** The baseline is an ink diamond, chosen runs are filled, all others rings. */
function Dot({ mark, look, is_base, active }: { mark: Mark; look: Look | undefined; is_base: boolean; active: boolean }) {
  const color = look ? `var(${look.color})` : 'var(--text-3)'
  const size = active ? 7 : 5
  if (is_base) return <path d={`M${mark.x} ${mark.y - size - 1}l${size + 1} ${size + 1}l${-size - 1} ${size + 1}l${-size - 1} ${-size - 1}z`} fill="var(--text)" />
  return <circle cx={mark.x} cy={mark.y} r={size} fill={look ? color : 'none'} stroke={active ? 'var(--text)' : color} strokeWidth={look ? 1 : 1.5} opacity={look || active ? 1 : 0.7} />
}
