// SPDX-License-Identifier: Apache-2.0
// One run: what it was made of, its last values, its curves, parameters and artifacts.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { delete_run, forget_runs, metric_of, reproduce_run, restore_run, run_query, type RunDetail } from '../../api/runs'
import { useBase, usePage, useProject, useShell } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { path_of_ref, short_ref } from '../../lib/url'
import { StatusPill } from '../../ui/status'
import { Button, Crumbs, Facts, Head, Panel, Time } from '../../ui/parts'
import { Menu } from '../../ui/menu'
import { Icon } from '../../ui/icon'
import { Confirm } from '../../ui/dialog'
import { LineageStrip, type Stop } from '../../ui/strip'
import { Banner, Loaded } from '../../ui/states'
import { Artifacts } from './artifacts'
import { CurveChart, CurveGrid, useCurveLook } from './curves'
import { RegisterDialog } from './register'
import './runs.css'

const curves_at_first = 6

export default function RunPage() {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const queries = useQueryClient()
  const { toast } = useShell()
  const [, navigate] = useLocation()
  const { id = '' } = useParams<{ id: string }>()
  const run = useQuery(run_query(project, id))
  const [registering, set_registering] = useState(false)
  const [reproducing, set_reproducing] = useState(false)
  const name = run.data?.name || id.slice(0, 8)
  usePage({
    title: name,
    command: { cli: `takt runs show ${id}`, route: `/api/v1/runs/${id}` },
    actions: [
      { name: t('run.register'), command: `takt models register NAME --run ${id}`, run: () => set_registering(true) },
      ...(run.data?.job ? [{ name: t('run.reproduce'), command: `takt reproduce ${id}`, run: () => set_reproducing(true) }] : []),
      { name: t('why.of', { name }), command: `takt why run/${id}`, run: () => navigate(`${base}/why/run/${id}`) },
    ],
  })
  const refresh = () => forget_runs(queries)
  const remove = async () => {
    await delete_run(project, id)
    await refresh()
    toast(t('run.deleted', { name }), () => void restore_run(project, id).then(refresh))
  }
  return (
    <div className="page page-runs">
      <Crumbs items={[[t('nav.runs'), `${base}/runs`], ...(run.data ? [[run.data.experiment, `${base}/runs?exp=${encodeURIComponent(run.data.experiment)}`] as [string, string]] : []), [name]]} />
      <Loaded query={run} title={name} what={t('run.error', { id: id.slice(0, 8) })} rows={8}>
        {(item) => (
          <>
            <RunHead run={item} onReproduce={() => set_reproducing(true)} onRegister={() => set_registering(true)} onDelete={() => void remove()} />
            {item.is_deleted && <Banner side={<Button small onClick={() => void restore_run(project, id).then(refresh)}>{t('restore')}</Button>}>{t('run.is_deleted')}</Banner>}
            <RunStrip run={item} />
            <MetricCards run={item} />
            <Curves run={item} />
            <Artifacts run={item} />
            <Params run={item} />
            {registering && <RegisterDialog run={item} onClose={() => set_registering(false)} />}
            {reproducing && <ReproduceDialog run={item} onClose={() => set_reproducing(false)} />}
          </>
        )}
      </Loaded>
    </div>
  )
}

function RunHead({ run, onReproduce, onRegister, onDelete }: { run: RunDetail; onReproduce: () => void; onRegister: () => void; onDelete: () => void }) {
  const { t } = useText()
  const format = useFormat()
  const base = useBase()
  return (
    <Head
      title={run.name || run.id.slice(0, 8)}
      pill={<StatusPill state={run.status} word={run.status === 'running' ? t('runs.logging') : undefined} />}
      sub={<>{t('run.sub', { user: run.user, took: format.duration(run.duration_ms) })} · <Time at={run.started_at} /> · <span className="mono">{run.id.slice(0, 8)}</span></>}
    >
      <Link className="btn" href={`${base}/runs?exp=${encodeURIComponent(run.experiment)}&base=${run.id}`}>{t('runs.pin')}</Link>
      <Button locked={run.job ? undefined : t('run.reproduce.no_job')} onClick={onReproduce}>{t('run.reproduce_more')}</Button>
      <Button onClick={onRegister}>{t('run.register')}</Button>
      <Menu label={t('more')} align="end" className="icb" button={<Icon name="more" />} items={[{ word: t('run.delete'), act: run.is_deleted ? undefined : onDelete, danger: true }]} />
    </Head>
  )
}

/** The same code, environment, data, parameters and seed as a new job, which this page then leads to. */
function ReproduceDialog({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const [, navigate] = useLocation()
  return (
    <Confirm
      title={t('run.reproduce.title', { name: run.name || run.id.slice(0, 8) })}
      consequences={[{ safe: true, text: t('run.reproduce.text') }, { safe: true, text: t('run.reproduce.kept') }]}
      action={t('run.reproduce')}
      act={async () => {
        const job = await reproduce_run(project, run.id)
        navigate(`${base}/jobs/${job.number}`)
      }}
      onClose={onClose}
    />
  )
}

function RunStrip({ run }: { run: RunDetail }) {
  const { t } = useText()
  const project = useProject()
  const { links } = run
  const stops: Stop[] = []
  const stop = (ref: string | undefined, icon: Stop['icon'], fact: string) => {
    if (ref) stops.push({ icon, name: short_ref(ref), fact, to: path_of_ref(project, ref) })
  }
  links.datasets.slice(0, 1).forEach((ref) => stop(ref, 'data', t('kind.dataset')))
  stop(links.code, 'code', t('kind.code'))
  stop(links.environment, 'env', t('kind.environment'))
  stop(links.job, 'jobs', t('kind.job'))
  stops.push({ icon: 'runs', name: run.name || run.id.slice(0, 8), fact: t('run.this'), me: true })
  links.models.slice(0, 1).forEach((ref) => stop(ref, 'models', t('kind.model')))
  if (!links.models.length) stops.push({ icon: 'models', name: t('run.no_model'), fact: t('run.no_model.fact'), missing: true })
  return <LineageStrip stops={stops} />
}

function MetricCards({ run }: { run: RunDetail }) {
  const { t } = useText()
  const format = useFormat()
  const keys = Object.keys(run.metrics).filter((key) => !key.startsWith('system/')).sort()
  if (!keys.length) return null
  return (
    <dl className="cards" aria-label={t('runs.metrics')}>
      {keys.slice(0, 12).map((key) => (
        <div className="panel" key={key}>
          <dt title={key}>{key}</dt>
          <dd className="num"><b>{format.metric(metric_of(run, key))}</b> {run.metrics[key]!.step > 0 && <span className="f">{t('run.at_step', { n: run.metrics[key]!.step })}</span>}</dd>
        </div>
      ))}
    </dl>
  )
}

function Curves({ run }: { run: RunDetail }) {
  const { t } = useText()
  const [all, set_all] = useState(false)
  const look = useCurveLook()
  const keys = Object.keys(run.metrics).filter((key) => run.metrics[key]!.step > 0).sort()
  if (!keys.length) return null
  const shown = all ? keys : keys.slice(0, curves_at_first)
  return (
    <Panel title={t('run.curves')} sub={t('run.curves.of', { n: shown.length, all: keys.length })} side={keys.length > curves_at_first && <button type="button" className="linkish" onClick={() => set_all(!all)}>{all ? t('show_fewer') : t('show_all', { n: keys.length })}</button>} flush>
      <CurveGrid names={shown}>{(name) => <CurveChart name={name} runs={[run]} look={look} />}</CurveGrid>
    </Panel>
  )
}

function Params({ run }: { run: RunDetail }) {
  const { t } = useText()
  const params = Object.entries(run.params).sort(([a], [b]) => a.localeCompare(b))
  const tags = Object.entries(run.tags).filter(([key]) => !key.startsWith('mlflow.')).sort(([a], [b]) => a.localeCompare(b))
  const facts = (items: [string, string][]) => <Facts items={items.map(([key, value]) => [<span className="mono" key="k">{key}</span>, <span className="mono wrap-any" key="v" lang="en">{value}</span>])} />
  return (
    <Panel title={t('job.params')} sub={params.length}>
      {params.length ? facts(params) : <p className="f">{t('run.no_params')}</p>}
      {tags.length > 0 && <><h3 className="sub-h">{t('run.tags')}</h3>{facts(tags)}</>}
      {run.inputs.length > 0 && <><h3 className="sub-h">{t('run.inputs')}</h3>{facts(run.inputs.map((input) => [input.name, `${input.source_type} ${input.digest}`]))}</>}
    </Panel>
  )
}
