// SPDX-License-Identifier: Apache-2.0
import { queryOptions } from '@tanstack/react-query'
import { get, path, request, url_of, type Page } from './client'
import type { components } from './generated/data'

export type Dataset = components['schemas']['Dataset']
export type DatasetVersion = components['schemas']['DatasetVersion']
export type DatasetDiff = components['schemas']['DatasetDiff']
export type ColumnProfile = components['schemas']['ColumnProfile']
export type Profile = components['schemas']['Profile']
export type DataFile = components['schemas']['File']

export interface Preview {
  path: string
  columns: string[]
  rows: string[][]
}

export const datasets_query = (project: string) =>
  queryOptions({
    queryKey: ['data', project, 'list'],
    queryFn: async ({ signal }) => (await get<Page<Dataset>>('/api/v1/datasets', { project }, signal)).items,
  })

export const versions_query = (project: string, name: string) =>
  queryOptions({
    queryKey: ['data', project, 'versions', name],
    queryFn: async ({ signal }) => (await get<Page<DatasetVersion>>(path`/api/v1/datasets/${name}/versions`, { project }, signal)).items,
  })

export const version_query = (project: string, name: string, version: string) =>
  queryOptions({
    queryKey: ['data', project, 'version', name, version],
    queryFn: ({ signal }) => get<DatasetVersion>(path`/api/v1/datasets/${name}/versions/${version}`, { project }, signal),
  })

export const diff_query = (project: string, name: string, from: number, to: number) =>
  queryOptions({
    queryKey: ['data', project, 'diff', name, from, to],
    queryFn: ({ signal }) => get<DatasetDiff>(path`/api/v1/datasets/${name}/diff`, { project, from, to }, signal),
    staleTime: Infinity,
    retry: false,
  })

export const preview_query = (project: string, name: string, version: number, file?: string) =>
  queryOptions({
    queryKey: ['data', project, 'preview', name, version, file],
    queryFn: ({ signal }) => get<Preview>(path`/api/v1/datasets/${name}/versions/${version}/preview`, { project, path: file, rows: 100 }, signal),
    staleTime: Infinity,
    retry: false,
  })

export const files_query = (project: string, name: string, version: number) =>
  queryOptions({
    queryKey: ['data', project, 'files', name, version],
    queryFn: ({ signal }) =>
      get<Page<DataFile> & { tree: string }>(path`/api/v1/datasets/${name}/versions/${version}/files`, { project, limit: 1000 }, signal),
    staleTime: Infinity,
  })

export function content_url(project: string, name: string, version: number, file: string): string {
  const encoded = file.split('/').map(encodeURIComponent).join('/')
  return url_of(path`/api/v1/datasets/${name}/versions/${version}/content/` + encoded, { project })
}

export const remove_version = (project: string, name: string, version: number, force: boolean) =>
  request<void>('DELETE', path`/api/v1/datasets/${name}/versions/${version}`, { project, force: force || undefined })
