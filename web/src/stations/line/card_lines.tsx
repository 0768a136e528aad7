// SPDX-License-Identifier: Apache-2.0
// What a station's card says: one figure and two short lines, from the station's own list and in the console's
// language; the server's card where the list is not there.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { datasets_query } from '../../api/data'
import { jobs_query } from '../../api/jobs'
import { models_query } from '../../api/models'
import { experiments_query } from '../../api/runs'
import { canary_of, replicas_of, services_query } from '../../api/services'
import { line_query, type LineCard } from '../../api/spine'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { Glyph } from '../../ui/icon'
import { group_of } from '../jobs/groups'

const day_ms = 86_400_000

export interface CardText {
  /** What is in motion, else what exists; undefined: it could not be read. */
  figure: number | undefined
  is_moving: boolean
  lines: ReactNode[]
}

export function useCardText(station: 'data' | 'jobs' | 'runs' | 'models' | 'services', card: LineCard | undefined): CardText {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const datasets = useQuery({ ...datasets_query(project), enabled: station === 'data' })
  const jobs = useQuery({ ...jobs_query(project, { state: 'open' }), enabled: station === 'jobs' })
  const line = useQuery({ ...line_query(project, '24h'), enabled: station === 'jobs' })
  const experiments = useQuery({ ...experiments_query(project), enabled: station === 'runs' })
  const models = useQuery({ ...models_query(project), enabled: station === 'models' })
  const services = useQuery({ ...services_query(project), enabled: station === 'services' })
  const recent = (time: string | undefined) => time !== undefined && Date.now() - Date.parse(time) < day_ms

  const text = (moving: number, total: number, lines: ReactNode[]): CardText => ({ figure: moving > 0 ? moving : total, is_moving: moving > 0, lines })

  if (station === 'data' && datasets.data) {
    return text(0, datasets.data.length, [
      t('card.versions', { n: datasets.data.reduce((sum, item) => sum + item.versions, 0) }),
      t('card.today', { n: datasets.data.filter((item) => recent(item.updated_at)).length }),
    ])
  }
  if (station === 'jobs' && jobs.data) {
    const waiting = jobs.data.items.filter((job) => group_of(job) === 'waiting').length
    const failed = (line.data?.stops ?? []).filter((stop) => stop.kind === 'failed' && stop.subject.startsWith('job/')).length
    const running = jobs.data.items.filter((job) => group_of(job) === 'running').length
    return text(running, Math.max(0, card?.total ?? jobs.data.items.length), [
      <><Glyph name={waiting ? 'wait' : 'idle'} size={14} />{t('card.waiting', { n: waiting })}</>,
      <><Glyph name={failed ? 'bad' : 'ok'} size={14} />{t('card.failed', { n: failed })}</>,
    ])
  }
  if (station === 'runs' && experiments.data?.length) {
    const [first] = experiments.data
    const sum = (of: 'runs' | 'running') => experiments.data.reduce((all, item) => all + item[of], 0)
    return text(sum('running'), sum('runs'), [t('card.in_experiment', { n: first!.runs, name: first!.name }), t('card.experiments', { n: experiments.data.length })])
  }
  if (station === 'models' && models.data?.length) {
    const newest = [...models.data].sort((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at))[0]!
    const alias = (name: string) => (newest.aliases[name] === undefined ? undefined : `${name} v${newest.aliases[name]}`)
    const lines = [alias('production'), alias('candidate'), ...Object.entries(newest.aliases).filter(([name]) => name !== 'production' && name !== 'candidate').map(([name, version]) => `${name} v${version}`)].filter(Boolean)
    const versions = models.data.reduce((sum, model) => sum + model.versions, 0)
    return text(0, versions, [...lines, t('card.newest', { name: `${newest.name}@${newest.latest}` })].slice(0, 2))
  }
  if (station === 'services' && services.data?.length) {
    const { ready, all } = replicas_of(services.data)
    const canary = services.data.map(canary_of).find((revision) => revision !== undefined)
    const live = services.data.filter((service) => service.revisions.some((revision) => revision.share > 0)).length
    return text(live, services.data.length, [
      <><Glyph name={ready === all ? 'ok' : 'warn'} size={14} />{t('card.ready', { ready, all })}</>,
      canary ? t('card.canary', { share: format.number(canary.share, 1) }) : t('card.no_canary'),
    ])
  }
  return card && card.total >= 0 ? text(station === 'data' ? 0 : card.moving, card.total, card.lines) : { figure: undefined, is_moving: false, lines: [] }
}
