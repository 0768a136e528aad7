// SPDX-License-Identifier: Apache-2.0
import { queryOptions } from '@tanstack/react-query'
import { failure_of, get, path, post, request, url_of, type Page } from './client'
import type { components } from './generated/jobs'

export type Job = components['schemas']['Job']
export type Attempt = components['schemas']['Attempt']
export type Capacity = components['schemas']['Capacity']
export type PortValue = components['schemas']['PortValue']

export const jobs_query = (project: string, filter: { state?: string; q?: string; kind?: string } = {}) =>
  queryOptions({
    queryKey: ['jobs', project, 'list', filter],
    queryFn: ({ signal }) => get<Page<Job>>('/api/v1/jobs', { project, page_size: 200, ...filter }, signal),
    placeholderData: (before) => before,
  })

export const job_query = (project: string, number: string) =>
  queryOptions({
    queryKey: ['jobs', project, 'one', number],
    queryFn: ({ signal }) => get<Job>(path`/api/v1/jobs/${number}`, { project }, signal),
    refetchInterval: (query) => (query.state.data?.state === 'running' ? 5000 : false),
  })

export const capacity_query = (project: string) =>
  queryOptions({
    queryKey: ['jobs', project, 'capacity'],
    queryFn: ({ signal }) => get<Capacity>('/api/v1/capacity', { project }, signal),
  })

export const cancel_job = (project: string, number: number | string) =>
  post<Job>(path`/api/v1/jobs/${number}/cancel`, { project })

export const submit_job = (project: string, document: unknown) => request<Job>('POST', '/api/v1/jobs', { project }, document)

export interface LogPart {
  bytes: Uint8Array
  offset: number
  size: number
  final: boolean
}

export function log_url(project: string, number: string, attempt: number | undefined, from?: number, limit?: number): string {
  return url_of(path`/api/v1/jobs/${number}/log`, { project, attempt, from, limit })
}

/** Bytes of an attempt's log from an offset; the answer says how long the log is and whether it is complete. */
export async function read_log(project: string, number: string, attempt: number | undefined, from: number, limit: number, signal: AbortSignal): Promise<LogPart> {
  const response = await fetch(log_url(project, number, attempt, from, limit), { credentials: 'same-origin', signal })
  if (!response.ok) throw await failure_of(response)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const header = (name: string) => Number(response.headers.get(name) ?? Number.NaN)
  const offset = header('Takt-Log-Offset')
  const begin = Number.isFinite(offset) ? offset : Math.max(0, from)
  const size = header('Takt-Log-Size')
  return {
    bytes,
    offset: begin,
    size: Number.isFinite(size) ? size : begin + bytes.length,
    final: response.headers.get('Takt-Log-Final') === 'true',
  }
}
