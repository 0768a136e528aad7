// SPDX-License-Identifier: Apache-2.0
// A line chart on uPlot after CONSOLE section 7: hairlines, baseline dashed, marks, rules, linked cursors, a table
// twin, PNG and CSV. Colours come from the CSS variables, so a change of theme rebuilds it.
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { usePreferences } from '../app/preferences'
import { useText } from '../i18n'
import { download } from '../lib/download'
import { useFormat } from '../lib/format'
import { Menu } from '../ui/menu'
import { Icon } from '../ui/icon'
import './chart.css'
import { useNear } from './near'
import { lonely_points } from './smooth'

export interface Series {
  name: string
  values: (number | null | undefined)[]
  color: string
  width?: number
  dash?: number[]
  /** Faint raw values under a smoothed line. */
  faint?: boolean
  fill?: number
  /** A band around the line, from low to high. */
  low?: (number | null | undefined)[]
  high?: (number | null | undefined)[]
}

export interface ChartProps {
  title: string
  summary: string
  x: number[]
  series: Series[]
  time?: boolean
  x_word?: string
  height?: number
  zero?: boolean
  log?: boolean
  say: (value: number | null | undefined) => string
  /** For the ticks of the value axis, where it differs. */
  say_tick?: (value: number) => string
  marks?: { x: number; word: string }[]
  rules?: { y: number; word: string }[]
  sync?: string
  onCursor?: (index: number | null) => void
  /** The shown stretch of x; with onZoom, dragging asks for another and a double click for all. */
  zoom?: [number, number]
  onZoom?: (zoom: [number, number] | null) => void
}

export function LineChart(props: ChartProps) {
  const { t } = useText()
  const format = useFormat()
  const { theme } = usePreferences()
  const plot = useRef<uPlot>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [as_table, set_as_table] = useState(false)
  const [at, set_at] = useState<number | null>(null)
  const [theme_tick, set_theme_tick] = useState(0)
  const [element_of_box, set_element_of_box] = useState<HTMLDivElement | null>(null)
  const visible = useNear(element_of_box, true)
  const shape = JSON.stringify([props.series.map(({ name, color, width, dash, faint, fill, low }) => [name, color, width, dash, faint, fill, low !== undefined]), props.time, props.log, props.zero, props.height, props.sync])

  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)')
    const on_change = () => set_theme_tick((tick) => tick + 1)
    query.addEventListener('change', on_change)
    return () => query.removeEventListener('change', on_change)
  }, [])

  useEffect(() => {
    const element = element_of_box
    if (!element || !visible || as_table) return
    const made = new uPlot(options_of(latest, element, format, set_at), data_of(latest.current), element)
    plot.current = made
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height: latest.current.height ?? 160 })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [shape, theme, theme_tick, format, visible, as_table])

  useEffect(() => {
    plot.current?.setData(data_of(props))
  }, [props.x, props.series])

  const [zoom_from, zoom_to] = props.zoom ?? []
  useEffect(() => {
    const { x } = latest.current
    if (latest.current.onZoom && x.length) plot.current?.setScale('x', { min: zoom_from ?? x[0]!, max: zoom_to ?? x[x.length - 1]! })
  }, [zoom_from, zoom_to])

  const notes = JSON.stringify([props.marks, props.rules])
  useEffect(() => plot.current?.redraw(), [notes])

  const at_x = at === null ? undefined : props.x[at]
  const say_x = (value: number) => (props.time ? format.clock(value * 1000) : `${props.x_word ?? ''} ${format.number(value)}`.trim())
  const tip = at === null || at_x === undefined ? undefined : props.series
    .filter((item) => !item.faint && typeof item.values[at] === 'number')
    .sort((a, b) => (b.values[at] ?? 0) - (a.values[at] ?? 0))
  const csv = useMemo(() => () => to_csv(props), [props])

  return (
    <figure
      className="lc"
      tabIndex={0}
      aria-label={`${props.title}. ${props.summary}`}
      onKeyDown={(event) => {
        if (event.key === 't' || event.key === 'T') {
          event.stopPropagation()
          set_as_table(!as_table)
        }
        if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
          event.preventDefault()
          const next = Math.min(props.x.length - 1, Math.max(0, (at ?? props.x.length - 1) + (event.key === 'ArrowRight' ? 1 : -1)))
          move_cursor(plot.current, next)
          set_at(next)
        }
      }}
    >
      <div className="lc-menu">
        <Menu
          className="icb"
          align="end"
          label={t('chart.menu', { title: props.title })}
          button={<Icon name="more" size={14} />}
          items={[
            { word: as_table ? t('chart.as_chart') : t('chart.as_table'), act: () => set_as_table(!as_table) },
            { word: 'PNG', act: () => download(`${props.title}.png`, plot.current?.ctx.canvas.toDataURL('image/png')) },
            { word: 'CSV', act: () => download(`${props.title}.csv`, `data:text/csv;charset=utf-8,${encodeURIComponent(csv())}`) },
          ]}
        />
      </div>
      {as_table ? (
        <ChartTable {...props} say_x={say_x} />
      ) : (
        <div ref={set_element_of_box} className="lc-box" style={{ height: props.height ?? 160 }} onMouseLeave={() => set_at(null)}>
          {tip && at_x !== undefined && (
            <div className={`tip ${at !== null && at > props.x.length / 2 ? 'left' : 'right'}`} aria-live="polite">
              <b>{say_x(at_x)}</b>
              {tip.map((item) => (
                <span key={item.name} className="row">
                  <i className="key" style={{ background: `var(${item.color})` }} />
                  <span className="grow">{item.name}</span>
                  <b className="num">{props.say(item.values[at!])}</b>
                </span>
              ))}
            </div>
          )}
        </div>
      )}
    </figure>
  )
}

function ChartTable({ x, series, say, say_x, title }: ChartProps & { say_x: (value: number) => string }) {
  const shown = series.filter((item) => !item.faint)
  const step = Math.max(1, Math.ceil(x.length / 200))
  return (
    <div className="scroll lc-table" tabIndex={0}>
      <table aria-label={title}>
        <thead>
          <tr>
            <th />
            {shown.map((item) => (
              <th key={item.name} className="r">
                {item.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {x.map((value, index) =>
            index % step ? null : (
              <tr key={index}>
                <td className="num">{say_x(value)}</td>
                {shown.map((item) => (
                  <td key={item.name} className="r num">
                    {say(item.values[index])}
                  </td>
                ))}
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  )
}

function data_of({ x, series, log }: ChartProps): uPlot.AlignedData {
  const clean = (value: number | null | undefined) => (log && typeof value === 'number' && value <= 0 ? null : value)
  return [x, ...with_bands(series).map((line) => line.values.map(clean))] as uPlot.AlignedData
}

interface Line {
  item: Series
  values: (number | null | undefined)[]
  edge: boolean
}

/** What uPlot draws: the edges of a band are lines of their own, before the line they belong to. */
function with_bands(series: Series[]): Line[] {
  return series.flatMap((item): Line[] => [
    ...(item.high && item.low ? [{ item, values: item.high, edge: true }, { item, values: item.low, edge: true }] : []),
    { item, values: item.values, edge: false },
  ])
}

function css(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim()
}

function options_of(
  latest: { current: ChartProps },
  element: HTMLElement,
  format: ReturnType<typeof useFormat>,
  set_at: (index: number | null) => void,
): uPlot.Options {
  const props = latest.current
  const font = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif'
  const color = (name: string) => css(element, name)
  const axis = { stroke: color('--text-3'), font, ticks: { show: false }, gap: 4 }
  const options: uPlot.Options = {
    width: Math.max(80, element.clientWidth),
    height: props.height ?? 160,
    legend: { show: false },
    padding: [props.rules?.length || props.marks?.length ? 16 : 10, 8, 0, 0],
    cursor: {
      drag: { x: true, y: false, setScale: !props.onZoom },
      points: { size: 8, width: 2, stroke: () => color('--surface') },
      y: false,
      // Only where the cursor stands is shared; a zoom comes back through the page.
      ...(props.sync ? { sync: { key: props.sync, filters: { pub: (type: string) => !props.onZoom || type === 'mousemove' || type === 'mouseleave' } } } : {}),
      ...(props.onZoom ? { bind: { dblclick: () => () => (latest.current.onZoom?.(null), null) } } : {}),
    },
    scales: {
      x: { time: false, ...(props.onZoom ? { range: (_plot: uPlot, low: number, high: number): [number, number] => latest.current.zoom ?? (low === high ? [low - 0.5, high + 0.5] : [low, high]) } : {}) },
      y: {
        distr: props.log ? 3 : 1,
        range: props.log ? undefined : (_plot, low, high) => range_of(low, high, Boolean(props.zero), latest.current.rules),
      },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 22,
        space: 70,
        values: (_plot, splits) => splits.map((value) => (props.time ? (is_short(latest.current.x) ? format.clock(value * 1000) : format.hour(value * 1000)) : format.number(value))),
      },
      {
        ...axis,
        grid: { stroke: color('--line'), width: 1 },
        size: 52,
        space: 34,
        values: (_plot, splits) => splits.map((value) => (value === null ? '' : (latest.current.say_tick ?? latest.current.say)(value))),
      },
    ],
    series: [
      {},
      ...with_bands(props.series).map(({ item, edge }): uPlot.Series => edge ? { label: item.name, width: 0, points: { show: false } } : ({
        label: item.name,
        stroke: with_alpha(color(item.color), item.faint ? 0.28 : 1),
        width: item.faint ? 1 : (item.width ?? 1.75),
        dash: item.dash,
        fill: item.fill ? with_alpha(color(item.color), item.fill) : undefined,
        points: { show: true, size: 5, stroke: color(item.color), fill: color(item.color), filter: (made, index) => lonely_points(made.data[index] ?? []) },
        spanGaps: false,
      })),
    ],
    bands: with_bands(props.series).flatMap((line, index, all) => (line.edge && all[index + 1]?.edge && all[index + 1]?.item === line.item ? [{ series: [index + 1, index + 2] as [number, number], fill: with_alpha(color(line.item.color), 0.12) }] : [])),
    hooks: {
      setSelect: [
        (made) => {
          const { left, width } = made.select
          if (!latest.current.onZoom || width < 4) return
          latest.current.onZoom([made.posToVal(left, 'x'), made.posToVal(left + width, 'x')])
          made.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
        },
      ],
      setCursor: [
        (made) => {
          const index = made.cursor.idx ?? null
          const inside = (made.cursor.left ?? -1) >= 0
          set_at(inside ? index : null)
          latest.current.onCursor?.(inside ? index : null)
        },
      ],
      draw: [(made) => draw_marks(made, latest.current, color, font)],
    },
  }
  return options
}

/** Under ten minutes the axis needs its seconds. */
function is_short(x: number[]): boolean {
  return x.length > 1 && x[x.length - 1]! - x[0]! < 600
}

function range_of(low: number, high: number, zero: boolean, rules: ChartProps['rules']): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1]
  const all = [low, high, ...(rules ?? []).map((rule) => rule.y)]
  const least = zero ? 0 : Math.min(...all)
  const most = Math.max(...all)
  const reach = most - least || Math.abs(most) || 1
  return [zero ? 0 : least - reach * 0.06, most + reach * 0.08]
}

function with_alpha(hex: string, alpha: number): string {
  if (alpha >= 1 || !/^#[0-9a-f]{6}$/i.test(hex)) return hex
  return hex + Math.round(alpha * 255).toString(16).padStart(2, '0')
}

function draw_marks(made: uPlot, props: ChartProps, color: (name: string) => string, font: string): void {
  const { ctx } = made
  const { left, top, width, height } = made.bbox
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = font.replace('11px', `600 ${11 * ratio}px`)
  ctx.lineWidth = ratio
  ctx.setLineDash([4 * ratio, 3 * ratio])
  for (const rule of props.rules ?? []) {
    const y = made.valToPos(rule.y, 'y', true)
    if (y < top || y > top + height) continue
    ctx.strokeStyle = ctx.fillStyle = color('--red')
    line(ctx, left, y, left + width, y)
    ctx.textAlign = 'right'
    ctx.fillText(rule.word, left + width - 4 * ratio, y - 5 * ratio)
  }
  ctx.textAlign = 'left'
  let free_from = left
  for (const mark of [...(props.marks ?? [])].sort((a, b) => a.x - b.x)) {
    const x = made.valToPos(mark.x, 'x', true)
    if (x < left || x > left + width) continue
    ctx.strokeStyle = ctx.fillStyle = color('--violet')
    line(ctx, x, top, x, top + height)
    const wide = ctx.measureText(mark.word).width
    // A word that would stand on the one before is left out; its line stays.
    if (x < free_from) continue
    ctx.fillText(mark.word, Math.min(x + 5 * ratio, left + width - wide), top - 4 * ratio)
    free_from = x + wide + 10 * ratio
  }
  ctx.restore()
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath()
  ctx.moveTo(x0, y0)
  ctx.lineTo(x1, y1)
  ctx.stroke()
}

function move_cursor(made: uPlot | undefined, index: number): void {
  const value = made?.data[0][index]
  if (made && value !== undefined) made.setCursor({ left: made.valToPos(value, 'x'), top: made.over.clientHeight / 2 })
}

function to_csv({ x, series, x_word, time }: ChartProps): string {
  const shown = series.filter((item) => !item.faint)
  const cell = (text: string) => (/[",\n]|^[=+@-]/.test(text) ? `"${text.replaceAll('"', '""').replace(/^([=+@])/, "'$1")}"` : text)
  const rows = [[time ? 'time' : (x_word ?? 'x'), ...shown.map((item) => item.name)].map(cell).join(',')]
  x.forEach((value, index) => {
    rows.push([time ? new Date(value * 1000).toISOString() : value, ...shown.map((item) => item.values[index] ?? '')].join(','))
  })
  return rows.join('\n')
}
