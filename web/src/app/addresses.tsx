// SPDX-License-Identifier: Apache-2.0
// Which page answers which address (CONSOLE section 3). Pages are loaded on their first visit and, when idle, ahead.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useMemo, useState, type ComponentType, type ReactNode } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { LiveConnection } from '../api/live'
import { load_start_sequence, resolve_any, whoami_query } from '../api/spine'
import { useText } from '../i18n'
import { path_of_ref } from '../lib/url'
import LinePage from '../stations/line/line'
import { Head } from '../ui/parts'
import { Failure, Skeleton } from '../ui/states'
import { PageBoundary } from './boundary'
import { SessionContext, usePage, useProject } from './context'
import { Shell } from './shell'

type Loader = () => Promise<{ default: ComponentType }>
const loaders = {
  data: () => import('../stations/data/list'),
  dataset: () => import('../stations/data/version'),
  jobs: () => import('../stations/jobs/list'),
  job: () => import('../stations/jobs/job'),
  runs: () => import('../stations/runs/runs'),
  run: () => import('../stations/runs/run'),
  compare: () => import('../stations/runs/compare'),
  models: () => import('../stations/models/list'),
  model: () => import('../stations/models/version'),
  services: () => import('../stations/services/list'),
  service: () => import('../stations/services/service'),
  pipelines: () => import('../stations/pipelines/list'),
  pipeline: () => import('../stations/pipelines/pipeline'),
  pipeline_run: () => import('../stations/pipelines/run'),
  why: () => import('../stations/why/why'),
  events: () => import('../stations/events/events'),
  settings: () => import('../stations/settings/settings'),
} satisfies Record<string, Loader>

const pages = Object.fromEntries(Object.entries(loaders).map(([name, load]) => [name, lazy(load as Loader)])) as unknown as Record<
  keyof typeof loaders,
  ComponentType
>
const SignIn = lazy(() => import('../stations/signin/signin'))

export function last_project(): string {
  try {
    return localStorage.getItem('takt-project') ?? 'default'
  } catch {
    return 'default'
  }
}

export function Addresses() {
  return (
    <Switch>
      <Route path="/sign-in">
        <Suspense fallback={null}>
          <SignIn />
        </Suspense>
      </Route>
      <Route path="/p/:project/*?">{({ project }) => <InProject project={decodeURIComponent(project ?? '')}><ProjectPages /></InProject>}</Route>
      <Route path="/settings/*?">
        <InProject project={last_project()}>
          <Framed><pages.settings /></Framed>
        </InProject>
      </Route>
      <Route path="/go/*?">{(params) => <InProject project={last_project()}><Framed><Resolve any={decodeURIComponent(params['*'] ?? '')} /></Framed></InProject>}</Route>
      <Route path="/">
        <Start />
      </Route>
      <Route>
        <InProject project={last_project()}>
          <Framed><NotFound /></Framed>
        </InProject>
      </Route>
    </Switch>
  )
}

/** `/`: the last project's Line; `/#/experiments/E/runs/R`, which MLflow clients print, is the run. */
function Start() {
  const base = `/p/${encodeURIComponent(last_project())}`
  const run = /^#\/experiments\/[^/]+\/runs\/([^/?]+)/.exec(location.hash)
  const experiment = /^#\/experiments\/([^/?]+)/.exec(location.hash)
  if (run) return <Redirect to={`${base}/runs/${run[1]}`} replace />
  if (experiment) return <Redirect to={`${base}/runs?exp=${experiment[1]}`} replace />
  return <Redirect to={`${base}/`} replace />
}

function InProject({ project, children }: { project: string; children: ReactNode }) {
  const whoami = useQuery(whoami_query(project))
  const live = useLiveConnection(project, whoami.isSuccess)
  useEffect(() => {
    try {
      localStorage.setItem('takt-project', project)
    } catch {
      // The next visit then starts in the default project.
    }
  }, [project])
  const session = useMemo(
    () => ({ project, user: whoami.data?.user ?? '', role: whoami.data?.role ?? '', live }),
    [project, whoami.data, live],
  )
  return (
    <SessionContext value={session}>
      <Shell>{children}</Shell>
    </SessionContext>
  )
}

function useLiveConnection(project: string, ready: boolean): LiveConnection | undefined {
  const queries = useQueryClient()
  const [live, set_live] = useState<LiveConnection>()
  useEffect(() => {
    if (!ready) return
    let connection: LiveConnection | undefined
    let closed = false
    void load_start_sequence(project).then((sequence) => {
      if (closed) return
      connection = new LiveConnection(project, queries, sequence)
      set_live(connection)
    })
    return () => {
      closed = true
      connection?.close()
      set_live(undefined)
    }
  }, [project, ready, queries])
  return live
}

function Framed({ children }: { children: ReactNode }) {
  const [place] = useLocation()
  return (
    <PageBoundary place={place}>
      <Suspense fallback={<Skeleton rows={6} />}>{children}</Suspense>
    </PageBoundary>
  )
}

function ProjectPages() {
  useEffect(() => {
    const load_ahead = () => {
      for (const load of Object.values(loaders)) void load()
    }
    const timer = setTimeout(() => ('requestIdleCallback' in window ? requestIdleCallback(load_ahead) : load_ahead()), 1500)
    return () => clearTimeout(timer)
  }, [])
  return (
    <Framed>
      <Switch>
        <Route path="/p/:project/" component={LinePage} />
        <Route path="/p/:project/data" component={pages.data} />
        <Route path="/p/:project/data/:name" component={pages.dataset} />
        <Route path="/p/:project/jobs" component={pages.jobs} />
        <Route path="/p/:project/jobs/:number" component={pages.job} />
        <Route path="/p/:project/runs" component={pages.runs} />
        <Route path="/p/:project/runs/compare" component={pages.compare} />
        <Route path="/p/:project/runs/:id" component={pages.run} />
        <Route path="/p/:project/models" component={pages.models} />
        <Route path="/p/:project/models/:name" component={pages.model} />
        <Route path="/p/:project/services" component={pages.services} />
        <Route path="/p/:project/services/:name" component={pages.service} />
        <Route path="/p/:project/services/:name/revisions/:number" component={pages.service} />
        <Route path="/p/:project/pipelines" component={pages.pipelines} />
        <Route path="/p/:project/pipelines/:name" component={pages.pipeline} />
        <Route path="/p/:project/pipelines/:name/:number" component={pages.pipeline_run} />
        <Route path="/p/:project/why/*" component={pages.why} />
        <Route path="/p/:project/events" component={pages.events} />
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </Framed>
  )
}

function Resolve({ any }: { any: string }) {
  const { t } = useText()
  const project = useProject()
  const found = useQuery({ queryKey: ['go', project, any], queryFn: () => resolve_any(project, any), retry: false })
  usePage({ title: any, command: { cli: `takt why ${any}`, route: `/api/v1/go/${encodeURIComponent(any)}` } })
  if (found.isError) {
    return (
      <div className="page">
        <Head title={any} />
        <section className="panel">
          <Failure what={t('go.none', { any })} error={found.error} />
        </section>
      </div>
    )
  }
  if (!found.data) return <Skeleton />
  const refs = found.data
  const only = refs.length === 1 ? path_of_ref(project, refs[0]!) : undefined
  if (only) return <Redirect to={only} replace />
  return (
    <section className="panel">
      <div className="pb">
        <h1>{t('go.many', { any })}</h1>
        <ul className="plain">
          {refs.map((ref) => (
            <li key={ref}>
              <a href={path_of_ref(project, ref)}>{ref}</a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}

export function NotFound() {
  const { t } = useText()
  const [place] = useLocation()
  usePage({ title: t('not_found') })
  return (
    <div className="page">
      <Head title={t('not_found')} />
      <section className="panel">
        <p className="pb">{t('not_found.text', { place })}</p>
      </section>
    </div>
  )
}
