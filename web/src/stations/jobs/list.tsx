// SPDX-License-Identifier: Apache-2.0
// Jobs: who runs, who waits and for what. Capacity above; groups Waiting, Running, Ended below.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { capacity_query, jobs_query, type Capacity, type Job } from '../../api/jobs'
import { useBase, usePage, useProject } from '../../app/context'
import { mark_seen } from '../../app/seen'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { useNow } from '../../lib/now'
import { one_of, short_ref, useParams_of_url } from '../../lib/url'
import { StatusText } from '../../ui/status'
import { Icon } from '../../ui/icon'
import { Head, Panel, Segments, Time } from '../../ui/parts'
import { Empty, Failure, Loaded, Skeleton } from '../../ui/states'
import { DataTable, type Column } from '../../ui/table'
import { CancelJob } from './actions'
import { in_order, type Group } from './groups'
import './jobs.css'

export default function JobsPage() {
  const { t } = useText()
  const project = useProject()
  const [params, set_params] = useParams_of_url()
  const state = one_of(params.get('state'), ['all', 'waiting', 'running', 'ended'])
  const q = params.get('q') ?? ''
  const jobs = useQuery(jobs_query(project, { q }))
  useEffect(() => mark_seen(project, 'jobs'), [project])
  const capacity = useQuery({ ...capacity_query(project), refetchInterval: 10_000 })
  usePage({
    title: t('nav.jobs'),
    command: {
      cli: `takt jobs${state === 'waiting' || state === 'running' ? ` --state ${state}` : ''}`,
      route: `/api/v1/jobs${state === 'waiting' ? '?state=waiting' : ''}`,
    },
    keys: { '!': () => set_params({ state: state === 'waiting' ? null : 'waiting' }) },
  })
  const counts = jobs.data?.items ?? []
  return (
    <div className="page page-job">
      <Head
        title={t('nav.jobs')}
        sub={jobs.data && t('jobs.counts', { running: in_order(counts, 'running').length, waiting: in_order(counts, 'waiting').length })}
      />
      <Panel title={t('jobs.capacity')}>
        {capacity.data ? <CapacityBars capacity={capacity.data} /> : capacity.isError ? <Failure what={t('jobs.capacity.error')} error={capacity.error} retry={() => void capacity.refetch()} /> : <Skeleton rows={1} />}
      </Panel>
      <div className="tools">
        <Segments
          label={t('state')}
          value={state}
          onChange={(value) => set_params({ state: value === 'all' ? null : value }, true)}
          options={[['all', t('all')], ['waiting', t('state.waiting')], ['running', t('state.running')], ['ended', t('jobs.ended')]]}
        />
        <label className="search">
          <Icon name="search" size={14} />
          <input data-filter value={q} placeholder={t('jobs.filter')} aria-label={t('jobs.filter')} onChange={(event) => set_params({ q: event.target.value })} />
        </label>
      </div>
      <Loaded query={jobs} what={t('jobs.error')}>
        {({ items }) =>
          items.length === 0 && !q ? (
            <section className="panel">
              <Empty title={t('jobs.none')} text={t('jobs.none.text')} command="takt submit -- python train.py" />
            </section>
          ) : (
            <>
              {(['waiting', 'running', 'ended'] as const)
                .filter((group) => (state === 'all' || state === group))
                .map((group) => (
                  <JobGroup key={group} group={group} jobs={in_order(items, group)} alone={state === group} />
                ))}
            </>
          )
        }
      </Loaded>
    </div>
  )
}

function JobGroup({ group, jobs, alone }: { group: Group; jobs: Job[]; alone: boolean }) {
  const { t } = useText()
  const base = useBase()
  const format = useFormat()
  const now = useNow()
  const [cancelling, set_cancelling] = useState<Job>()
  const columns = useMemo((): Column<Job>[] => {
    const data_of = (job: Job) => Object.values(job.inputs ?? {}).filter((value) => value.kind === 'dataset').map((value) => short_ref(value.ref))
    const ms = (from: string | undefined, to: string | undefined) => (from ? (to ? Date.parse(to) : now) - Date.parse(from) : undefined)
    return [
      { id: 'state', head: t('state'), cell: (job) => <StatusText state={job.state} /> },
      {
        id: 'job', head: t('job'),
        cell: (job) => (
          <Link className="name" href={`${base}/jobs/${job.number}`}>
            {job.number} {job.name}
          </Link>
        ),
      },
      { id: 'now', head: group === 'ended' ? t('jobs.result') : t('jobs.now'), grow: true, cell: (job) => <span className={job.state === 'failed' ? '' : 'm'} title={job.reason}>{job.reason ?? ''}</span> },
      { id: 'by', head: t('by'), className: 'm', cell: (job) => job.submitted_by },
      { id: 'priority', head: t('priority'), right: true, cell: (job) => job.priority },
      {
        id: 'asked', head: t('jobs.asked'), className: 'm', right: true,
        cell: (job) => `${format.cpu(job.resources.cpu_millicores)} CPU · ${format.memory(job.resources.memory_bytes)}${job.resources.gpus ? ` · ${job.resources.gpus} GPU` : ''}`,
      },
      { id: 'waited', head: t('jobs.waited'), right: true, className: 'm', cell: (job) => format.duration(ms(job.submitted_at, job.started_at ?? job.ended_at)) },
      { id: 'took', head: t('took'), right: true, className: 'm', cell: (job) => format.duration(ms(job.started_at, job.ended_at)) },
      { id: 'data', head: t('nav.data'), className: 'm', cell: (job) => data_of(job).join(', ') || '–' },
      { id: 'run', head: t('run'), cell: (job) => (job.run ? <Link href={`${base}/runs/${job.run}`} className="mono">{job.run.slice(0, 8)}</Link> : <span className="f">–</span>) },
      group === 'ended'
        ? { id: 'when', head: t('jobs.when'), right: true, className: 'm', cell: (job) => <Time at={job.ended_at ?? job.submitted_at} /> }
        : {
            id: 'act', head: <span className="sr">{t('actions')}</span>, right: true,
            cell: (job) => (
              <button type="button" className="icb" title={t('job.cancel')} aria-label={t('job.cancel_n', { n: String(job.number) })} onClick={() => set_cancelling(job)}>
                <Icon name="x" size={14} />
              </button>
            ),
          },
    ]
  }, [t, base, format, now, group])
  if (jobs.length === 0 && !alone) return null
  return (
    <Panel title={t(`jobs.group.${group}`)} sub={jobs.length} flush>
      {jobs.length === 0 ? (
        <p className="f blk">{t('jobs.group.none')}</p>
      ) : (
        <DataTable label={t(`jobs.group.${group}`)} columns={columns} rows={jobs} row_key={(job) => String(job.number)} row_to={(job) => `${base}/jobs/${job.number}`} />
      )}
      {cancelling && <CancelJob job={cancelling} onClose={() => set_cancelling(undefined)} />}
    </Panel>
  )
}

function CapacityBars({ capacity }: { capacity: Capacity }) {
  const { t } = useText()
  const base = useBase()
  const project = useProject()
  const format = useFormat()
  const tasks = useQuery(jobs_query(project, { state: 'starting,running,stopping' }))
  const replicas = useQuery(jobs_query(project, { state: 'starting,running,stopping', kind: 'replica' }))
  const jobs = [...(tasks.data?.items ?? []), ...(replicas.data?.items ?? [])]
  const { total, reserved } = capacity
  const rows = [
    { word: 'CPU', total: total.cpu_millicores, used: reserved.cpu_millicores, of: (job: Job) => job.resources.cpu_millicores, say: format.cpu },
    { word: t('memory'), total: total.memory_bytes, used: reserved.memory_bytes, of: (job: Job) => job.resources.memory_bytes, say: format.memory },
    { word: 'GPU', total: total.gpus, used: reserved.gpus, of: (job: Job) => job.resources.gpus, say: (value: number) => format.number(value) },
  ].filter((row) => row.total > 0)
  return (
    <div className="cap">
      {rows.map((row) => {
        const known = jobs.reduce((sum, job) => sum + row.of(job), 0)
        const others = Math.max(0, row.used - known)
        return (
          <div className="cap-row" key={row.word}>
            <span className="f">{row.word}</span>
            <div className="cap-bar">
              {jobs.filter((job) => row.of(job) > 0).map((job) => (
                <Link key={job.number} href={`${base}/jobs/${job.number}`} style={{ width: `${(row.of(job) / row.total) * 100}%` }} title={`${job.number} ${job.name}: ${row.say(row.of(job))}`}>
                  {job.name}
                </Link>
              ))}
              {others > 0 && <i style={{ width: `${(others / row.total) * 100}%` }} title={t('jobs.capacity.others', { amount: row.say(others) })} />}
            </div>
            <span className="num nw">{t('jobs.capacity.of', { used: row.say(row.used), total: row.say(row.total) })}</span>
          </div>
        )
      })}
    </div>
  )
}
