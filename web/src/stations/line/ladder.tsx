// SPDX-License-Identifier: Apache-2.0
// The lead-time ladder under the belt: low steps work, high steps waiting, medians of the finished runs of 7 days.
import { useQueries, useQuery } from '@tanstack/react-query'
import { pipeline_run_query, pipelines_query } from '../../api/pipelines'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { ladder_stations, lead_time_of, median_lead_time, type LeadTime } from './lead_time'

const runs_most = 8
const days = 7

function useLeadTime(): LeadTime | undefined {
  const project = useProject()
  const pipelines = useQuery(pipelines_query(project))
  const since = Date.now() - days * 86_400_000
  const ended = (pipelines.data ?? [])
    .flatMap((pipeline) => pipeline.runs.map((run) => ({ ...run, pipeline: pipeline.name })))
    .filter((run) => run.state === 'succeeded' && run.ended_at && Date.parse(run.ended_at) >= since)
    .sort((a, b) => Date.parse(b.ended_at!) - Date.parse(a.ended_at!))
    .slice(0, runs_most)
  const runs = useQueries({ queries: ended.map((run) => ({ ...pipeline_run_query(project, run.pipeline, run.number), staleTime: 10 * 60_000 })) })
  return median_lead_time(runs.flatMap((query) => (query.data ? (lead_time_of(query.data) ?? []) : [])))
}

export function Ladder() {
  const { t } = useText()
  const format = useFormat()
  const lead = useLeadTime()
  const work = lead ? Object.values(lead.work).reduce((sum, ms) => sum + ms, 0) : 0
  return (
    <>
      {ladder_stations.map((station, index) => (
        <div key={station} className="lad k" style={{ gridColumn: index * 2 + 1 }}>
          {lead ? (index === 0 ? t('ladder.work', { span: format.duration(lead.work[station]) }) : format.duration(lead.work[station])) : ''}
        </div>
      ))}
      {ladder_stations.slice(1).map((station, index) => (
        <div key={station} className={`lad w ${lead && lead.longest === station ? (lead.by_person ? 'hot' : 'strain') : ''}`} style={{ gridColumn: index * 2 + 2 }} title={t('ladder.wait_title')}>
          {lead ? format.span_or_duration(lead.wait[station]) : ''}
        </div>
      ))}
      <div className="lad tot" style={{ gridColumn: 10 }}>
        <span className="f" title={t('ladder.title')}>{t('ladder.lead')}</span>
        <b className="nw">{lead ? format.duration(lead.total) : '–'}</b>
        {lead && <span>{t('ladder.of_work', { span: format.duration(work) })}</span>}
      </div>
    </>
  )
}
