// SPDX-License-Identifier: Apache-2.0
// One job: why it waits or failed, else progress; the log; what it asked for and used; its record.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { job_query, type Job } from '../../api/jobs'
import { why_query } from '../../api/spine'
import { useBase, usePage, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat, to_ms } from '../../lib/format'
import { useNow } from '../../lib/now'
import { parse_duration_ms } from '../../lib/units'
import { path_of_ref, short_ref, useParams_of_url } from '../../lib/url'
import { is_ended, StatusPill } from '../../ui/status'
import { Button, Copy, Crumbs, Digest, Facts, Head, Meter, Panel, Time } from '../../ui/parts'
import { Dialog } from '../../ui/dialog'
import { Loaded } from '../../ui/states'
import { LineageStrip, type Stop } from '../../ui/strip'
import { CancelJob, CloneDialog } from './actions'
import { LogPanel } from './log'
import { memory_limit_of, WhyPanel } from './why'
import './jobs.css'

export default function JobPage() {
  const { t } = useText()
  const { number = '' } = useParams<{ number: string }>()
  const project = useProject()
  const base = useBase()
  const [, navigate] = useLocation()
  const job = useQuery(job_query(project, number))
  const [open, set_open] = useState<'cancel' | 'clone' | 'spec'>()
  const [params, set_params] = useParams_of_url()
  const data = job.data
  const waits = data !== undefined && (data.state === 'waiting' || data.state === 'failed')
  usePage({
    title: data ? `${data.name} · ${number}` : t('job.n', { n: number }),
    command: waits
      ? { cli: `takt why job/${number}`, route: `/api/v1/jobs/${number}` }
      : { cli: `takt logs ${number} -f`, route: `/api/v1/jobs/${number}/log?follow=1` },
    actions: [
      { name: t('job.why', { n: number }), command: `takt why job/${number}`, run: () => navigate(`${base}/why/job/${number}`) },
      { name: t('job.clone'), command: 'takt submit', run: () => set_open('clone') },
      ...(data && !is_ended(data.state) ? [{ name: t('job.cancel'), command: `takt jobs cancel ${number}`, run: () => set_open('cancel') }] : []),
    ],
    keys: {
      w: () => document.getElementById('why')?.focus(),
      ...Object.fromEntries((data?.attempts ?? []).slice(0, 9).map((attempt) => [String(attempt.number), () => set_params({ attempt: String(attempt.number) })])),
    },
  })
  return (
    <div className="page page-job">
      <Crumbs items={[[t('nav.jobs'), `${base}/jobs`], [number]]} />
      <Loaded query={job} title={t('job.n', { n: number })} what={t('job.error', { n: number })} rows={8}>
        {(item) => {
          const latest = item.attempts.length
          const attempt = Number(params.get('attempt')) || latest
          return (
            <>
              <JobHead job={item} onOpen={set_open} />
              <JobStrip job={item} />
              <WhyPanel job={item} reason={item.state === 'waiting' && <Blockers job={item} />} />
              <div className="jb">
                {latest > 0 ? <LogPanel key={attempt} job={item} attempt={Math.min(attempt, latest)} /> : <Panel title={t('log')}><p className="f">{t('log.not_started')}</p></Panel>}
                <JobFacts job={item} attempt={Math.min(attempt, latest)} onSpec={() => set_open('spec')} />
              </div>
              {open === 'cancel' && <CancelJob job={item} onClose={() => set_open(undefined)} />}
              {open === 'clone' && <CloneDialog job={item} onClose={() => set_open(undefined)} />}
              {open === 'spec' && (
                <Dialog title={t('job.spec')} onClose={() => set_open(undefined)} className="wide">
                  <pre className="code" lang="en" tabIndex={0}>{JSON.stringify(item.spec, null, 2)}</pre>
                </Dialog>
              )}
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

function JobHead({ job, onOpen }: { job: Job; onOpen: (what: 'cancel' | 'clone') => void }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  const started = to_ms(job.started_at)
  const took = started === undefined ? undefined : (to_ms(job.ended_at) ?? now) - started
  return (
    <Head
      title={job.name}
      pill={<StatusPill state={job.state} />}
      sub={
        took === undefined
          ? t('job.sub.waiting', { n: String(job.number), user: job.submitted_by, time: format.clock(job.submitted_at) })
          : t('job.sub', { n: String(job.number), user: job.submitted_by, time: format.clock(job.submitted_at), took: format.duration(took), attempts: job.attempts.length })
      }
    >
      <Button onClick={() => onOpen('clone')}>{t('job.clone')}</Button>
      {!is_ended(job.state) && <Button kind="danger" onClick={() => onOpen('cancel')}>{t('job.cancel_more')}</Button>}
    </Head>
  )
}

/** Every further line that takt gives for a waiting job, and the commands that help. */
function Blockers({ job }: { job: Job }) {
  const project = useProject()
  const why = useQuery(why_query(project, job.ref, 1))
  const lines = (why.data?.lines ?? []).filter((line) => line !== job.reason)
  return (
    <>
      {lines.length > 0 && (
        <ul className="blockers">
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {(why.data?.next ?? []).map((step) => (
        <div className="run1" key={step}>
          <span className="grow">{step}</span>
          <Copy text={step} />
        </div>
      ))}
    </>
  )
}

function JobStrip({ job }: { job: Job }) {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const stops: Stop[] = []
  const inputs = Object.entries(job.inputs ?? {})
  for (const [name, value] of inputs.slice(0, 2)) {
    stops.push({ icon: value.kind === 'dataset' ? 'data' : value.kind.startsWith('model') ? 'models' : 'save', name: short_ref(value.ref), fact: name, to: path_of_ref(project, value.ref) })
  }
  if (job.spec?.code) stops.push({ icon: 'code', name: job.spec.code.slice(0, 8), fact: t('job.code'), to: path_of_ref(project, `code/${job.spec.code}`) })
  if (job.spec?.environment?.lock) stops.push({ icon: 'env', name: `lock ${job.spec.environment.lock.slice(0, 6)}`, fact: t('job.environment'), to: path_of_ref(project, `environment/${job.spec.environment.lock}`) })
  stops.push({ icon: 'jobs', name: t('job.n', { n: String(job.number) }), fact: t('job.this'), me: true })
  if (job.run) stops.push({ icon: 'runs', name: t('run.n', { id: job.run.slice(0, 8) }), fact: job.spec?.experiment ?? 'default', to: `${base}/runs/${job.run}` })
  const outputs = Object.entries(job.outputs ?? {})
  const asked = Object.entries(job.spec?.outputs ?? {})
  for (const [name, value] of outputs.slice(0, 1)) {
    stops.push({ icon: value.kind === 'dataset' ? 'data' : value.kind.startsWith('model') ? 'models' : 'save', name: short_ref(value.ref), fact: name, to: path_of_ref(project, value.ref) })
  }
  const first = asked[0]
  if (!outputs.length && first && is_ended(job.state)) stops.push({ icon: 'save', name: t('job.no_output', { name: first[0] }), fact: t('job.no_output.fact'), missing: true })
  return <LineageStrip stops={stops} />
}

function JobFacts({ job, attempt, onSpec }: { job: Job; attempt: number; onSpec: () => void }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  const project = useProject()
  const base = useBase()
  const item = job.attempts.find((entry) => entry.number === attempt)
  const started = to_ms(item?.started_at)
  const took = started === undefined ? undefined : (to_ms(item?.ended_at) ?? now) - started
  const timeout = parse_duration_ms(job.spec?.timeout)
  const limit = memory_limit_of(job)
  const peak = item?.memory_bytes_peak
  const cores = took && item?.cpu_ms !== undefined ? item.cpu_ms / took : undefined
  const asked = job.resources.cpu_millicores / 1000
  const command = job.spec?.command
  const params = Object.entries(job.spec?.params ?? {}).map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
  const outputs = Object.entries(job.outputs ?? {})
  return (
    <section className="panel facts" aria-label={t('job.used')}>
      <div className="ph"><h2>{t('job.used')}</h2></div>
      <div className="pb use">
        <span>{t('memory')}</span>
        <Meter share={(peak ?? 0) / limit} tone={peak !== undefined && peak >= limit * 0.95 ? 'red' : peak !== undefined && peak >= limit * 0.85 ? 'amber' : undefined} />
        <span className="num">{peak === undefined ? t('job.up_to', { size: format.memory(limit) }) : t('job.of', { used: format.memory(peak), total: format.memory(limit) })}</span>
        <span>CPU</span>
        <Meter share={(cores ?? 0) / asked} />
        <span className="num">{cores === undefined ? format.cpu(job.resources.cpu_millicores) : t('job.of', { used: format.number(cores, 2), total: format.number(asked, 2) })}</span>
        <span>{t('time')}</span>
        <Meter share={timeout && took ? took / timeout : 0} />
        <span className="num">{timeout ? t('job.of', { used: format.duration(took), total: format.duration(timeout) }) : format.duration(took)}</span>
      </div>
      <div className="ph">
        <h2>{t('job.record')}</h2>
        <span className="side"><button type="button" className="linkish" onClick={onSpec}>{t('job.spec')}</button></span>
      </div>
      <div className="pb">
        <Facts
          items={[
            [t('job.command'), <span className="mono wrap-any" key="c" lang="en">{Array.isArray(command) ? command.join(' ') : (command ?? '–')}</span>],
            ...(params.length ? [[t('job.params'), <span className="mono wrap-any" key="p" lang="en">{params.join(', ')}</span>] as [string, React.ReactNode]] : []),
            [t('job.seed'), job.spec?.seed ?? 0],
            [t('job.code'), job.spec?.code ? <Link key="o" href={`${base}/why/code/${job.spec.code}`}><Digest value={job.spec.code} /></Link> : '–'],
            [t('job.environment'), job.spec?.environment?.lock ? <Link key="e" href={`${base}/why/environment/${job.spec.environment.lock}`}><Digest value={job.spec.environment.lock} /></Link> : '–'],
            [t('priority'), job.priority],
            [t('job.retries'), job.spec?.retries ? t('job.retries.of', { used: Math.max(0, job.attempts.length - 1), most: job.spec.retries.max ?? 0 }) : 0],
            [t('job.submitted_at'), <Time key="t" at={job.submitted_at} />],
            ...(outputs.length
              ? [[t('job.outputs'), <span key="u" className="wrap-any">{outputs.map(([name, value], index) => {
                  const to = path_of_ref(project, value.ref)
                  return <span key={name}>{index > 0 && ', '}{to ? <Link href={to}>{short_ref(value.ref)}</Link> : name}</span>
                })}</span>] as [string, React.ReactNode]]
              : []),
          ]}
        />
      </div>
    </section>
  )
}
