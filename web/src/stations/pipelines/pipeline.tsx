// SPDX-License-Identifier: Apache-2.0
// One pipeline: its runs and its definition.
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Link, useParams } from 'wouter'
import { pipeline_query, pipeline_runs_query, type PipelineRun } from '../../api/pipelines'
import { useBase, usePage, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { useNow } from '../../lib/now'
import { short_ref } from '../../lib/url'
import { StatusText } from '../../ui/status'
import { Button, Crumbs, Digest, Facts, Head, Panel, Time } from '../../ui/parts'
import { Empty, Loaded } from '../../ui/states'
import { DataTable, type Column } from '../../ui/table'
import { PlanDialog } from './plan'
import './pipelines.css'

export default function PipelinePage() {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  const project = useProject()
  const base = useBase()
  const { name: raw = '' } = useParams<{ name: string }>()
  const name = decodeURIComponent(raw)
  const pipeline = useQuery(pipeline_query(project, name))
  const runs = useQuery(pipeline_runs_query(project, name))
  const [planning, set_planning] = useState(false)
  const definition = pipeline.data?.definition as { spec?: { params?: unknown } } | undefined
  usePage({
    title: name,
    command: { cli: `takt pipeline show ${name}`, route: `/api/v1/pipelines/${raw}` },
    actions: [{ name: t('pipeline.plan'), command: `takt pipeline plan ${name}`, run: () => set_planning(true) }],
    keys: { p: () => set_planning(true) },
  })
  const columns = useMemo((): Column<PipelineRun>[] => [
    { id: 'number', head: t('run'), cell: (run) => <Link className="name" href={`${base}/pipelines/${raw}/${run.number}`}>#{run.number}</Link> },
    { id: 'state', head: t('state'), cell: (run) => <StatusText state={run.state} /> },
    { id: 'reason', head: t('pipeline.reason'), grow: true, className: 'm', cell: (run) => <span title={run.reason}>{run.reason}</span> },
    { id: 'trigger', head: t('pipeline.trigger'), className: 'm', cell: (run) => (run.trigger === 'manual' ? t('pipeline.manual') : short_ref(run.trigger)) },
    { id: 'by', head: t('by'), className: 'm', cell: (run) => run.started_by },
    { id: 'took', head: t('took'), right: true, cell: (run) => format.duration((run.ended_at ? Date.parse(run.ended_at) : now) - Date.parse(run.started_at)) },
    { id: 'started', head: t('pipeline.started'), right: true, className: 'm', cell: (run) => <Time at={run.started_at} /> },
  ], [t, format, base, raw, now])
  return (
    <div className="page page-pipelines">
      <Crumbs items={[[t('nav.pipelines'), `${base}/pipelines`], [name]]} />
      <Loaded query={pipeline} title={name} what={t('pipeline.error', { name })} rows={6}>
        {(item) => (
          <>
            <Head title={name} sub={item.armed && item.on_dataset ? t('pipeline.on', { dataset: item.on_dataset }) : t('pipeline.manual')}>
              <Button kind="primary" onClick={() => set_planning(true)}>{t('pipeline.plan_run')}</Button>
            </Head>
            <div className="side-316">
              <Panel title={t('pipeline.runs')} sub={runs.data?.length} flush>
                <Loaded query={runs} what={t('pipeline.runs.error')}>
                  {(list) => list.length ? <DataTable label={t('pipeline.runs')} columns={columns} rows={list} row_key={(run) => String(run.number)} row_to={(run) => `${base}/pipelines/${raw}/${run.number}`} /> : <Empty title={t('pipeline.never')} command={`takt pipeline run FILE`} />}
                </Loaded>
              </Panel>
              <div className="stack-12">
                <Panel title={t('job.record')}>
                  <Facts items={[
                    [t('digest'), <Digest key="d" value={item.digest} />],
                    [t('job.code'), item.code ? <Link key="c" href={`${base}/why/code/${item.code}`}><Digest value={item.code} /></Link> : '–'],
                    [t('job.environment'), item.environment ? <Link key="e" href={`${base}/why/environment/${item.environment}`}><Digest value={item.environment} /></Link> : '–'],
                    [t('by'), item.created_by],
                    [t('pipeline.updated'), <Time key="u" at={item.updated_at} />],
                  ]} />
                </Panel>
                <Panel title={t('pipeline.definition')}><pre className="code" lang="en" tabIndex={0}>{JSON.stringify(item.definition, null, 2)}</pre></Panel>
              </div>
            </div>
            {planning && <PlanDialog name={name} params={definition?.spec?.params ?? {}} onClose={() => set_planning(false)} />}
          </>
        )}
      </Loaded>
    </div>
  )
}
