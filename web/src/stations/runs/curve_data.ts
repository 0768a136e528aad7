// SPDX-License-Identifier: Apache-2.0
// From the points of metrics to lines on one axis: by step, by time since the run's start, or by epoch.
import { number_of, type Curve as Buckets } from '../../api/runs'

export const axes = ['step', 'time', 'epoch'] as const
export type Axis = (typeof axes)[number]

export interface Curve {
  x: number[]
  y: (number | null)[]
  /** The lowest and highest of what was put together at each x; absent where every point stands for itself. */
  low?: (number | null)[]
  high?: (number | null)[]
}

/** `epochs`: the run's own `epoch` metric by step; without it an epoch axis has nothing to draw. */
export function curve_of(buckets: Buckets | undefined, axis: Axis, start_ms: number, epochs?: Curve): Curve {
  const own = buckets?.x ?? []
  const start = start_ms || (own[0] ?? 0)
  const curve: Curve = { x: [], y: [] }
  const thinned: Curve = buckets?.is_thinned ? Object.assign(curve, { low: [], high: [] }) : curve
  own.forEach((at, index) => {
    const x = axis === 'step' ? at : axis === 'time' ? Math.max(0, (at - start) / 1000) : value_at(epochs, at)
    if (x === null) return
    curve.x.push(x)
    curve.y.push(number_of(buckets!.last[index] as number | string))
    thinned.low?.push(number_of(buckets!.min[index] as number | string))
    thinned.high?.push(number_of(buckets!.max[index] as number | string))
  })
  return curve
}

/** The value at x on the straight line between the known neighbours; null outside of what is known. */
export function value_at(curve: Curve | undefined, x: number): number | null {
  if (!curve || curve.x.length === 0 || x < curve.x[0]! || x > curve.x[curve.x.length - 1]!) return null
  let low = 0
  let high = curve.x.length - 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (curve.x[middle]! <= x) low = middle
    else high = middle
  }
  const x0 = curve.x[low]!
  const x1 = curve.x[high]!
  const y0 = curve.y[low] ?? null
  const y1 = curve.y[high] ?? null
  if (x === x1) return y1
  if (x === x0 || y0 === null || y1 === null || x1 === x0) return y0
  return y0 + ((x - x0) / (x1 - x0)) * (y1 - y0)
}

export interface BandCurve {
  x: number[]
  mean: (number | null)[]
  low: (number | null)[]
  high: (number | null)[]
}

const band_points_most = 500

/** Mean, lowest and highest of curves at each x that any of them has. */
export function band_of(curves: Curve[]): BandCurve {
  let x = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b)
  if (x.length > band_points_most) {
    const step = x.length / band_points_most
    x = Array.from({ length: band_points_most }, (_, index) => x[Math.floor(index * step)]!).concat(x[x.length - 1]!)
  }
  const band: BandCurve = { x, mean: [], low: [], high: [] }
  for (const at of x) {
    const values = curves.map((curve) => value_at(curve, at)).filter((value): value is number => value !== null)
    band.mean.push(values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null)
    band.low.push(values.length ? Math.min(...values) : null)
    band.high.push(values.length ? Math.max(...values) : null)
  }
  return band
}

/** `a..b` in the URL; undefined when it is no range. */
export function parse_zoom(text: string | null): [number, number] | undefined {
  const parts = (text ?? '').split('..').map(Number)
  const [from, to] = parts
  return parts.length === 2 && Number.isFinite(from) && Number.isFinite(to) && from! < to! ? [from!, to!] : undefined
}

export const write_zoom = (zoom: [number, number] | null): string | null => (zoom ? zoom.map((value) => Number(value.toPrecision(6))).join('..') : null)
