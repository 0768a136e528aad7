// SPDX-License-Identifier: Apache-2.0
// Services as the pages need them; what the wire calls otherwise is turned here.
import { queryOptions } from '@tanstack/react-query'
import { get, path, post, request, type Page } from './client'

export interface Revision {
  number: number
  /** Reference of the model version. */
  model: string
  state: string
  reason?: string
  share: number
  ready_replicas: number
  wanted_replicas: number
  created_at: string
  created_by: string
}

export interface Replica {
  name: string
  revision: number
  state: string
  reason?: string
  job?: number
  started_at?: string
  restarts?: number
  endpoint?: string
}

export interface Service {
  name: string
  state: string
  reason?: string
  revisions: Revision[]
  replicas: Replica[]
  canary?: { revision: number; started_at?: string }
  url?: string
  warnings: string[]
  updated_at: string
}

export type TaktRange = '30m' | '3h' | '24h'

export interface ServiceMetrics {
  /** Unix seconds. */
  x: number[]
  revisions: {
    revision: number
    requests_per_s: (number | null)[]
    error_share: (number | null)[]
    p50_ms: (number | null)[]
    p99_ms: (number | null)[]
  }[]
}

export const services_query = (project: string) =>
  queryOptions({
    queryKey: ['services', project, 'list'],
    queryFn: async ({ signal }) => (await get<Page<Service>>('/api/v1/services', { project }, signal)).items,
  })

export const service_query = (project: string, name: string) =>
  queryOptions({
    queryKey: ['services', project, 'one', name],
    queryFn: ({ signal }) => get<Service>(path`/api/v1/services/${name}`, { project }, signal),
    refetchInterval: 5000,
  })

export const service_metrics_query = (project: string, name: string, range: TaktRange) =>
  queryOptions({
    queryKey: ['services', project, 'metrics', name, range],
    queryFn: ({ signal }) => get<ServiceMetrics>(path`/api/v1/services/${name}/metrics`, { project, range }, signal),
    refetchInterval: 5000,
    placeholderData: (before) => before,
  })

const act = (project: string, name: string, verb: string, body: unknown = {}) => post<Service>(path`/api/v1/services/${name}/` + verb, { project }, body)

export const start_canary = (project: string, name: string, model: string, share: number) => act(project, name, 'canary', { model, share })
export const set_share = (project: string, name: string, share: number) => request<Service>('PATCH', path`/api/v1/services/${name}/traffic`, { project }, { share })
export const promote_canary = (project: string, name: string) => act(project, name, 'promote')
export const abort_canary = (project: string, name: string) => act(project, name, 'abort')
export const roll_back = (project: string, name: string) => act(project, name, 'rollback')
export const stop_service = (project: string, name: string) => act(project, name, 'stop')

export function canary_of(service: Service): Revision | undefined {
  return service.canary ? service.revisions.find((revision) => revision.number === service.canary!.revision) : undefined
}

/** The revision with most traffic that is not the canary. */
export function stable_of(service: Service): Revision | undefined {
  return service.revisions.filter((revision) => revision.number !== service.canary?.revision && revision.share > 0).sort((a, b) => b.share - a.share)[0]
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
