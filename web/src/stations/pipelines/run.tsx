// SPDX-License-Identifier: Apache-2.0
// One run of a pipeline: past runs by nodes, the graph with live states, the node or decision that has the turn.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { cancel_run, pipeline_run_query, run_has_ended, start_run, type PipelineRun } from '../../api/pipelines'
import { useBase, usePage, useProject, useShell } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { useNow } from '../../lib/now'
import { one_of, path_of_ref, short_ref, useParams_of_url } from '../../lib/url'
import { StatusPill } from '../../ui/status'
import { Button, Crumbs, Digest, Facts, Head, Tabs } from '../../ui/parts'
import { Confirm } from '../../ui/dialog'
import { Banner, Loaded } from '../../ui/states'
import { Decision, NodeFacts } from './decision'
import { RunGraph, RunList } from './graph'
import { RunGrid, Timeline } from './history'
import { node_with_turn } from './model'
import { PlanDialog } from './plan'
import './pipelines.css'

export default function PipelineRunPage() {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const { toast } = useShell()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const { name: raw = '', number: raw_number = '' } = useParams<{ name: string; number: string }>()
  const name = decodeURIComponent(raw)
  const number = Number(raw_number)
  const run = useQuery(pipeline_run_query(project, name, number))
  const [params, set_params] = useParams_of_url()
  const view = one_of(params.get('view'), ['graph', 'list'])
  const [open, set_open] = useState<'stop' | 'plan'>()
  const chosen = run.data?.nodes?.find((node) => node.name === params.get('node')) ?? (run.data && node_with_turn(run.data))
  const waits = chosen?.state === 'waiting-approval'
  usePage({
    title: `${name} #${number}`,
    command: waits
      ? { cli: `takt pipeline approve ${name} ${number} ${chosen.name}`, method: 'POST', route: `/api/v1/pipelines/${encodeURIComponent(name)}/runs/${number}/nodes/${encodeURIComponent(chosen.name)}/approve`, body: {} }
      : { cli: `takt pipeline show ${name} ${number}`, route: `/api/v1/pipelines/${encodeURIComponent(name)}/runs/${number}` },
    actions: [
      { name: t('pipeline.plan'), command: `takt pipeline plan ${name}`, run: () => set_open('plan') },
      { name: t('why.of', { name: `${name} #${number}` }), command: `takt why pipeline-run/${name}/${number}`, run: () => navigate(`${base}/why/pipeline-run/${name}/${number}`) },
    ],
    keys: {
      p: () => set_open('plan'),
      v: () => set_params({ view: view === 'graph' ? 'list' : null }),
      a: () => document.querySelector<HTMLElement>('.ap .btn.v')?.focus(),
      '[': () => number > 1 && navigate(`${base}/pipelines/${raw}/${number - 1}`),
      ']': () => navigate(`${base}/pipelines/${raw}/${number + 1}`),
    },
  })
  const again = async (item: PipelineRun) => {
    const made = await start_run(project, name, item.params)
    toast(t('pipeline.started.toast', { name: `${name} #${made.number}` }))
    navigate(`${base}/pipelines/${raw}/${made.number}`)
  }
  return (
    <div className="page page-pipeline">
      <Crumbs items={[[t('nav.pipelines'), `${base}/pipelines`], [name, `${base}/pipelines/${raw}`], [String(number)]]} />
      <Loaded query={run} title={`${name} #${number}`} what={t('pipeline.run.error', { name: `${name} #${number}` })} rows={10}>
        {(item) => (
          <>
            <RunHead run={item} onPlan={() => set_open('plan')} onStop={() => set_open('stop')} onAgain={() => void again(item)} />
            {item.reason && (item.state === 'failed' || item.state === 'stopped') && <Banner tone={item.state === 'failed' ? 'red' : 'amber'}>{item.reason}</Banner>}
            <div className="pg">
              <section className="panel gridv" aria-label={t('pipeline.history')}>
                <div className="ph">
                  <h2>{t('pipeline.history')}</h2>
                  <span className="side"><Link href={`${base}/pipelines/${raw}`}>{t('pipeline.all_runs')}</Link></span>
                </div>
                <div className="pb">
                  <RunGrid run={item} chosen={chosen?.name} />
                  <Timeline run={item} />
                  <RunFacts run={item} />
                </div>
              </section>
              <section className="panel dagp" aria-label={t('graph')}>
                <div className="ph">
                  <Tabs label={t('pipeline.view')} value={view} onChange={(value) => set_params({ view: value === 'graph' ? null : value })} options={[['graph', t('graph')], ['list', t('list')]]} />
                  <span className="side f num"><Progress run={item} /></span>
                </div>
                {view === 'graph' ? <RunGraph run={item} chosen={chosen?.name} onChoose={(node) => set_params({ node })} /> : <RunList run={item} chosen={chosen?.name} onChoose={(node) => set_params({ node })} />}
              </section>
              <div className="rc">
                {chosen?.state === 'waiting-approval' && <Decision key={chosen.name} run={item} node={chosen} />}
                {chosen && <NodeFacts run={item} node={chosen} />}
              </div>
            </div>
            {open === 'plan' && <PlanDialog name={name} params={item.params} onClose={() => set_open(undefined)} />}
            {open === 'stop' && (
              <Confirm
                title={t('pipeline.stop.title', { name: `${name} #${number}` })}
                consequences={[{ safe: false, text: t('pipeline.stop.text') }, { safe: true, text: t('pipeline.stop.kept') }]}
                action={t('pipeline.stop')}
                keep={t('keep')}
                kind="danger"
                act={() => cancel_run(project, name, number).then(() => queries.invalidateQueries({ queryKey: ['pipelines'] }))}
                onClose={() => set_open(undefined)}
              />
            )}
          </>
        )}
      </Loaded>
    </div>
  )
}

function Progress({ run }: { run: PipelineRun }) {
  const { t } = useText()
  const nodes = run.nodes ?? []
  return <>{t('pipeline.done_of', { done: nodes.filter((node) => node.state === 'done' || node.state === 'cached').length, all: nodes.length })}</>
}

function RunHead({ run, onPlan, onStop, onAgain }: { run: PipelineRun; onPlan: () => void; onStop: () => void; onAgain: () => void }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  const span = (run.ended_at ? Date.parse(run.ended_at) : now) - Date.parse(run.started_at)
  const ended = run_has_ended(run)
  return (
    <Head
      title={`${run.pipeline} #${run.number}`}
      pill={<StatusPill state={run.state} />}
      sub={t('pipeline.sub', { time: format.clock(run.started_at), user: run.started_by, trigger: run.trigger === 'manual' ? t('pipeline.manual') : short_ref(run.trigger), span: format.duration(span) })}
    >
      <Button onClick={onPlan}>{t('pipeline.plan')}</Button>
      {ended ? <Button onClick={onAgain}>{t('pipeline.again')}</Button> : <Button kind="danger" onClick={onStop}>{t('pipeline.stop_more')}</Button>}
    </Head>
  )
}

function RunFacts({ run }: { run: PipelineRun }) {
  const { t } = useText()
  const base = useBase()
  const project = useProject()
  const params = Object.entries((run.params as Record<string, unknown>) ?? {}).map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
  const cached = (run.nodes ?? []).filter((node) => node.state === 'cached').length
  const trigger = run.trigger === 'manual' ? undefined : path_of_ref(project, run.trigger)
  return (
    <div className="facts">
      <Facts
        items={[
          [t('job.params'), <span key="p" className="mono wrap-any" lang="en">{params.join(' ') || '–'}</span>],
          [t('pipeline.trigger'), trigger ? <Link key="t" href={trigger}>{short_ref(run.trigger)}</Link> : t('pipeline.manual')],
          [t('pipeline.cached'), t('pipeline.cached_of', { n: cached, all: run.nodes?.length ?? 0 })],
          [t('job.code'), run.code ? <Link key="c" href={`${base}/why/code/${run.code}`}><Digest value={run.code} /></Link> : '–'],
          [t('job.environment'), run.environment ? <Link key="e" href={`${base}/why/environment/${run.environment}`}><Digest value={run.environment} /></Link> : '–'],
        ]}
      />
    </div>
  )
}
