// SPDX-License-Identifier: Apache-2.0
// Services as the pages need them; what the wire calls otherwise is turned here.
import { queryOptions } from '@tanstack/react-query'
import { get, path, post, request, type Page } from './client'
import type { components } from './generated/services'

type Wire = components['schemas']
export type Replica = NonNullable<Wire['Service']['replicas']>[number]
export type Decision = Wire['Decision']
export type Totals = Wire['Totals']

/** As the wire has it, but with the model as a reference (model/NAME@N). */
export type Revision = Wire['Revision']

export type Service = Omit<Wire['Service'], 'replicas'> & { replicas: Replica[] }

export type TaktRange = '30m' | '15m' | '5m'

export interface ServiceMetrics {
  /** Unix seconds, the ends of whole buckets that any revision has. */
  x: number[]
  revisions: {
    revision: number
    totals: Totals
    requests_per_s: (number | null)[]
    error_share: (number | null)[]
    p50_ms: (number | null)[]
    p99_ms: (number | null)[]
  }[]
}

function to_service(wire: Wire['Service']): Service {
  return {
    ...wire,
    replicas: wire.replicas ?? [],
    revisions: wire.revisions.map((revision) => ({ ...revision, model: revision.model.startsWith('model/') ? revision.model : `model/${revision.model}` })),
  }
}

/** One axis for all revisions; a bucket that a revision does not have is a gap. */
export function to_metrics(wire: Wire['ServiceMetrics']): ServiceMetrics {
  const seconds = wire.bucket_ms / 1000
  const x = [...new Set(wire.revisions.flatMap((item) => item.points.map((point) => Date.parse(point.at) / 1000)))].sort((a, b) => a - b)
  return {
    x,
    revisions: wire.revisions.map((item) => {
      const by_time = new Map(item.points.map((point) => [Date.parse(point.at) / 1000, point]))
      const row = (pick: (point: (typeof item.points)[number]) => number | null) => x.map((time) => {
        const point = by_time.get(time)
        return point ? pick(point) : null
      })
      return {
        revision: item.number,
        totals: item.totals,
        requests_per_s: row((point) => point.requests / seconds),
        error_share: row((point) => (point.requests > 0 ? point.errors / point.requests : null)),
        p50_ms: row((point) => point.p50_ms ?? null),
        p99_ms: row((point) => point.p99_ms ?? null),
      }
    }),
  }
}

export const services_query = (project: string) =>
  queryOptions({
    queryKey: ['services', project, 'list'],
    queryFn: async ({ signal }) => (await get<Page<Wire['Service']>>('/api/v1/services', { project }, signal)).items.map(to_service),
  })

export const service_query = (project: string, name: string) =>
  queryOptions({
    queryKey: ['services', project, 'one', name],
    queryFn: async ({ signal }) => to_service(await get<Wire['Service']>(path`/api/v1/services/${name}`, { project }, signal)),
    refetchInterval: 5000,
  })

export const service_metrics_query = (project: string, name: string, range: TaktRange) =>
  queryOptions({
    queryKey: ['services', project, 'metrics', name, range],
    queryFn: async ({ signal }) => to_metrics(await get<Wire['ServiceMetrics']>(path`/api/v1/services/${name}/metrics`, { project, range }, signal)),
    refetchInterval: 5000,
    placeholderData: (before) => before,
  })

const act = (project: string, name: string, verb: string, body: unknown = {}) => post<Wire['Service']>(path`/api/v1/services/${name}/` + verb, { project }, body)

export const start_canary = (project: string, name: string, model: string, share: number) => act(project, name, 'canary', { model, share })
export const set_share = (project: string, name: string, share: number) => request<Wire['Service']>('PATCH', path`/api/v1/services/${name}/traffic`, { project }, { share })
export const promote_canary = (project: string, name: string) => act(project, name, 'promote')
export const abort_canary = (project: string, name: string) => act(project, name, 'abort')
export const roll_back = (project: string, name: string) => act(project, name, 'rollback')
export const stop_service = (project: string, name: string) => act(project, name, 'stop')

export function canary_of(service: Service): Revision | undefined {
  return service.canary ? service.revisions.find((revision) => revision.number === service.canary!.revision) : undefined
}

export function stable_of(service: Service): Revision | undefined {
  return service.revisions.find((revision) => revision.role === 'stable')
}

/** Ready and wanted replicas over all revisions that were not stopped; lists carry no replicas of their own. */
export function replicas_of(services: Service[]): { ready: number; all: number } {
  const revisions = services.flatMap((service) => service.revisions).filter((revision) => revision.state !== 'stopped')
  return { ready: revisions.reduce((sum, item) => sum + item.ready_replicas, 0), all: revisions.reduce((sum, item) => sum + item.replicas, 0) }
}

/** Requests per second by revision in the newest whole bucket. */
export function rates_of(metrics: ServiceMetrics | undefined): Map<number, number> {
  const rates = new Map<number, number>()
  for (const item of metrics?.revisions ?? []) {
    const last = [...item.requests_per_s].reverse().find((value) => value !== null && value !== undefined)
    rates.set(item.revision, last ?? 0)
  }
  return rates
}
