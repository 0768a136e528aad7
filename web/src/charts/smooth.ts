// SPDX-License-Identifier: Apache-2.0
// Exponential smoothing with the bias of the first points taken out, and joining series onto one x axis.

export function smooth(values: (number | null | undefined)[], weight: number): (number | null)[] {
  let sum = 0
  let mass = 0
  return values.map((value) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return null
    sum = sum * weight + value * (1 - weight)
    mass = mass * weight + (1 - weight)
    return mass > 0 ? sum / mass : value
  })
}

export interface Points {
  x: number[]
  y: (number | null)[]
}

/** One sorted x axis for all; a series without a value at some x has undefined there, which is drawn through. */
export function join_points(all: Points[]): { x: number[]; values: (number | null | undefined)[][] } {
  const x = [...new Set(all.flatMap((points) => points.x))].sort((a, b) => a - b)
  const index_of = new Map(x.map((value, index) => [value, index]))
  const values = all.map((points) => {
    const row: (number | null | undefined)[] = new Array<undefined>(x.length).fill(undefined)
    points.x.forEach((value, index) => {
      row[index_of.get(value)!] = points.y[index]
    })
    return row
  })
  return { x, values }
}

/** Points without a neighbour to draw a line to: they would not be seen otherwise. */
export function lonely_points(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = []
  let before: number | null = null
  let candidate: number | undefined
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (value === undefined) continue
    if (candidate !== undefined && value === null) found.push(candidate)
    candidate = value !== null && before === null ? index : undefined
    before = value
  }
  if (candidate !== undefined) found.push(candidate)
  return found
}
