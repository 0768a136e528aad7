// SPDX-License-Identifier: Apache-2.0
// One service: the split first, then signals, replicas, decisions. Roll back is never blocked.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { abort_canary, canary_of, promote_canary, rates_of, roll_back, service_metrics_query, service_query, stable_of, stop_service, type Revision, type Service, type ServiceMetrics } from '../../api/services'
import { events_query, line_query } from '../../api/spine'
import { useBase, usePage, useProject, useSession } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { one_of, path_of_ref, short_ref, useParams_of_url } from '../../lib/url'
import { useVerbWord } from '../../lib/events'
import { Glyph, Icon } from '../../ui/icon'
import { glyph_of, StatusPill, StatusText } from '../../ui/status'
import { Button, Copy, Crumbs, Head, Panel, Time } from '../../ui/parts'
import { Confirm } from '../../ui/dialog'
import { Menu } from '../../ui/menu'
import { Banner, Failure, Loaded, Skeleton } from '../../ui/states'
import { CanaryDialog } from './canary'
import { Signals } from './signals'
import { TrafficPanel } from './traffic'
import './services.css'

type Open = 'promote' | 'abort' | 'rollback' | 'stop' | 'canary'

export default function ServicePage() {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const base = useBase()
  const { role } = useSession()
  const { name: raw = '' } = useParams<{ name: string }>()
  const name = decodeURIComponent(raw)
  const [params, set_params] = useParams_of_url()
  const range = one_of(params.get('range'), ['30m', '15m', '5m'])
  const service = useQuery(service_query(project, name))
  const metrics = useQuery(service_metrics_query(project, name, range))
  const events = useQuery(events_query(project, `service/${name}`, 50))
  const [pending, set_pending] = useState<number>()
  const [open, set_open] = useState<Open>()
  const data = service.data
  const stable = data && stable_of(data)
  const canary = data && canary_of(data)
  const shift = pending !== undefined && canary && pending !== canary.share
  const locked = role === 'viewer' || role === 'developer'
  usePage({
    title: name,
    command: shift
      ? { cli: `takt canary set ${name} --share ${format.number(pending, 1)}%`, method: 'PATCH', route: `/api/v1/services/${raw}/traffic`, body: { share: pending } }
      : { cli: `takt services show ${name}`, route: `/api/v1/services/${raw}` },
    actions: [
      ...(canary ? [{ name: t('service.promote'), command: `takt canary promote ${name}`, run: () => set_open('promote') }] : [{ name: t('canary.start'), command: `takt canary start ${name} --model MODEL`, run: () => set_open('canary') }]),
      { name: t('service.rollback'), command: `takt rollback ${name}`, run: () => set_open('rollback') },
    ],
    keys: { t: () => document.getElementById('traffic-slider')?.focus(), r: () => set_open('rollback') },
  })
  return (
    <div className="page page-service">
      <Crumbs items={[[t('nav.services'), `${base}/services`], [name]]} />
      <Loaded query={service} title={name} what={t('service.error', { name })} rows={8}>
        {(item) => (
          <>
            <ServiceHead service={item} stable={stable} canary={canary} locked={locked} onOpen={set_open} />
            {item.reason && <Banner tone={glyph_of(item.state) === 'bad' ? 'red' : 'amber'}>{item.reason}</Banner>}
            {item.warnings.map((warning) => <Banner key={warning}>{warning}</Banner>)}
            <div className="r1">
              <TrafficPanel service={item} stable={stable} canary={canary} rates={{ requests: rates_of(metrics.data) }} pending={pending} onPending={set_pending} />
              <SideBySide metrics={metrics.data} stable={stable} canary={canary} />
            </div>
            {metrics.data ? (
              <Signals metrics={metrics.data} stable={stable} canary={canary} range={range} events={events.data?.items ?? []} onRange={(value) => set_params({ range: value === '30m' ? null : value })} />
            ) : (
              <section className="panel">{metrics.isError ? <Failure what={t('signals.error')} error={metrics.error} retry={() => void metrics.refetch()} /> : <Skeleton rows={5} />}</section>
            )}
            <div className="r3">
              <Replicas service={item} />
              <Decisions service={item} />
            </div>
            {item.revisions.length > 0 && <Revisions service={item} />}
            {open === 'canary' && <CanaryDialog service={item} onClose={() => set_open(undefined)} />}
            {open && open !== 'canary' && <Act what={open} service={item} stable={stable} canary={canary} onClose={() => set_open(undefined)} />}
          </>
        )}
      </Loaded>
    </div>
  )
}

function ServiceHead({ service, stable, canary, locked, onOpen }: { service: Service; stable: Revision | undefined; canary: Revision | undefined; locked: boolean; onOpen: (open: Open) => void }) {
  const { t } = useText()
  const project = useProject()
  const line = useQuery(line_query(project, '24h'))
  const waits = line.data?.stops.find((stop) => stop.kind === 'approval' && stop.text.includes(service.name))
  const to = waits && path_of_ref(project, waits.subject)
  const lock = locked ? t('service.denied') : undefined
  const url = service.url ?? ''
  return (
    <Head
      title={service.name}
      pill={
        <>
          <StatusPill state={service.state} />
          {waits && to && <Link href={to} className="pill violet"><Glyph name="person" size={14} />{t('service.waits')}</Link>}
          {url && <span className="ep mono hm" lang="en">POST {url}<Copy text={url} /></span>}
        </>
      }
    >
      {canary ? (
        <>
          <Button kind="danger" icon="back" onClick={() => onOpen('rollback')}>{stable ? t('service.rollback_to', { revision: `r${stable.number}` }) : t('service.rollback_more')}</Button>
          <Button kind={waits ? 'approve' : 'primary'} locked={lock} onClick={() => onOpen('promote')}>{t('service.promote_more')}</Button>
        </>
      ) : (
        <>
          {service.revisions.length > 1 && <Button kind="danger" icon="back" onClick={() => onOpen('rollback')}>{t('service.rollback_more')}</Button>}
          <Button locked={lock} onClick={() => onOpen('canary')}>{t('canary.start_more')}</Button>
        </>
      )}
      <Menu label={t('more')} align="end" className="icb" button={<Icon name="more" />} items={[
        ...(canary ? [{ word: t('service.abort_more'), act: locked ? undefined : () => onOpen('abort') }] : []),
        { word: t('service.stop_more'), act: locked ? undefined : () => onOpen('stop'), danger: true },
      ]} />
    </Head>
  )
}

function Act({ what, service, stable, canary, onClose }: { what: Exclude<Open, 'canary'>; service: Service; stable: Revision | undefined; canary: Revision | undefined; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const queries = useQueryClient()
  const name = service.name
  const done = () => queries.invalidateQueries({ predicate: (query) => ['services', 'models', 'line'].includes(String(query.queryKey[0])) })
  const next = canary ? `r${canary.number} ${short_ref(canary.model)}` : ''
  const old = stable ? `r${stable.number} ${short_ref(stable.model)}` : t('service.before')
  const common = { onClose }
  if (what === 'promote') return <Confirm {...common} title={t('service.promote.title', { name, next })} consequences={[{ safe: true, text: t('service.promote.text', { next }) }, { safe: true, text: t('service.promote.kept', { old }) }]} action={t('service.promote')} kind="approve" act={() => promote_canary(project, name).then(done)} />
  if (what === 'abort') return <Confirm {...common} title={t('service.abort.title', { name })} consequences={[{ safe: true, text: t('service.abort.text', { old }) }, { safe: false, text: t('service.abort.stops', { next }) }]} action={t('service.abort')} kind="danger" act={() => abort_canary(project, name).then(done)} />
  if (what === 'rollback') return <Confirm {...common} title={t('service.rollback.title', { name, old: canary ? old : t('service.before') })} text={t('service.rollback.text')} action={t('service.rollback')} kind="danger" act={() => roll_back(project, name).then(done)} />
  return <Confirm {...common} title={t('service.stop.title', { name })} consequences={[{ safe: false, text: t('service.stop.text') }]} typed_name={name} action={t('service.stop')} keep={t('keep')} kind="danger" act={() => stop_service(project, name).then(done)} />
}

/** Both revisions over the shown range. Figures only: a verdict needs the analysis that is not part of this release. */
function SideBySide({ metrics, stable, canary }: { metrics: ServiceMetrics | undefined; stable: Revision | undefined; canary: Revision | undefined }) {
  const { t } = useText()
  const format = useFormat()
  const totals = (number: number | undefined) => metrics?.revisions.find((entry) => entry.revision === number)?.totals
  const rate = (number: number | undefined) => metrics && number !== undefined ? rates_of(metrics).get(number) : undefined
  const ms = (value: number | null | undefined) => (value === undefined || value === null ? '–' : `${format.number(value, value < 10 ? 2 : 0)} ms`)
  const rows: [string, (number: number | undefined) => string][] = [
    [t('signals.requests'), (number) => format.number(rate(number), 1)],
    [t('side.requests'), (number) => format.number(totals(number)?.requests)],
    [t('side.errors'), (number) => { const all = totals(number); return all && all.requests > 0 ? format.percent(all.errors / all.requests, 3) : '–' }],
    [t('side.p50'), (number) => ms(totals(number)?.p50_ms)],
    [t('side.p99'), (number) => ms(totals(number)?.p99_ms)],
  ]
  return (
    <Panel title={canary ? t('side.title') : t('side.now')} sub={t('side.sub')}>
      <table className="vt num" aria-label={t('side.title')}>
        <thead>
          <tr>
            <th scope="col">{t('side.signal')}</th>
            {stable && <th scope="col" className="r">r{stable.number}</th>}
            {canary && <th scope="col" className="r">r{canary.number}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(([word, say]) => (
            <tr key={word}>
              <td>{word}</td>
              {stable && <td className="r m">{say(stable.number)}</td>}
              {canary && <td className="r b">{say(canary.number)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

function Replicas({ service }: { service: Service }) {
  const { t } = useText()
  const base = useBase()
  const ready = service.replicas.filter((replica) => glyph_of(replica.state) === 'ok').length
  return (
    <Panel title={t('replicas')} sub={t('replicas.of', { ready, all: service.replicas.length })} flush>
      {service.replicas.length === 0 ? <p className="f blk">{t('replicas.none')}</p> : (
        <div className="scroll">
          <table className="rp" aria-label={t('replicas')}>
            <thead><tr><th>{t('replica')}</th><th>{t('revision')}</th><th>{t('state')}</th><th>{t('job')}</th><th>{t('replica.endpoint')}</th><th className="r">{t('replica.restarts')}</th><th className="r">{t('replica.up')}</th></tr></thead>
            <tbody>
              {service.replicas.map((replica) => (
                <tr key={replica.name} className={service.canary?.revision === replica.revision ? 'can' : ''}>
                  <td className="mono">{replica.name}</td>
                  <td>r{replica.revision}</td>
                  <td><StatusText state={replica.state} />{replica.reason && <span className="f"> {replica.reason}</span>}</td>
                  <td>{replica.job ? <Link href={`${base}/jobs/${replica.job}`}>{replica.job}</Link> : '–'}</td>
                  <td className="mono m">{replica.endpoint || '–'}</td>
                  <td className="r num">{replica.restarts}</td>
                  <td className="r num m"><Time at={replica.started_at} form="age" /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  )
}

function Decisions({ service }: { service: Service }) {
  const { t } = useText()
  const base = useBase()
  const say = useVerbWord()
  return (
    <Panel title={t('decisions')} side={<Link href={`${base}/events?subject=service/${encodeURIComponent(service.name)}`}>{t('all')}</Link>}>
      {service.decisions.length === 0 ? <p className="f">{t('decisions.none')}</p> : (
        <ul className="dl">
          {service.decisions.slice(0, 8).map((decision, index) => (
            <li key={index}>
              <span className="mono f"><Time at={decision.at} form="clock" /></span>
              <span title={decision.verb}>{decision.text || say(decision.verb)} <span className="f">{decision.by}</span></span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Revisions({ service }: { service: Service }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  return (
    <Panel title={t('revisions')} sub={service.revisions.length} flush>
      <div className="scroll">
        <table aria-label={t('revisions')}>
          <thead><tr><th>{t('revision')}</th><th>{t('model')}</th><th>{t('state')}</th><th className="r">{t('traffic')}</th><th className="r">{t('replicas')}</th><th>{t('by')}</th><th className="r">{t('revision.made')}</th></tr></thead>
          <tbody>
            {[...service.revisions].sort((a, b) => b.number - a.number).slice(0, 20).map((revision) => {
              const to = path_of_ref(project, revision.model)
              return (
                <tr key={revision.number}>
                  <td className="b">r{revision.number}</td>
                  <td>{to ? <Link href={to}>{short_ref(revision.model)}</Link> : revision.model}</td>
                  <td><StatusText state={revision.state} />{revision.reason && <span className="f"> {revision.reason}</span>}</td>
                  <td className="r num">{format.number(revision.share, 1)}%</td>
                  <td className="r num">{t('replicas.n', { ready: revision.ready_replicas, all: revision.replicas })}</td>
                  <td className="m">{revision.created_by}</td>
                  <td className="r m"><Time at={revision.created_at} /></td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  )
}
