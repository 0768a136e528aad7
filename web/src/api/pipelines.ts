// SPDX-License-Identifier: Apache-2.0
import { queryOptions } from '@tanstack/react-query'
import { get, path, post, type Page } from './client'
import type { components } from './generated/pipelines'

export type Pipeline = components['schemas']['Pipeline']
export type PipelineRun = components['schemas']['PipelineRun']
export type PipelineNode = components['schemas']['Node']
export type PipelineEdge = components['schemas']['Edge']
export type Plan = components['schemas']['Plan']

export const pipelines_query = (project: string) =>
  queryOptions({
    queryKey: ['pipelines', project, 'list'],
    queryFn: async ({ signal }) => (await get<Page<Pipeline>>('/api/v1/pipelines', { project }, signal)).items,
  })

export const pipeline_query = (project: string, name: string) =>
  queryOptions({
    queryKey: ['pipelines', project, 'one', name],
    queryFn: ({ signal }) => get<Pipeline>(path`/api/v1/pipelines/${name}`, { project }, signal),
  })

export const pipeline_runs_query = (project: string, name: string, limit = 50) =>
  queryOptions({
    queryKey: ['pipelines', project, 'runs', name, limit],
    queryFn: async ({ signal }) => (await get<Page<PipelineRun>>(path`/api/v1/pipelines/${name}/runs`, { project, limit }, signal)).items,
  })

export function run_has_ended(run: { state: PipelineRun['state'] }): boolean {
  return run.state !== 'running' && run.state !== 'waiting-approval'
}

export const pipeline_run_query = (project: string, name: string, number: number) =>
  queryOptions({
    queryKey: ['pipelines', project, 'run', name, number],
    queryFn: ({ signal }) => get<PipelineRun>(path`/api/v1/pipelines/${name}/runs/${number}`, { project }, signal),
  })

export const plan_pipeline = (project: string, name: string, params: unknown) =>
  post<Plan>(path`/api/v1/pipelines/${name}/plan`, { project }, { params })
export const start_run = (project: string, name: string, params: unknown) =>
  post<PipelineRun>(path`/api/v1/pipelines/${name}/runs`, { project }, { params })
export const cancel_run = (project: string, name: string, number: number) =>
  post<PipelineRun>(path`/api/v1/pipelines/${name}/runs/${number}/cancel`, { project })
export const decide_node = (project: string, name: string, number: number, node: string, decision: 'approve' | 'reject', note: string) =>
  post<PipelineRun>(path`/api/v1/pipelines/${name}/runs/${number}/nodes/${node}/${decision}`, { project }, note ? { note } : {})
