// SPDX-License-Identifier: Apache-2.0
// What the palette can find: every named thing of the project, from lists that are cached or asked for on opening.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useProject } from '../app/context'
import { useText } from '../i18n'
import { path_of_ref } from '../lib/url'
import type { IconName } from '../ui/icon'
import { useStateWord } from '../ui/status'
import { get, type Page } from './client'
import { datasets_query } from './data'
import { jobs_query } from './jobs'
import { models_query } from './models'
import { pipelines_query } from './pipelines'
import type { Run } from './runs'
import { services_query } from './services'

export interface Thing {
  name: string
  fact: string
  icon: IconName
  to: string
  at: number
}

export function useThings(): Thing[] {
  const { t } = useText()
  const say = useStateWord()
  const project = useProject()
  const datasets = useQuery(datasets_query(project))
  const jobs = useQuery(jobs_query(project))
  const models = useQuery(models_query(project))
  const services = useQuery(services_query(project))
  const pipelines = useQuery(pipelines_query(project))
  const runs = useQuery({
    queryKey: ['runs', project, 'newest'],
    queryFn: async ({ signal }) => (await get<Page<Run>>('/api/v1/runs', { project, page_size: 200 }, signal)).items,
  })
  return useMemo(() => {
    const things: Thing[] = []
    const add = (ref: string, name: string, fact: string, icon: IconName, time: string | undefined) => {
      const to = path_of_ref(project, ref)
      if (to) things.push({ name, fact, icon, to, at: time ? Date.parse(time) : 0 })
    }
    for (const item of datasets.data ?? []) {
      for (let version = item.latest; version > Math.max(0, item.latest - 5); version--) add(`dataset/${item.name}@${version}`, `${item.name}@${version}`, t('kind.dataset'), 'data', item.updated_at)
    }
    for (const item of jobs.data?.items ?? []) add(item.ref, `${t('job.n', { n: String(item.number) })} ${item.name}`, say(item.state), 'jobs', item.submitted_at)
    for (const item of runs.data ?? []) add(item.ref, item.name || item.id, `${t('kind.run')} ${item.experiment}`, 'runs', item.started_at)
    for (const item of models.data ?? []) {
      for (let version = item.latest; version > Math.max(0, item.latest - 8); version--) {
        const aliases = Object.entries(item.aliases).filter(([, number]) => number === version).map(([alias]) => alias)
        add(`model/${item.name}@${version}`, `${item.name}@${version}`, [t('kind.model'), ...aliases].join(', '), 'models', item.updated_at)
      }
    }
    for (const item of services.data ?? []) add(`service/${item.name}`, t('service.n', { name: item.name }), say(item.state), 'services', item.updated_at)
    for (const item of pipelines.data ?? []) {
      add(`pipeline/${item.name}`, item.name, t('kind.pipeline'), 'pipelines', item.updated_at)
      for (const run of item.runs.slice(0, 8)) add(`pipeline-run/${item.name}/${run.number}`, `${item.name} #${run.number}`, say(run.state), 'pipelines', run.started_at)
    }
    return things
  }, [project, t, say, datasets.data, jobs.data, runs.data, models.data, services.data, pipelines.data])
}
