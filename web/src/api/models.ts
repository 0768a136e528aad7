// SPDX-License-Identifier: Apache-2.0
import { queryOptions } from '@tanstack/react-query'
import { get, path, post, request, url_of, type Page } from './client'
import type { components } from './generated/models'

export type Model = components['schemas']['Model']
export type ModelVersion = components['schemas']['ModelVersion']
export type ModelFile = components['schemas']['ModelFile']
export type GateCheck = components['schemas']['GateCheck']
export type RuleResult = components['schemas']['RuleResult']
export type ModelEvidence = components['schemas']['ModelEvidence']
export type ModelRules = components['schemas']['ModelRules']
export type AliasMove = components['schemas']['AliasMove']

export const models_query = (project: string) =>
  queryOptions({
    queryKey: ['models', project, 'list'],
    queryFn: async ({ signal }) => (await get<Page<Model>>('/api/v1/models', { project }, signal)).items,
  })

export const model_query = (project: string, name: string) =>
  queryOptions({
    queryKey: ['models', project, 'one', name],
    queryFn: ({ signal }) => get<Model>(path`/api/v1/models/${name}`, { project }, signal),
  })

export const model_versions_query = (project: string, name: string) =>
  queryOptions({
    queryKey: ['models', project, 'versions', name],
    queryFn: async ({ signal }) => (await get<Page<ModelVersion>>(path`/api/v1/models/${name}/versions`, { project }, signal)).items,
  })

export const model_files_query = (project: string, name: string, version: number) =>
  queryOptions({
    queryKey: ['models', project, 'files', name, version],
    queryFn: async ({ signal }) => (await get<Page<ModelFile>>(path`/api/v1/models/${name}/versions/${version}/files`, { project }, signal)).items,
    staleTime: Infinity,
  })

export const model_rules_query = (project: string, name: string) =>
  queryOptions({
    queryKey: ['models', project, 'rules', name],
    queryFn: ({ signal }) => get<ModelRules>(path`/api/v1/models/${name}/rules`, { project }, signal),
  })

export const model_check_query = (project: string, name: string, version: number, alias: string) =>
  queryOptions({
    queryKey: ['models', project, 'check', name, version, alias],
    queryFn: ({ signal }) => get<GateCheck>(path`/api/v1/models/${name}/versions/${version}/check`, { project, alias }, signal),
    placeholderData: (before) => before,
  })

export const model_evidence_query = (project: string, name: string, version: number) =>
  queryOptions({
    queryKey: ['models', project, 'evidence', name, version],
    queryFn: ({ signal }) => get<ModelEvidence>(path`/api/v1/models/${name}/versions/${version}/evidence`, { project }, signal),
  })

export const alias_moves_query = (project: string, name: string, alias: string) =>
  queryOptions({
    queryKey: ['models', project, 'moves', name, alias],
    queryFn: async ({ signal }) => (await get<Page<AliasMove>>(path`/api/v1/models/${name}/aliases/${alias}/history`, { project }, signal)).items,
  })

export const judge_version = (project: string, name: string, version: number, body: { alias: string; verdict: 'approved' | 'rejected'; comment: string }) =>
  post<unknown>(path`/api/v1/models/${name}/versions/${version}/approvals`, { project }, body)
export const roll_back_alias = (project: string, name: string, alias: string, reason: string) =>
  post<ModelVersion>(path`/api/v1/models/${name}/aliases/${alias}/rollback`, { project }, reason ? { reason } : {})

export function model_file_url(project: string, name: string, version: number, file: string): string {
  return url_of(path`/api/v1/models/${name}/versions/${version}/content/` + file.split('/').map(encodeURIComponent).join('/'), { project })
}

export const set_alias = (project: string, name: string, alias: string, version: number) =>
  request<ModelVersion>('PUT', path`/api/v1/models/${name}/aliases/${alias}`, { project }, { version })
export const remove_alias = (project: string, name: string, alias: string) =>
  request<void>('DELETE', path`/api/v1/models/${name}/aliases/${alias}`, { project })
export const register_version = (project: string, name: string, run: string, folder: string) =>
  post<ModelVersion>(path`/api/v1/models/${name}/versions`, { project }, folder ? { run, path: folder } : { run })
