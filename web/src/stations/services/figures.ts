// SPDX-License-Identifier: Apache-2.0
// Figures from a service's time series.
import type { ServiceMetrics } from '../../api/services'

type Pick = (item: ServiceMetrics['revisions'][number]) => (number | null)[]

export function total_rates(metrics: ServiceMetrics | undefined): number[] {
  if (!metrics) return []
  return metrics.x.map((_, index) => metrics.revisions.reduce((sum, item) => sum + (item.requests_per_s[index] ?? 0), 0))
}

/** The newest known value of each revision, and of these the worst. */
export function last_of(metrics: ServiceMetrics | undefined, pick: Pick): number | undefined {
  const values = (metrics?.revisions ?? [])
    .map((item) => [...pick(item)].reverse().find((value) => value !== null && value !== undefined))
    .filter((value): value is number => typeof value === 'number')
  return values.length ? Math.max(...values) : undefined
}
