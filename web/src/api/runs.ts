// SPDX-License-Identifier: Apache-2.0
import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { get, path, post, request, url_of, type Page } from './client'
import type { components } from './generated/track'

export type Run = components['schemas']['Run']
export type RunDetail = components['schemas']['RunDetail']
export type Experiment = components['schemas']['Experiment']
export type Curve = components['schemas']['Curve']
export type Artifact = components['schemas']['Artifact']
export type RunDiff = components['schemas']['RunDiff']

const curve_buckets = 400

const sample_runs = 20

export interface RunColumn {
  name: string
  kind: 'metric' | 'param' | 'tag'
  key: string
  runs: number
}

/** Numbers may come as the words NaN or Infinity: those cannot be drawn. */
export function number_of(value: number | string | null | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

export function metric_of(run: Run, key: string): number | null {
  return number_of(run.metrics[key]?.value as number | string | undefined)
}

export const experiments_query = (project: string) =>
  queryOptions({
    queryKey: ['runs', project, 'experiments'],
    queryFn: async ({ signal }) => (await get<Page<Experiment>>('/api/v1/experiments', { project }, signal)).items,
  })

/** Counting every key costs more than a page of runs: asked by the clock, not by each event. */
export const run_columns_query = (project: string, experiment: string) =>
  queryOptions({
    queryKey: ['run-columns', project, experiment],
    queryFn: ({ signal }) => get<{ items: RunColumn[]; runs: number }>('/api/v1/run-columns', { project, experiment }, signal),
    placeholderData: (before) => before,
    staleTime: 10_000,
    refetchInterval: 30_000,
  })

/** The newest runs with all they have: enough to choose columns by, long before every key of a large experiment is counted. */
export const run_sample_query = (project: string, experiment: string) =>
  queryOptions({
    queryKey: ['run-columns', project, 'sample', experiment],
    queryFn: async ({ signal }) => (await get<Page<Run>>('/api/v1/runs', { project, experiment, page_size: sample_runs }, signal)).items,
    staleTime: Infinity,
  })

export interface RunSearch {
  experiment: string
  filter: string
  order: string
}

export interface RunPage extends Page<Run> {
  /** How many runs match, when asked for. */
  total?: number
}

/** Only `columns` (metrics.KEY, params.KEY, tags.KEY) are sent; none of them means the runs alone. */
export function load_runs(project: string, search: RunSearch, options: { columns: string[]; page_size: number; page_token?: string; view?: 'all'; count?: boolean }, signal: AbortSignal) {
  const { columns, ...rest } = options
  return get<RunPage>('/api/v1/runs', { project, ...search, ...rest, columns: columns.length ? columns.join(',') : 'tags.mlflow.parentRunId' }, signal)
}

/** Runs by id, whatever became of them. */
export const load_runs_by_id = (project: string, ids: string[], columns: string[], signal: AbortSignal) =>
  load_runs(project, { experiment: '', filter: `attributes.run_id IN (${ids.map((id) => `'${id}'`).join(', ')})`, order: '' }, { columns, page_size: Math.max(1, ids.length), view: 'all' }, signal)

/** After a run was deleted or restored by hand: lists are made anew. */
export async function forget_runs(queries: QueryClient): Promise<void> {
  queries.removeQueries({ queryKey: ['run-pages'], type: 'inactive' })
  await Promise.all([queries.invalidateQueries({ queryKey: ['runs'] }), queries.resetQueries({ queryKey: ['run-pages'] }), queries.invalidateQueries({ queryKey: ['run-columns'] })])
}

export const run_query = (project: string, id: string) =>
  queryOptions({
    queryKey: ['runs', project, 'one', id],
    queryFn: ({ signal }) => get<RunDetail>(path`/api/v1/runs/${id}`, { project }, signal),
    // Points are data, not events: a run that logs is asked again.
    refetchInterval: (query) => (query.state.data?.status === 'running' ? 3000 : false),
  })

export const run_diff_query = (project: string, before: string, after: string) =>
  queryOptions({
    queryKey: ['runs', project, 'diff', before, after],
    queryFn: ({ signal }) => get<RunDiff>(path`/api/v1/runs/${before}/diff/${after}`, { project }, signal),
    staleTime: 60_000,
    retry: false,
  })

export interface CurveSearch {
  key: string
  /** Epochs are looked up by step. */
  axis: 'step' | 'time'
  from?: number
  to?: number
}

/** Buckets of one metric of several runs: as many as a chart has pixels to tell apart. */
export async function load_curves(project: string, runs: string[], search: CurveSearch, signal: AbortSignal): Promise<Curve[]> {
  if (!runs.length) return []
  const { key, axis: x, from, to } = search
  const many = runs.map((run) => `run=${encodeURIComponent(run)}`).join('&')
  return (await get<Page<Curve>>(`${url_of('/api/v1/curves', { project, key, x, from, to, buckets: curve_buckets })}&${many}`, undefined, signal)).items
}

/** Names may hold slashes, which stand unencoded in the path. */
function with_slashes(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/')
}

export const artifacts_query = (project: string, id: string, folder: string) =>
  queryOptions({
    queryKey: ['runs', project, 'artifacts', id, folder],
    queryFn: async ({ signal }) => (await get<Page<Artifact>>(path`/api/v1/runs/${id}/artifacts`, { project, path: folder }, signal)).items,
  })

export function artifact_url(project: string, id: string, file: string): string {
  return url_of(path`/api/v1/runs/${id}/content/` + with_slashes(file), { project })
}

/** Submits the run's job again from its record: the new job, waiting. */
export const reproduce_run = (project: string, id: string) => post<{ number: number }>(path`/api/v1/runs/${id}/reproduce`, { project })
export const delete_run = (project: string, id: string) => request<void>('DELETE', path`/api/v1/runs/${id}`, { project })
export const restore_run = (project: string, id: string) => post<RunDetail>(path`/api/v1/runs/${id}/restore`, { project })
