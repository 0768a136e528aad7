// SPDX-License-Identifier: Apache-2.0
// What crosses stations: the person, projects, events, lineage, why, go, and the Line.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useProject } from '../app/context'
import { last_seen } from '../app/seen'
import { get, path, post, request, type Page } from './client'
import type { components as Access } from './generated/access'
import type { components as Spine } from './generated/spine'

export type Caller = Access['schemas']['Caller']
export type Token = Access['schemas']['Token']
export type User = Access['schemas']['User']
export type Project = Access['schemas']['Project']
export type TaktEvent = Spine['schemas']['Event']
export type LineView = Spine['schemas']['LineView']
export type LineCard = Spine['schemas']['LineCard']
export type LineStop = Spine['schemas']['LineStop']
export type LineageGraph = Spine['schemas']['LineageGraph']
export type WhyAnswer = Spine['schemas']['WhyAnswer']

export interface ServerVersion {
  version: string
  store?: string
  uptime_ms?: number
  disk_used_share?: number
}

export const whoami_query = (project: string) =>
  queryOptions({
    queryKey: ['settings', project, 'whoami'],
    queryFn: ({ signal }) => get<Caller>('/api/v1/whoami', { project }, signal),
    staleTime: 5 * 60_000,
  })

export function useVersion() {
  return useQuery({
    queryKey: ['version'],
    queryFn: ({ signal }) => get<ServerVersion>('/api/v1/version', undefined, signal),
    staleTime: 60_000,
    refetchInterval: 60_000,
  })
}

export function useProjects() {
  return useQuery({
    queryKey: ['settings', 'projects'],
    queryFn: async ({ signal }) => (await get<Page<Project>>('/api/v1/projects', undefined, signal)).items,
    staleTime: 5 * 60_000,
  })
}

export const sign_in = (token: string) => post<{ signed_in: boolean }>('/api/v1/sign-in', undefined, { token })
export const sign_out = () => post<{ signed_in: boolean }>('/api/v1/sign-out')

export const tokens_query = queryOptions({
  queryKey: ['settings', 'tokens'],
  queryFn: async ({ signal }) => (await get<Page<Token>>('/api/v1/tokens', undefined, signal)).items,
})
export const users_query = queryOptions({
  queryKey: ['settings', 'users'],
  queryFn: async ({ signal }) => (await get<Page<User>>('/api/v1/users', undefined, signal)).items,
})
export const create_token = (project: string, body: { note?: string; expires_in?: string }) =>
  post<Token & { token: string }>('/api/v1/tokens', { project }, body)
export const revoke_token = (id: string) => request<void>('DELETE', path`/api/v1/tokens/${id}`)

export interface EventList {
  items: TaktEvent[]
  last_sequence: number
  next_page_token?: string
}

export const load_events = (project: string, query: { subject?: string; before?: string; limit?: number }, signal?: AbortSignal) =>
  get<EventList>('/api/v1/events', { project, ...query }, signal)

export const events_query = (project: string, subject: string, limit: number) =>
  queryOptions({
    queryKey: ['events', project, subject, limit],
    queryFn: ({ signal }) => load_events(project, { subject, limit }, signal),
    placeholderData: (before) => before,
  })

/** The stream begins after what the first answers already hold. */
export async function load_start_sequence(project: string): Promise<number> {
  try {
    return (await load_events(project, { limit: 1 })).last_sequence
  } catch {
    return 0
  }
}

export const line_query = (project: string, since: string) =>
  queryOptions({
    queryKey: ['line', project, since],
    queryFn: ({ signal }) => get<LineView>('/api/v1/line', { project, since }, signal),
    placeholderData: (before) => before,
  })

export const why_query = (project: string, ref: string, depth = 8) =>
  queryOptions({
    queryKey: ['why', project, ref, depth],
    queryFn: ({ signal }) => get<WhyAnswer>('/api/v1/why', { project, ref, depth }, signal),
    placeholderData: (before) => before,
  })

export const lineage_query = (project: string, ref: string, depth = 8) =>
  queryOptions({
    queryKey: ['why', project, 'lineage', ref, depth],
    queryFn: ({ signal }) => get<LineageGraph>('/api/v1/lineage', { project, ref, depth }, signal),
  })

export async function resolve_any(project: string, any: string): Promise<string[]> {
  const found = await get<{ items: { ref: string }[] }>(path`/api/v1/go/${any}`, { project })
  return found.items.map((item) => item.ref)
}

const station_of_kind: Record<string, string> = {
  dataset: 'data', job: 'jobs', run: 'runs', model: 'models', service: 'services', revision: 'services', replica: 'services',
  pipeline: 'pipelines', 'pipeline-run': 'pipelines', node: 'pipelines',
}

export function station_of_ref(ref: string): string | undefined {
  return station_of_kind[ref.split('/', 1)[0] ?? '']
}

export interface Badge {
  kind: 'person' | 'broken'
  count: number
}

/** A person's turn always shows; what broke shows until its station was looked at. */
export function badges_of(stops: LineStop[], seen: (station: string) => number): Record<string, Badge> {
  const badges: Record<string, Badge> = {}
  for (const stop of stops) {
    const station = station_of_ref(stop.subject)
    if (!station) continue
    const kind = stop.kind === 'approval' ? 'person' : stop.kind === 'failed' ? 'broken' : undefined
    if (!kind || (kind === 'broken' && Date.parse(stop.since_at) <= seen(station))) continue
    const before = badges[station]
    if (before?.kind === kind) before.count++
    else if (!before || kind === 'person') badges[station] = { kind, count: 1 }
  }
  return badges
}

export function useBadges(): Record<string, Badge> {
  const project = useProject()
  const line = useQuery(line_query(project, '24h'))
  return badges_of(line.data?.stops ?? [], (station) => last_seen(project, station))
}
